// Tables of functions that NVIDIA's runtime library asks the driver for by number, before its first allocation.
//
// They are not documented. Their places and arguments are the ones that the runtime linked into programs of nvcc 13 was
// seen to use; places that it does not use are empty.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "runtime/client/cuda/api/call.h"

namespace wm::cuda {
namespace {

// --- Modules and contexts for the runtime library

CUresult module_from_wrapper(CUmodule* module, const void* wrapper) { return cuModuleLoadData(module, wrapper); }

CUresult primary_context(CUcontext* context, CUdevice device) {
  return with_driver([&](Driver& driver) {
    if (context == nullptr || device != kDevice) return CUDA_ERROR_INVALID_VALUE;
    auto primary = driver.primary();
    if (primary == nullptr) primary = driver.retain_primary();
    *context = primary.get();
    return CUDA_SUCCESS;
  });
}

CUresult module_from_wrapper_with_options(CUmodule* module, const void* wrapper, void*, void*, unsigned) {
  return cuModuleLoadData(module, wrapper);
}

void ignore_size(std::size_t) {}

CUresult module_from_header(const void* fat_binary, CUmodule* module, void*, void*, unsigned) {
  return cuModuleLoadData(module, fat_binary);
}

CUresult load_compilers() { return CUDA_SUCCESS; }

// --- Buffers in which tools leave their hooks; no tool does

void first_hooks(void** buffer, std::size_t* words) {
  static std::uint32_t hooks[1024];
  *buffer = hooks;
  *words = std::size(hooks);
}

void second_hooks(void** buffer, std::size_t* words) {
  static std::uint32_t hooks[14];
  *buffer = hooks;
  *words = std::size(hooks);
}

// --- Values that a library keeps with a context

struct StoredValue {
  void* value;
  void (*destroy)(CUcontext, void*, void*);
};

class ContextStorage {
 public:
  static ContextStorage& instance() {
    static auto* storage = new ContextStorage();
    return *storage;
  }
  void put(CUcontext context, void* key, StoredValue value) {
    const std::lock_guard lock(mutex_);
    values_[{context, key}] = value;
  }
  void erase(CUcontext context, void* key) {
    const std::lock_guard lock(mutex_);
    values_.erase({context, key});
  }
  bool get(CUcontext context, void* key, void** value) {
    const std::lock_guard lock(mutex_);
    const auto at = values_.find({context, key});
    if (at == values_.end()) return false;
    *value = at->second.value;
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<CUcontext, void*>, StoredValue> values_;
};

CUcontext or_current(CUcontext context) {
  if (context != nullptr) return context;
  return context_stack().empty() ? nullptr : context_stack().back();
}

CUresult put_value(CUcontext context, void* key, void* value, void (*destroy)(CUcontext, void*, void*)) {
  ContextStorage::instance().put(or_current(context), key, {value, destroy});
  return CUDA_SUCCESS;
}
CUresult erase_value(CUcontext context, void* key) {
  ContextStorage::instance().erase(or_current(context), key);
  return CUDA_SUCCESS;
}
CUresult get_value(void** value, CUcontext context, void* key) {
  return ContextStorage::instance().get(or_current(context), key, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// --- Checks of contexts, which never find anything

CUresult check_context(CUcontext, std::uint32_t* found, const void**) {
  *found = 0;
  return CUDA_SUCCESS;
}
std::uint32_t nothing_found() { return 0; }

// --- The tables

template <typename FunctionType>
const void* entry(FunctionType* function) {
  return reinterpret_cast<const void*>(function);
}
const void* size_of(std::size_t entries) { return reinterpret_cast<const void*>(entries * sizeof(void*)); }

const void** runtime_table() {
  static const void* table[13] = {size_of(13), entry(&module_from_wrapper), entry(&primary_context)};
  table[6] = entry(&module_from_wrapper_with_options);
  table[7] = entry(&ignore_size);
  table[8] = entry(&module_from_header);
  table[12] = entry(&load_compilers);
  return table;
}

const void** tool_hooks_table() {
  static const void* table[7] = {size_of(7), nullptr, entry(&first_hooks)};
  table[6] = entry(&second_hooks);
  return table;
}

const void** storage_table() {
  static const void* table[4] = {entry(&put_value), entry(&erase_value), entry(&get_value)};
  return table;
}

const void** context_checks_table() {
  static const void* table[4] = {size_of(4), nullptr, entry(&check_context), entry(&nothing_found)};
  return table;
}

const void** tool_threads_table() {
  static const void* table[4] = {size_of(4)};
  return table;
}

struct ExportTable {
  unsigned char id[4];  // the first bytes of its number tell tables apart
  const void** (*make)();
};
constexpr ExportTable kTables[] = {
    {{0x6b, 0xd5, 0xfb, 0x6c}, runtime_table},      {{0xa0, 0x94, 0x79, 0x8c}, tool_hooks_table},
    {{0xc6, 0x93, 0x33, 0x6e}, storage_table},      {{0x26, 0x3e, 0x88, 0x60}, context_checks_table},
    {{0x42, 0xd8, 0x5a, 0x81}, tool_threads_table},
};

}  // namespace
}  // namespace wm::cuda

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (table == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = std::find_if(std::begin(wm::cuda::kTables), std::end(wm::cuda::kTables), [&](const auto& known) {
    return std::memcmp(known.id, id->bytes, sizeof known.id) == 0;
  });
  *table = found == std::end(wm::cuda::kTables) ? nullptr : found->make();
  if (std::getenv("WARPMUX_TRACE_TABLES") != nullptr) {
    std::fprintf(stderr, "wm: export table ");
    for (const unsigned char byte : id->bytes) std::fprintf(stderr, "%02x", byte);
    std::fprintf(stderr, *table == nullptr ? " is unknown\n" : "\n");
  }
  return *table == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

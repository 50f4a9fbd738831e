#include "runtime/device/kernel_guard.h"

#include <array>
#include <atomic>
#include <csignal>
#include <dlfcn.h>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/device/fault_handlers.h"
#include "runtime/device/library_imports.h"

namespace wm::runtime {
namespace {

using KernelFunction = void (*)(void* const*, const std::size_t*, std::size_t, std::size_t, std::size_t);

// PoCL 3.1 never unloads a kernel, and reaches the limit of mappings (vm.max_map_count) with some 20,000.
constexpr std::uint32_t kMaxKernels = 20480;
constexpr std::size_t kEntryBytes = 16;

}  // namespace
}  // namespace wm::runtime

// One entry per kernel: each passes its number as the sixth argument, behind those of the kernel.
#if defined(__aarch64__)
#define WM_GUARDED_ENTRY "hint 34\n movz w5, wm_entry_number\n b wm_call_guarded_kernel\n"
#elif defined(__x86_64__)
#define WM_GUARDED_ENTRY "endbr64\n movl $wm_entry_number, %r9d\n jmp wm_call_guarded_kernel\n"
#endif
#if defined(WM_GUARDED_ENTRY)
asm(".text\n .p2align 4\n .hidden wm_call_guarded_kernel\n"
    "wm_guarded_entries:\n"
    ".set wm_entry_number, 0\n"
    ".rept 20480\n .p2align 4\n" WM_GUARDED_ENTRY
    ".set wm_entry_number, wm_entry_number + 1\n"
    ".endr\n");
extern "C" const char wm_guarded_entries[]  // NOLINT(readability-identifier-naming): a label of the code above
    __attribute__((visibility("hidden")));
namespace wm::runtime {
static const char* first_entry() { return wm_guarded_entries; }
}  // namespace wm::runtime
#else
namespace wm::runtime {
static const char* first_entry() { return nullptr; }
}  // namespace wm::runtime
#endif

namespace wm::runtime {
namespace {

struct GuardedKernels {
  std::mutex mutex;
  std::unordered_map<void*, std::uint32_t> entries;
  std::vector<std::string> names;
};
std::array<std::atomic<KernelFunction>, kMaxKernels> guarded_functions;  // by entry

GuardedKernels& guarded_kernels() {
  static auto* const kernels = new GuardedKernels;  // PoCL's threads may outlive static objects
  return *kernels;
}

std::atomic<KernelGuardListener*> the_listener{nullptr};

struct Call {
  KernelFunction function;
  void* const* arguments;
  const std::size_t* context;
  std::array<std::size_t, 3> group;
};

void run_call(void* data) {
  const Call& c = *static_cast<const Call*>(data);
  c.function(c.arguments, c.context, c.group[0], c.group[1], c.group[2]);
}

std::string name_of(std::uint32_t entry) {
  GuardedKernels& kernels = guarded_kernels();
  const std::lock_guard lock(kernels.mutex);
  return kernels.names[entry];
}

void report_fault(const Call& call, std::uint32_t entry, const InstructionFault& instruction) {
  const std::string name = name_of(entry);
  const KernelFault fault{name, instruction.signal, instruction.address};
  if (the_listener.load()->record_fault({name, call.arguments, call.context}, fault)) return;
  std::signal(fault.signal, SIG_DFL);
  std::raise(fault.signal);
}

bool may_run_group(const Call& call, std::uint32_t entry) {
  KernelGuardListener* const listener = the_listener.load(std::memory_order_acquire);
  return !listener->any_faulted() || listener->runs({name_of(entry), call.arguments, call.context});
}

// The function that PoCL calls in place of a kernel. Null: all entries are taken, and the kernel stays unguarded.
void* guarded(void* kernel, std::string_view name) {
  GuardedKernels& kernels = guarded_kernels();
  const std::lock_guard lock(kernels.mutex);
  const auto next = static_cast<std::uint32_t>(kernels.entries.size());
  if (next == kMaxKernels && !kernels.entries.contains(kernel)) return nullptr;
  const std::uint32_t entry = kernels.entries.try_emplace(kernel, next).first->second;
  if (entry == kernels.names.size()) kernels.names.emplace_back();
  kernels.names[entry] = name;
  guarded_functions[entry] = reinterpret_cast<KernelFunction>(kernel);
  return const_cast<char*>(first_entry()) + entry * kEntryBytes;
}

// In place of `dlsym`, for PoCL's library only.
void* find_symbol(void* library, const char* symbol) {
  void* const found = ::dlsym(library, symbol);
  const std::string_view name = symbol, prefix = "_pocl_kernel_", suffix = "_workgroup";
  if (found == nullptr || !name.starts_with(prefix) || !name.ends_with(suffix)) return found;
  void* const entry = guarded(found, name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
  return entry != nullptr ? entry : found;
}

// False: PoCL is not in this process, or this is another processor.
bool replace_entries() {
  if (first_entry() == nullptr) return false;
  if (replace_import("libpocl.so", "dlsym", reinterpret_cast<void*>(&find_symbol)) == 0) return false;
  install_fault_handlers();
  for (const char* const library : {"libpocl", "libLLVM"}) {
    replace_import(library, "sigaction", reinterpret_cast<void*>(&set_action_behind_handlers));
  }
  return true;
}

}  // namespace

bool ends_without_fault(void (*access)(void*), void* data) { return !call_guarded(access, data); }

bool guard_kernels(KernelGuardListener& listener) {
  static std::mutex mutex;
  static bool replaced = false;
  const std::lock_guard lock(mutex);
  // PoCL may be loaded later than a device of another driver was opened.
  replaced = replaced || replace_entries();
  if (replaced) the_listener.store(&listener);
  return replaced;
}

}  // namespace wm::runtime

extern "C" __attribute__((visibility("hidden"), used)) void wm_call_guarded_kernel(void* const* arguments,
                                                                                   const std::size_t* context,
                                                                                   std::size_t x, std::size_t y,
                                                                                   std::size_t z, std::uint32_t entry) {
  using namespace wm::runtime;
  prepare_thread_for_faults();
  Call call{guarded_functions[entry].load(std::memory_order_relaxed), arguments, context, {x, y, z}};
  if (!may_run_group(call, entry)) return;
  if (const auto fault = call_guarded(run_call, &call)) report_fault(call, entry, *fault);
}

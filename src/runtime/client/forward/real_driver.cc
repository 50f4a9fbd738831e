#include "runtime/client/forward/real_driver.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sstream>
#include <sys/stat.h>
#include <vector>

#include "runtime/client/forward/trampolines.h"

namespace wm::forward {
namespace {

struct Driver {
  RealFunctions functions{};
  void* library = nullptr;
  std::map<void*, void*> wrappers;  // by the address of the real function
  bool is_loading = false;
  std::atomic<bool> is_loaded{false};
  // A constructor of the real driver may call a function that this library exports.
  std::recursive_mutex mutex;
};

Driver& driver() {
  static auto* only = new Driver;
  return *only;
}

CUresult no_driver() { return CUDA_ERROR_NO_DEVICE; }
CUresult no_such_function() { return CUDA_ERROR_NOT_SUPPORTED; }

bool is_this_library(const struct stat& file) {
  Dl_info own{};
  struct stat own_file {};
  return ::dladdr(reinterpret_cast<void*>(&no_driver), &own) != 0 && ::stat(own.dli_fname, &own_file) == 0 &&
         own_file.st_dev == file.st_dev && own_file.st_ino == file.st_ino;
}

bool is_other_library(const std::string& file) {
  struct stat found {};
  return ::stat(file.c_str(), &found) == 0 && !is_this_library(found);
}

// The wrappers by address. cuGetProcAddress may return another address than the symbol's, so both are entered; a symbol
// that the driver lacks is not, because an older driver answers with a function of other parameters.
void enter_wrappers(Driver& d) {
  struct Entry {
    const char* name;
    const char* base;
    int since;
    std::uint64_t flags;
    void* wrapper;
  };
  const Entry entries[] = {
#define WM_WRAPPED(name, base, since, stream_flag) {#name, base, since, stream_flag, reinterpret_cast<void*>(&::name)},
#define WM_USED(name)
#include "runtime/client/forward/wrapped.def"
#undef WM_WRAPPED
#undef WM_USED
  };
  for (const Entry& e : entries) {
    if (void* symbol = ::dlsym(d.library, e.name)) d.wrappers.emplace(symbol, e.wrapper);
  }
  const auto ask = d.functions.cuGetProcAddress_v2;
  if (ask == nullptr) return;
  for (const Entry& e : entries) {
    void* address = nullptr;
    int status = 0;
    if (::dlsym(d.library, e.name) == nullptr) continue;
    if (ask(e.base, &address, e.since, e.flags, &status) != CUDA_SUCCESS || address == nullptr) continue;
    d.wrappers.emplace(address, e.wrapper);
  }
}

void load(Driver& d) {
  const std::string file = real_driver_file();
  if (!file.empty()) d.library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (d.library == nullptr) {
    const char* error = file.empty() ? "libcuda.so.1 was not found; WARPMUX_LIBCUDA names it" : ::dlerror();
    std::fprintf(stderr, "wm: there is no CUDA driver: %s\n", error);
  }
  void* fallback = reinterpret_cast<void*>(d.library == nullptr ? &no_driver : &no_such_function);
  for (std::size_t i = 0; i < kExportedCount; ++i) {
    void* address = d.library == nullptr ? nullptr : ::dlsym(d.library, kExportedNames[i]);
    trampoline_entry(i) = address != nullptr ? address : fallback;
  }
  if (d.library == nullptr) return;
#define WM_WRAPPED(name, base, since, stream_flag) WM_USED(name)
#define WM_USED(name) d.functions.name = reinterpret_cast<decltype(&::name)>(::dlsym(d.library, #name));
#include "runtime/client/forward/wrapped.def"
#undef WM_WRAPPED
#undef WM_USED
  enter_wrappers(d);
}

}  // namespace

// Called by a forwarded function before the driver is loaded.
extern "C" __attribute__((visibility("hidden"), used)) void wm_forward_load() { (void)real(); }

std::string real_driver_file() {
  if (const char* given = std::getenv("WARPMUX_LIBCUDA"); given != nullptr && is_other_library(given)) return given;
  std::vector<std::string> folders;
  const char* path = std::getenv("LD_LIBRARY_PATH");
  std::istringstream names(path == nullptr ? "" : path);
  for (std::string folder; std::getline(names, folder, ':');) folders.push_back(folder);
  for (const char* usual : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
                            "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib"}) {
    folders.emplace_back(usual);
  }
  for (const std::string& folder : folders) {
    if (std::string file = folder + "/libcuda.so.1"; !folder.empty() && is_other_library(file)) return file;
  }
  return {};
}

const RealFunctions& real() {
  Driver& d = driver();
  if (d.is_loaded.load(std::memory_order_acquire)) [[likely]]
    return d.functions;
  const std::lock_guard lock(d.mutex);
  if (d.is_loading) return d.functions;
  d.is_loading = true;
  load(d);
  d.is_loaded.store(true, std::memory_order_release);
  return d.functions;
}

void* real_symbol(const char* name) {
  (void)real();
  return driver().library == nullptr ? nullptr : ::dlsym(driver().library, name);
}

void* wrapper_of(void* real_address) {
  const auto at = driver().wrappers.find(real_address);
  return at == driver().wrappers.end() ? real_address : at->second;
}

}  // namespace wm::forward

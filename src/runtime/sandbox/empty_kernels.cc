// Replaces kernels by empty functions in this process. A driver that runs kernels on the host looks up each kernel that
// it has compiled with `dlsym`; for PoCL's kernel names it gets a function that returns at once. Linked into wm-sandbox
// only, where this `dlsym` is found before the C library's.
#include "runtime/sandbox/empty_kernels.h"

#include <cstddef>
#include <dlfcn.h>
#include <string_view>

namespace {

using Lookup = void* (*)(void*, const char*);

// The symbol versions of glibc: of aarch64 and x86_64, before and since 2.34.
Lookup find_dlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    if (void* found = ::dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Lookup>(found);
  }
  return nullptr;
}

bool kernels_are_executed = false;

void empty_group(void*, void*, std::size_t, std::size_t, std::size_t) {}

}  // namespace

void wm::runtime::sandbox::execute_kernels() { kernels_are_executed = true; }

extern "C" [[gnu::visibility("default")]] void* dlsym(void* handle, const char* name) noexcept {
  static const Lookup kDlsym = find_dlsym();
  const bool is_kernel = std::string_view(name).starts_with("_pocl_kernel_");
  if (is_kernel && !kernels_are_executed) return reinterpret_cast<void*>(&empty_group);
  return kDlsym == nullptr ? nullptr : kDlsym(handle, name);
}

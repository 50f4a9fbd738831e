#include "cli/input/cuda_driver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

namespace wm::cli {

namespace {

void* open_driver() {
  const char* given = std::getenv("WARPMUX_LIBCUDA");
  return ::dlopen(given != nullptr && *given != 0 ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

std::string file_of(void* library) {
  link_map* map = nullptr;
  if (library == nullptr || ::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

// The driver's function of that name; an error result if it has none.
template <typename... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
  return function == nullptr ? -1 : function(arguments...);
}

}  // namespace

std::string cuda_driver_file() { return file_of(open_driver()); }

Result<CudaDriver> find_cuda_driver() {
  void* library = open_driver();
  if (library == nullptr) return Error{"there is no CUDA driver here: " + std::string(::dlerror())};
  CudaDriver driver{file_of(library), {}, 0};
  int device = 0;
  char name[256] = {};
  if (const int result = call(library, "cuInit", 0U); result != 0)
    return Error{driver.file + ": cuInit returns " + std::to_string(result) + ", so there is no GPU to share"};
  if (call(library, "cuDeviceGet", &device, 0) != 0 ||
      call(library, "cuDeviceGetName", static_cast<char*>(name), static_cast<int>(sizeof name - 1), device) != 0)
    return Error{driver.file + " has no GPU"};
  driver.device = name;
  constexpr int kSms = 16, kThreadsPerSm = 39;  // attributes by their numbers in the driver's interface
  int sms = 0, threads = 0;
  if (call(library, "cuDeviceGetAttribute", &sms, kSms, device) == 0 &&
      call(library, "cuDeviceGetAttribute", &threads, kThreadsPerSm, device) == 0)
    driver.threads = static_cast<std::uint64_t>(sms) * static_cast<std::uint64_t>(threads);
  return driver;
}

}  // namespace wm::cli

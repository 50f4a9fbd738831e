#include "cli/input/cuda_driver.h"

#include <algorithm>
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

runtime::SmGroups find_sm_groups(std::uint32_t sms_of_group) {
  // CUdevResource of the driver, as far as it is read here: the kind of a resource and its number of SMs.
  struct SmResource {
    unsigned type;
    unsigned char unknown[92];
    unsigned sms;
    unsigned char more[44];
  };
  constexpr unsigned kMaxGroups = 63, kSms = 1, kSmallSteps = 1;
  constexpr int kSmCount = 16;
  runtime::SmGroups found{{}, sms_of_group, false};
  void* library = open_driver();
  SmResource all{}, rest{}, groups[kMaxGroups];
  unsigned count = kMaxGroups;
  int sms = 0;
  if (library == nullptr || call(library, "cuDeviceGetAttribute", &sms, kSmCount, 0) != 0 || sms <= 0) return found;
  found.has_green_contexts =
      ::dlsym(library, "cuGreenCtxStreamCreate") != nullptr &&
      call(library, "cuDeviceGetDevResource", 0, &all, kSms) == 0 &&
      call(library, "cuDevSmResourceSplitByCount", static_cast<SmResource*>(groups), &count,
           static_cast<const SmResource*>(&all), &rest, sms_of_group % 8 == 0 ? 0 : kSmallSteps, sms_of_group) == 0;
  if (found.has_green_contexts) {
    for (unsigned i = 0; i < count; ++i) found.sms.push_back(groups[i].sms);
    if (rest.sms != 0) found.sms.push_back(rest.sms);
    return found;
  }
  for (auto left = static_cast<unsigned>(sms); left != 0;) {
    found.sms.push_back(found.sms.size() == kMaxGroups ? left : std::min(left, sms_of_group));
    left -= found.sms.back();
  }
  return found;
}

std::string cuda_driver_file() { return file_of(open_driver()); }

Result<CudaDriver> find_cuda_driver() {
  void* library = open_driver();
  if (library == nullptr) return Error{"there is no CUDA driver here: " + std::string(::dlerror())};
  CudaDriver driver{.file = file_of(library), .device = {}};
  int device = 0;
  char name[256] = {};
  if (const int result = call(library, "cuInit", 0U); result != 0)
    return Error{driver.file + ": cuInit returns " + std::to_string(result) + ", so there is no GPU to share"};
  if (call(library, "cuDeviceGet", &device, 0) != 0 ||
      call(library, "cuDeviceGetName", static_cast<char*>(name), static_cast<int>(sizeof name - 1), device) != 0)
    return Error{driver.file + " has no GPU"};
  driver.device = name;
  constexpr int kSms = 16, kThreadsPerSm = 39, kMajor = 75;  // attributes by their numbers in the driver's interface
  int sms = 0, threads = 0;
  if (call(library, "cuDeviceGetAttribute", &driver.compute_capability, kMajor, device) != 0)
    driver.compute_capability = 0;
  if (call(library, "cuDeviceGetAttribute", &sms, kSms, device) == 0 &&
      call(library, "cuDeviceGetAttribute", &threads, kThreadsPerSm, device) == 0)
    driver.threads = static_cast<std::uint64_t>(sms) * static_cast<std::uint64_t>(threads);
  return driver;
}

}  // namespace wm::cli

// The platform. It exists only if a daemon answers.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

namespace wm::runtime::client {

cl_int get_platform_ids(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  return guarded([&]() -> cl_int {
    if ((entries == 0 && platforms != nullptr) || (platforms == nullptr && count == nullptr)) return CL_INVALID_VALUE;
    const cl_platform_id platform = process().platform();
    if (count != nullptr) *count = platform == nullptr ? 0 : 1;
    if (platform == nullptr) return CL_PLATFORM_NOT_FOUND_KHR;
    if (platforms != nullptr) platforms[0] = platform;
    return CL_SUCCESS;
  });
}

namespace {

cl_version numeric_version() {
  const auto version = process().device_value<cl_version>(CL_DEVICE_NUMERIC_VERSION);
  if (version != 0) return version;
  // A device of OpenCL 1.2 or 2.0 does not know that query; its version string begins with "OpenCL 1.2".
  unsigned major = 1, minor = 2;
  std::sscanf(process().device_string(CL_DEVICE_VERSION).c_str(), "OpenCL %u.%u", &major, &minor);
  return CL_MAKE_VERSION(major, minor, 0);
}

std::string version_text() {
  const cl_version v = numeric_version();
  return "OpenCL " + std::to_string(CL_VERSION_MAJOR(v)) + "." + std::to_string(CL_VERSION_MINOR(v)) + " warpmux";
}

}  // namespace

cl_int get_platform_info(cl_platform_id platform, cl_platform_info name, std::size_t size, void* value,
                         std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (platform != nullptr && platform != process().platform()) return CL_INVALID_PLATFORM;
    if (process().platform() == nullptr) return CL_INVALID_PLATFORM;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_PLATFORM_PROFILE:
        return info.put_text("FULL_PROFILE");
      case CL_PLATFORM_VERSION:
        return info.put_text(version_text());
      case CL_PLATFORM_NAME:
      case CL_PLATFORM_VENDOR:
        return info.put_text("warpmux");
      case CL_PLATFORM_EXTENSIONS:
        return info.put_text("cl_khr_icd");
      case CL_PLATFORM_ICD_SUFFIX_KHR:
        return info.put_text("WARPMUX");
      case CL_PLATFORM_HOST_TIMER_RESOLUTION:
        return info.put(cl_ulong{0});
      case CL_PLATFORM_NUMERIC_VERSION:
        return info.put(numeric_version());
      case CL_PLATFORM_EXTENSIONS_WITH_VERSION: {
        cl_name_version icd{};
        icd.version = CL_MAKE_VERSION(1, 0, 0);
        std::snprintf(icd.name, sizeof icd.name, "cl_khr_icd");
        return info.put(icd);
      }
      default:
        return CL_INVALID_VALUE;
    }
  });
}

void* get_extension_function_address(const char* name) {
  if (name != nullptr && std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) {
    return reinterpret_cast<void*>(&get_platform_ids);
  }
  return nullptr;
}

void* get_extension_function_address_for_platform(cl_platform_id platform, const char* name) {
  return platform != nullptr && platform == process().platform() ? get_extension_function_address(name) : nullptr;
}

cl_int unload_compiler() { return CL_SUCCESS; }
cl_int unload_platform_compiler(cl_platform_id platform) {
  return platform != nullptr && platform == process().platform() ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

}  // namespace wm::runtime::client

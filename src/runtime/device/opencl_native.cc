#include "runtime/device/opencl_native.h"

#include <algorithm>
#include <cctype>
#include <dlfcn.h>
#include <fmt/format.h>

namespace wm::runtime {

Result<void> Native::load() {
  library_ = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return Error{"no libOpenCL.so.1 here: is an OpenCL driver installed?"};
#define WM_NATIVE_CALL(name)                                                    \
  cl.name = reinterpret_cast<decltype(cl.name)>(::dlsym(library_, "cl" #name)); \
  if (cl.name == nullptr) return Error{"libOpenCL.so.1 has no cl" #name ": too old for 1.2"};
  WM_NATIVE_CALLS(WM_NATIVE_CALL)
#undef WM_NATIVE_CALL
  return {};
}

bool contains_ignoring_case(const std::string& text, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

Result<void> Native::choose(const std::string& text) {
  cl_uint count = 0;
  cl.GetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count != 0) cl.GetPlatformIDs(count, platforms.data(), nullptr);
  std::string seen, without_devices;
  for (cl_platform_id p : platforms) {
    cl_uint devices = 0;
    const cl_int status = cl.GetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices);
    if (status != CL_SUCCESS || devices == 0) {
      platform = p;
      without_devices += (without_devices.empty() ? "'" : ", '") + platform_name() + "'";
      continue;
    }
    std::vector<cl_device_id> ids(devices);
    cl.GetDeviceIDs(p, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
    for (cl_device_id d : ids) {
      platform = p;
      device = d;
      const std::string name = platform_name() + ": " + this->text(CL_DEVICE_NAME);
      // The vendor too: PoCL is "Portable Computing Language" of "The pocl project", and the name of its device differs
      // between architectures.
      if (contains_ignoring_case(name, text) || contains_ignoring_case(platform_text(CL_PLATFORM_VENDOR), text)) {
        return {};
      }
      seen += (seen.empty() ? "'" : ", '") + name + "'";
    }
  }
  if (seen.empty() && !without_devices.empty()) {
    return Error{
        fmt::format("no OpenCL device here: {} offers none to this user (PoCL must be able to write its cache, "
                    "POCL_CACHE_DIR or XDG_CACHE_HOME or ~/.cache)",
                    without_devices)};
  }
  if (seen.empty()) return Error{"no OpenCL device here"};
  return Error{fmt::format("no OpenCL device named '{}' (there is {})", text, seen)};
}

Result<std::unique_ptr<Native>> Native::open(const DeviceChoice& choice) {
  std::unique_ptr<Native> native(new Native());
  if (auto r = native->load(); !r) return r.error();
  if (auto r = native->choose(choice.text); !r) return r.error();
  cl_int status = CL_SUCCESS;
  native->context = native->cl.CreateContext(nullptr, 1, &native->device, nullptr, nullptr, &status);
  if (status != CL_SUCCESS) return Error{fmt::format("the device gives no context: OpenCL error {}", status)};
  return native;
}

Native::~Native() {
  if (context != nullptr) cl.ReleaseContext(context);
  // The library stays loaded: drivers have threads that do not survive being unloaded.
}

cl_int Native::device_info(cl_device_info name, std::vector<std::byte>& answer) const {
  return info_bytes([&](std::size_t room, void* value,
                        std::size_t* size) { return cl.GetDeviceInfo(device, name, room, value, size); },
                    answer);
}

std::string Native::text(cl_device_info name) const {
  std::vector<std::byte> bytes;
  if (device_info(name, bytes) != CL_SUCCESS || bytes.empty()) return {};
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1};
}

std::string Native::platform_text(cl_platform_info name) const {
  std::size_t size = 0;
  if (cl.GetPlatformInfo(platform, name, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  cl.GetPlatformInfo(platform, name, size, text.data(), nullptr);
  text.pop_back();
  return text;
}

std::string Native::platform_name() const { return platform_text(CL_PLATFORM_NAME); }

}  // namespace wm::runtime

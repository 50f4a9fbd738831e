// The device. Queries are answered by the daemon's device, except for features that do not work between processes.
#include <algorithm>
#include <array>

#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

namespace wm::runtime::client {
namespace {

// Extensions of the kernel language or of queries, without API functions.
constexpr std::array kSupportedExtensions{"cl_khr_byte_addressable_store",
                                          "cl_khr_global_int32_base_atomics",
                                          "cl_khr_global_int32_extended_atomics",
                                          "cl_khr_local_int32_base_atomics",
                                          "cl_khr_local_int32_extended_atomics",
                                          "cl_khr_int64_base_atomics",
                                          "cl_khr_int64_extended_atomics",
                                          "cl_khr_3d_image_writes",
                                          "cl_khr_fp64",
                                          "cl_khr_fp16",
                                          "cl_khr_depth_images",
                                          "cl_nv_compiler_options",
                                          "cl_nv_device_attribute_query",
                                          "cl_nv_pragma_unroll",
                                          "cl_khr_device_uuid",
                                          "cl_khr_pci_bus_info",
                                          "cl_khr_extended_bit_ops",
                                          "cl_khr_integer_dot_product"};

bool supported_extension(std::string_view name) {
  return std::any_of(kSupportedExtensions.begin(), kSupportedExtensions.end(),
                     [name](std::string_view known) { return known == name; });
}

std::string extensions() {
  const std::string all = process().device_string(CL_DEVICE_EXTENSIONS);
  std::string kept;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(' ', at), all.size());
    const std::string name = all.substr(at, end - at);
    if (supported_extension(name)) kept += (kept.empty() ? "" : " ") + name;
    at = end + 1;
  }
  return kept;
}

// False for language features that need API functions which are not supported.
bool supported_feature(std::string_view name) {
  return name != "__opencl_c_pipes" && name != "__opencl_c_device_enqueue" && name != "__opencl_c_subgroups";
}

cl_int with_versions(cl_device_info name, bool (*supported)(std::string_view), const Info& info) {
  std::vector<std::byte> bytes;
  const cl_int status = process().device_info(name, bytes);
  if (status != CL_SUCCESS) return status;
  std::vector<cl_name_version> all(bytes.size() / sizeof(cl_name_version));
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof(cl_name_version));
  std::erase_if(all, [supported](const cl_name_version& e) { return !supported(e.name); });
  return info.put_list(all);
}

// Answers queries about features that need pointers or functions of the application, which the daemon cannot use.
cl_int answer_locally(cl_device_info name, const Info& info, bool& known) {
  known = true;
  switch (name) {
    case CL_DEVICE_PLATFORM:
      return info.put(process().platform());
    case CL_DEVICE_PARENT_DEVICE:
      return info.put(cl_device_id{nullptr});
    case CL_DEVICE_REFERENCE_COUNT:
      return info.put(cl_uint{1});
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
      return info.put(cl_uint{0});
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE:
      return info.put(cl_device_partition_property{0});
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
      return info.put(cl_device_affinity_domain{0});
    case CL_DEVICE_EXECUTION_CAPABILITIES:
      return info.put(cl_device_exec_capabilities{CL_EXEC_KERNEL});
    case CL_DEVICE_EXTENSIONS:
      return info.put_text(extensions());
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
      return info.put(std::size_t{kPrintfBufferSize});
    case CL_DEVICE_BUILT_IN_KERNELS:
      return info.put_text("");
    default:
      known = false;
      return CL_SUCCESS;
  }
}

// The same for queries of OpenCL 2 and 3, which are answered only if the device knows them.
cl_int answer_opencl2(cl_device_info name, const Info& info, bool& known) {
  known = true;
  switch (name) {
    case CL_DEVICE_SVM_CAPABILITIES:
      return info.put(cl_device_svm_capabilities{0});
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
      return info.put(cl_command_queue_properties{0});
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
      return info.put(cl_device_device_enqueue_capabilities{0});
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
    case CL_DEVICE_MAX_PIPE_ARGS:
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
      return info.put(cl_uint{0});
    case CL_DEVICE_PIPE_SUPPORT:
    case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
      return info.put(cl_bool{CL_FALSE});
    case CL_DEVICE_IL_VERSION:
      return info.put_text("");
    case CL_DEVICE_ILS_WITH_VERSION:
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
      return info.put_bytes(nullptr, 0);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
      return with_versions(name, supported_extension, info);
    case CL_DEVICE_OPENCL_C_FEATURES:
      return with_versions(name, supported_feature, info);
    default:
      known = false;
      return CL_SUCCESS;
  }
}

}  // namespace

cl_int get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id* devices,
                      cl_uint* count) {
  return guarded([&]() -> cl_int {
    if (process().platform() == nullptr || (platform != nullptr && platform != process().platform())) {
      return CL_INVALID_PLATFORM;
    }
    constexpr cl_device_type kKnown = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                      CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    if (type != CL_DEVICE_TYPE_ALL && (type == 0 || (type & ~kKnown) != 0)) return CL_INVALID_DEVICE_TYPE;
    if ((entries == 0 && devices != nullptr) || (devices == nullptr && count == nullptr)) return CL_INVALID_VALUE;
    const auto own = process().device_value<cl_device_type>(CL_DEVICE_TYPE) | CL_DEVICE_TYPE_DEFAULT;
    const bool matches = (type & own) != 0;
    if (count != nullptr) *count = matches ? 1 : 0;
    if (!matches) return CL_DEVICE_NOT_FOUND;
    if (devices != nullptr) devices[0] = process().device();
    return CL_SUCCESS;
  });
}

cl_int get_device_info(cl_device_id device, cl_device_info name, std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(device)) return CL_INVALID_DEVICE;
    const Info info{size, value, size_ret};
    bool known = false;
    cl_int status = answer_locally(name, info, known);
    if (known) return status;
    std::vector<std::byte> bytes;
    if (const cl_int native = process().device_info(name, bytes); native != CL_SUCCESS) return native;
    status = answer_opencl2(name, info, known);
    return known ? status : info.put_bytes(bytes.data(), bytes.size());
  });
}

cl_int create_sub_devices(cl_device_id device, const cl_device_partition_property*, cl_uint, cl_device_id*, cl_uint*) {
  if (!valid(device)) return CL_INVALID_DEVICE;
  return CL_INVALID_VALUE;  // CL_DEVICE_PARTITION_PROPERTIES shows that it cannot be partitioned
}
// The device is not a sub-device, so its reference count does not change.
cl_int retain_device(cl_device_id device) { return valid(device) ? CL_SUCCESS : CL_INVALID_DEVICE; }
cl_int release_device(cl_device_id device) { return valid(device) ? CL_SUCCESS : CL_INVALID_DEVICE; }

// Not supported, as CL_PLATFORM_HOST_TIMER_RESOLUTION shows.
cl_int get_device_and_host_timer(cl_device_id device, cl_ulong*, cl_ulong*) {
  return valid(device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}
cl_int get_host_timer(cl_device_id device, cl_ulong*) {
  return valid(device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}
}  // namespace wm::runtime::client

// Contexts. They exist only in the client: all clients share the daemon's one context.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

_cl_context::~_cl_context() {
  for (auto it = destructor_callbacks.rbegin(); it != destructor_callbacks.rend(); ++it) it->first(this, it->second);
}

namespace wm::runtime::client {
namespace {

cl_int read_properties(const cl_context_properties* properties, std::vector<cl_context_properties>& kept) {
  if (properties == nullptr) return CL_SUCCESS;
  std::set<cl_context_properties> seen;
  for (const cl_context_properties* p = properties; *p != 0; p += 2) {
    if (!seen.insert(*p).second) return CL_INVALID_PROPERTY;
    if (*p == CL_CONTEXT_PLATFORM) {
      if (p[1] != reinterpret_cast<cl_context_properties>(process().platform())) return CL_INVALID_PLATFORM;
    } else if (*p != CL_CONTEXT_INTEROP_USER_SYNC) {
      return CL_INVALID_PROPERTY;
    }
    kept.insert(kept.end(), {p[0], p[1]});
  }
  kept.push_back(0);
  return CL_SUCCESS;
}

}  // namespace

cl_context create_context(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                          void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                          cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_context {
    if (devices == nullptr || count == 0) return refuse<_cl_context>(status, CL_INVALID_VALUE);
    if (notify == nullptr && data != nullptr)
      status = connection().native_result(NonstandardCall::context_data_without_callback);
    if (status != CL_SUCCESS) return nullptr;
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(devices[i])) return refuse<_cl_context>(status, CL_INVALID_DEVICE);
    }
    std::vector<cl_context_properties> kept;
    status = read_properties(properties, kept);
    if (status != CL_SUCCESS) return nullptr;
    if (connection().lost()) return refuse<_cl_context>(status, kDaemonLost);
    auto* context = new _cl_context();
    context->properties = std::move(kept);
    return context;
  });
}

cl_context create_context_from_type(const cl_context_properties* properties, cl_device_type type,
                                    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                                    cl_int* status_out) {
  cl_device_id device = nullptr;
  const cl_int found = get_device_ids(process().platform(), type, 1, &device, nullptr);
  if (found != CL_SUCCESS) {
    if (status_out != nullptr) *status_out = found;
    return nullptr;
  }
  return create_context(properties, 1, &device, notify, data, status_out);
}

cl_int retain_context(cl_context context) { return retain_checked(context, CL_INVALID_CONTEXT); }
cl_int release_context(cl_context context) {
  return guarded([&] { return release_checked(context, CL_INVALID_CONTEXT); });
}

cl_int get_context_info(cl_context context, cl_context_info name, std::size_t size, void* value,
                        std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_CONTEXT_REFERENCE_COUNT:
        return info.put(cl_uint{context->references.load()});
      case CL_CONTEXT_NUM_DEVICES:
        return info.put(cl_uint{1});
      case CL_CONTEXT_DEVICES:
        return info.put(process().device());
      case CL_CONTEXT_PROPERTIES:
        return info.put_list(context->properties);
      default:
        return CL_INVALID_VALUE;
    }
  });
}

cl_int set_context_destructor_callback(cl_context context, void(CL_CALLBACK* call)(cl_context, void*), void* data) {
  return guarded([&]() -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    if (call == nullptr) return CL_INVALID_VALUE;
    const std::lock_guard lock(context->mutex);
    context->destructor_callbacks.emplace_back(call, data);
    return CL_SUCCESS;
  });
}

}  // namespace wm::runtime::client

// Contexts: all of them are the daemon's one, so they live here alone.
#include "runtime/driver/api.h"

_cl_context::~_cl_context() {
  for (auto it = farewells.rbegin(); it != farewells.rend(); ++it) it->first(this, it->second);
}

namespace wm::runtime::driver {
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
                          void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_context {
    if (devices == nullptr || count == 0) return refuse<_cl_context>(status, CL_INVALID_VALUE);
    if (notify == nullptr && data != nullptr) status = link().natively(Question::context_data_without_callback);
    if (status != CL_SUCCESS) return nullptr;
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(devices[i])) return refuse<_cl_context>(status, CL_INVALID_DEVICE);
    }
    std::vector<cl_context_properties> kept;
    status = read_properties(properties, kept);
    if (status != CL_SUCCESS) return nullptr;
    if (link().lost()) return refuse<_cl_context>(status, kGone);
    auto* context = new _cl_context();
    context->properties = std::move(kept);
    return context;
  });
}

cl_context create_context_from_type(const cl_context_properties* properties, cl_device_type type,
                                    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                                    cl_int* out) {
  cl_device_id device = nullptr;
  const cl_int found = get_device_ids(process().platform(), type, 1, &device, nullptr);
  if (found != CL_SUCCESS) {
    if (out != nullptr) *out = found;
    return nullptr;
  }
  return create_context(properties, 1, &device, notify, data, out);
}

cl_int retain_context(cl_context context) { return retain_checked(context, CL_INVALID_CONTEXT); }
cl_int release_context(cl_context context) {
  return guarded([&] { return release_checked(context, CL_INVALID_CONTEXT); });
}

cl_int get_context_info(cl_context context, cl_context_info name, std::size_t room, void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    const Info info{room, value, needed};
    switch (name) {
      case CL_CONTEXT_REFERENCE_COUNT:
        return info.is(cl_uint{context->references.load()});
      case CL_CONTEXT_NUM_DEVICES:
        return info.is(cl_uint{1});
      case CL_CONTEXT_DEVICES:
        return info.is(process().device());
      case CL_CONTEXT_PROPERTIES:
        return info.list(context->properties);
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
    context->farewells.emplace_back(call, data);
    return CL_SUCCESS;
  });
}

}  // namespace wm::runtime::driver

// Creating samplers and querying them.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

_cl_sampler::~_cl_sampler() { wm::runtime::client::post_release(wm::runtime::ObjectKind::sampler, id); }

namespace wm::runtime::client {
namespace {

cl_sampler make_sampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                        cl_int& status) {
  if (!valid(context)) return refuse<_cl_sampler>(status, CL_INVALID_CONTEXT);
  if (process().device_value<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == 0) {
    return refuse<_cl_sampler>(status, CL_INVALID_OPERATION);
  }
  auto sampler = std::make_unique<_cl_sampler>();
  sampler->context = Retained<_cl_context>(context);
  sampler->normalized = normalized;
  sampler->addressing = addressing;
  sampler->filter = filter;
  sampler->id = connection().new_object_id();
  Writer message(Op::create_sampler);
  message.put(CreateSampler{sampler->id, normalized, addressing, filter, 0});
  status = connection().call(message);
  return status == CL_SUCCESS ? sampler.release() : nullptr;
}

}  // namespace

cl_sampler create_sampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                          cl_int* status_out) {
  return guarded_create(status_out,
                        [&](cl_int& status) { return make_sampler(context, normalized, addressing, filter, status); });
}

cl_sampler create_sampler_with_properties(cl_context context, const cl_sampler_properties* properties,
                                          cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_sampler {
    cl_bool normalized = CL_TRUE;
    cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
    cl_filter_mode filter = CL_FILTER_NEAREST;
    std::set<cl_sampler_properties> seen;
    std::vector<cl_sampler_properties> given;
    for (const cl_sampler_properties* p = properties; p != nullptr && *p != 0; p += 2) {
      if (!seen.insert(*p).second) return refuse<_cl_sampler>(status, CL_INVALID_VALUE);
      switch (*p) {
        case CL_SAMPLER_NORMALIZED_COORDS:
          normalized = static_cast<cl_bool>(p[1]);
          break;
        case CL_SAMPLER_ADDRESSING_MODE:
          addressing = static_cast<cl_addressing_mode>(p[1]);
          break;
        case CL_SAMPLER_FILTER_MODE:
          filter = static_cast<cl_filter_mode>(p[1]);
          break;
        default:
          return refuse<_cl_sampler>(status, CL_INVALID_VALUE);
      }
      given.insert(given.end(), {p[0], p[1]});
    }
    if (properties != nullptr) given.push_back(0);
    cl_sampler sampler = make_sampler(context, normalized, addressing, filter, status);
    if (sampler != nullptr) sampler->properties = std::move(given);
    return sampler;
  });
}

cl_int retain_sampler(cl_sampler sampler) { return retain_checked(sampler, CL_INVALID_SAMPLER); }
cl_int release_sampler(cl_sampler sampler) {
  return guarded([&] { return release_checked(sampler, CL_INVALID_SAMPLER); });
}

cl_int get_sampler_info(cl_sampler sampler, cl_sampler_info name, std::size_t size, void* value,
                        std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(sampler)) return CL_INVALID_SAMPLER;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_SAMPLER_REFERENCE_COUNT:
        return info.put(cl_uint{sampler->references.load()});
      case CL_SAMPLER_CONTEXT:
        return info.put(sampler->context.get());
      case CL_SAMPLER_NORMALIZED_COORDS:
        return info.put(sampler->normalized);
      case CL_SAMPLER_ADDRESSING_MODE:
        return info.put(sampler->addressing);
      case CL_SAMPLER_FILTER_MODE:
        return info.put(sampler->filter);
      case CL_SAMPLER_PROPERTIES:
        return info.put_list(sampler->properties);
      default:
        return CL_INVALID_VALUE;
    }
  });
}

}  // namespace wm::runtime::client

// Creating kernels and querying them.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

_cl_kernel::~_cl_kernel() {
  if (program) program->kernel_count.fetch_sub(1);
  wm::runtime::client::post_release(wm::runtime::ObjectKind::kernel, id);
}

namespace wm::runtime::client {
namespace {

// Reads the daemon's answer: KernelProperties, then a ParameterKind for each parameter.
bool read_properties(_cl_kernel& kernel, std::span<const std::byte> answer) {
  Reader reader(answer);
  const auto properties = reader.take<KernelProperties>();
  kernel.accepted_work_group_size = properties.accepted_work_group_size;
  std::copy_n(properties.required_local_size, 3, kernel.required_local_size);
  kernel.uses_printf = properties.uses_printf != 0;
  for (std::uint32_t i = 0; i < properties.parameters && reader.ok(); ++i) {
    Parameter parameter;
    switch (reader.take<ParameterKind>()) {
      case ParameterKind::value:
        parameter.kind = Parameter::Kind::value;
        break;
      case ParameterKind::memory:
        parameter.kind = Parameter::Kind::memory;
        break;
      case ParameterKind::image:
        parameter.kind = Parameter::Kind::image;
        break;
      case ParameterKind::sampler:
        parameter.kind = Parameter::Kind::sampler;
        break;
      case ParameterKind::local:
        parameter.kind = Parameter::Kind::local;
        break;
      case ParameterKind::unknown:
        break;
    }
    kernel.parameters.push_back(parameter);
  }
  kernel.arguments.resize(kernel.parameters.size());
  return reader.ok();
}

cl_kernel make_kernel(cl_program program, const char* function, cl_int& status) {
  if (!valid(program)) return refuse<_cl_kernel>(status, CL_INVALID_PROGRAM);
  if (function == nullptr) return refuse<_cl_kernel>(status, CL_INVALID_VALUE);
  auto kernel = std::make_unique<_cl_kernel>();
  kernel->program = Retained<_cl_program>(program);
  program->kernel_count.fetch_add(1);
  kernel->function = function;
  kernel->id = connection().new_object_id();
  Writer message(Op::create_kernel);
  message.put(CreateKernel{kernel->id, program->id}).text(function).put('\0');
  std::vector<std::byte> answer;
  status = connection().call(message, &answer);
  if (status == CL_SUCCESS && !read_properties(*kernel, answer)) status = CL_OUT_OF_RESOURCES;
  return status == CL_SUCCESS ? kernel.release() : nullptr;
}

std::vector<std::string> kernel_names(cl_program program, cl_int& status) {
  std::vector<std::string> names;
  std::size_t size = 0;
  status = get_program_info(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size);
  if (status != CL_SUCCESS) return names;
  std::string all(size, '\0');
  status = get_program_info(program, CL_PROGRAM_KERNEL_NAMES, size, all.data(), nullptr);
  all.resize(all.find('\0') == std::string::npos ? all.size() : all.find('\0'));
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(';', at), all.size());
    names.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

}  // namespace

cl_kernel create_kernel(cl_program program, const char* function, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) { return make_kernel(program, function, status); });
}

cl_int create_kernels_in_program(cl_program program, cl_uint count, cl_kernel* kernels, cl_uint* count_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    cl_int status = CL_SUCCESS;
    const auto names = kernel_names(program, status);
    if (status != CL_SUCCESS) return status;
    if (kernels != nullptr && count < names.size()) return CL_INVALID_VALUE;
    if (count_ret != nullptr) *count_ret = static_cast<cl_uint>(names.size());
    for (std::size_t i = 0; kernels != nullptr && i < names.size(); ++i) {
      kernels[i] = make_kernel(program, names[i].c_str(), status);
      if (status == CL_SUCCESS) continue;
      while (i-- > 0) release(kernels[i]);
      return status;
    }
    return CL_SUCCESS;
  });
}

cl_kernel clone_kernel(cl_kernel kernel, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_kernel {
    if (!valid(kernel)) return refuse<_cl_kernel>(status, CL_INVALID_KERNEL);
    cl_kernel clone = make_kernel(kernel->program.get(), kernel->function.c_str(), status);
    if (clone == nullptr) return nullptr;
    const std::lock_guard lock(kernel->mutex);
    clone->arguments = kernel->arguments;
    clone->parameters = kernel->parameters;
    return clone;
  });
}

cl_int retain_kernel(cl_kernel kernel) { return retain_checked(kernel, CL_INVALID_KERNEL); }
cl_int release_kernel(cl_kernel kernel) {
  return guarded([&] { return release_checked(kernel, CL_INVALID_KERNEL); });
}

cl_int get_kernel_info(cl_kernel kernel, cl_kernel_info name, std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_KERNEL_FUNCTION_NAME:
        return info.put_text(kernel->function);
      case CL_KERNEL_NUM_ARGS:
        return info.put(static_cast<cl_uint>(kernel->parameters.size()));
      case CL_KERNEL_REFERENCE_COUNT:
        return info.put(cl_uint{kernel->references.load()});
      case CL_KERNEL_CONTEXT:
        return info.put(kernel->program->context.get());
      case CL_KERNEL_PROGRAM:
        return info.put(kernel->program.get());
      default:
        break;
    }
    Writer message(Op::kernel_info);
    message.put(Query{kernel->id, name});
    return forward(message, info);
  });
}

cl_int get_kernel_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, std::size_t size, void* value,
                           std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    Writer message(Op::kernel_arg_info);
    message.put(KernelQuery{kernel->id, index, name});
    return forward(message, {size, value, size_ret});
  });
}

cl_int get_kernel_work_group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name,
                                  std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    if (device != nullptr && !valid(device)) return CL_INVALID_DEVICE;
    Writer message(Op::kernel_group_info);
    message.put(KernelQuery{kernel->id, 0, name});
    return forward(message, {size, value, size_ret});
  });
}

// Sub-groups are not supported: CL_DEVICE_EXTENSIONS does not show them.
cl_int get_kernel_sub_group_info(cl_kernel kernel, cl_device_id, cl_kernel_sub_group_info, std::size_t, const void*,
                                 std::size_t, void*, std::size_t*) {
  return valid(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}
cl_int set_kernel_exec_info(cl_kernel kernel, cl_kernel_exec_info, std::size_t, const void*) {
  return valid(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}
cl_int set_kernel_arg_svm_pointer(cl_kernel kernel, cl_uint, const void*) {
  return valid(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

}  // namespace wm::runtime::client

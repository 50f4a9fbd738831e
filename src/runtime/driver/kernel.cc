// Kernels: made once the daemon's device has them, and asked about.
#include "runtime/driver/api.h"

_cl_kernel::~_cl_kernel() {
  if (program) program->kernels.fetch_sub(1);
  wm::runtime::Writer message(wm::runtime::Op::release);
  message.put(wm::runtime::Release{name, wm::runtime::Kind::kernel, 0});
  wm::runtime::driver::link().post(message);
}

namespace wm::runtime::driver {
namespace {

// The daemon's answer: KernelFacts, then a u32 for each parameter.
bool learn(_cl_kernel& kernel, std::span<const std::byte> answer) {
  Reader reader(answer);
  const auto facts = reader.take<KernelFacts>();
  kernel.most_items = facts.most_items;
  std::copy_n(facts.compiled_local, 3, kernel.compiled_local);
  kernel.prints = facts.prints != 0;
  for (std::uint32_t i = 0; i < facts.parameters && reader.ok(); ++i) {
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
  kernel->program = Held<_cl_program>(program);
  program->kernels.fetch_add(1);
  kernel->function = function;
  kernel->name = link().new_name();
  Writer message(Op::create_kernel);
  message.put(CreateKernel{kernel->name, program->name}).text(function).put('\0');
  std::vector<std::byte> answer;
  status = link().call(message, &answer);
  if (status == CL_SUCCESS && !learn(*kernel, answer)) status = CL_OUT_OF_RESOURCES;
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

cl_kernel create_kernel(cl_program program, const char* function, cl_int* out) {
  return making(out, [&](cl_int& status) { return make_kernel(program, function, status); });
}

cl_int create_kernels_in_program(cl_program program, cl_uint room, cl_kernel* kernels, cl_uint* count) {
  return guarded([&]() -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    cl_int status = CL_SUCCESS;
    const auto names = kernel_names(program, status);
    if (status != CL_SUCCESS) return status;
    if (kernels != nullptr && room < names.size()) return CL_INVALID_VALUE;
    if (count != nullptr) *count = static_cast<cl_uint>(names.size());
    for (std::size_t i = 0; kernels != nullptr && i < names.size(); ++i) {
      kernels[i] = make_kernel(program, names[i].c_str(), status);
      if (status == CL_SUCCESS) continue;
      while (i-- > 0) release(kernels[i]);
      return status;
    }
    return CL_SUCCESS;
  });
}

cl_kernel clone_kernel(cl_kernel kernel, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_kernel {
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

cl_int get_kernel_info(cl_kernel kernel, cl_kernel_info name, std::size_t room, void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    const Info info{room, value, needed};
    switch (name) {
      case CL_KERNEL_FUNCTION_NAME:
        return info.text(kernel->function);
      case CL_KERNEL_NUM_ARGS:
        return info.is(static_cast<cl_uint>(kernel->parameters.size()));
      case CL_KERNEL_REFERENCE_COUNT:
        return info.is(cl_uint{kernel->references.load()});
      case CL_KERNEL_CONTEXT:
        return info.is(kernel->program->context.get());
      case CL_KERNEL_PROGRAM:
        return info.is(kernel->program.get());
      default:
        break;
    }
    Writer message(Op::kernel_info);
    message.put(Query{kernel->name, name});
    return forward(message, info);
  });
}

cl_int get_kernel_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, std::size_t room, void* value,
                           std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    Writer message(Op::kernel_arg_info);
    message.put(KernelQuery{kernel->name, index, name});
    return forward(message, {room, value, needed});
  });
}

cl_int get_kernel_work_group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name,
                                  std::size_t room, void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    if (device != nullptr && !valid(device)) return CL_INVALID_DEVICE;
    Writer message(Op::kernel_group_info);
    message.put(KernelQuery{kernel->name, 0, name});
    return forward(message, {room, value, needed});
  });
}

// Sub-groups are not offered: none of their extensions is passed on.
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

}  // namespace wm::runtime::driver

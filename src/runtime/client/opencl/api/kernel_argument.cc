// The arguments of kernels. They are stored in the client and sent with each launch.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

namespace wm::runtime::client {
namespace {

template <Plain T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof value};
}

cl_int set_memory(KernelArgument& to, bool image, std::size_t size, const void* value) {
  if (size != sizeof(cl_mem)) {
    const bool null_buffer = value == nullptr && !image;
    if (!null_buffer) return CL_INVALID_ARG_SIZE;
    if (const cl_int error = connection().native_result(NonstandardCall::null_buffer_of_any_size); error != CL_SUCCESS)
      return error;
  }
  cl_mem memory = nullptr;
  if (value != nullptr) std::memcpy(&memory, value, sizeof memory);
  if (memory == nullptr) {
    if (image) return value == nullptr ? CL_INVALID_ARG_VALUE : CL_INVALID_MEM_OBJECT;
    to = {true, {ArgumentKind::no_memory, 0}, {}};
    return CL_SUCCESS;
  }
  if (!process().is_memory(memory) || memory->is_image() != image) return CL_INVALID_MEM_OBJECT;
  to = {true, {ArgumentKind::memory, sizeof memory->id}, bytes_of(memory->id)};
  return CL_SUCCESS;
}

cl_int set_sampler(KernelArgument& to, std::size_t size, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (size != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  cl_sampler sampler = nullptr;
  std::memcpy(&sampler, value, sizeof sampler);
  if (!valid(sampler)) return CL_INVALID_SAMPLER;
  to = {true, {ArgumentKind::sampler, sizeof sampler->id}, bytes_of(sampler->id)};
  return CL_SUCCESS;
}

// Whether the device accepts the argument; the daemon is asked once for each size.
cl_int check_with_device(cl_kernel kernel, cl_uint index, Parameter& parameter, const KernelArgument& argument) {
  if (parameter.accepted_size != 0 && parameter.accepted_size == argument.head.size) return CL_SUCCESS;
  Writer message(Op::check_argument);
  message.put(CheckArgument{kernel->id, index, 0}).put(argument.head);
  message.raw(argument.bytes.data(), argument.bytes.size()).pad();
  const cl_int status = connection().call(message);
  if (status == CL_SUCCESS) parameter.accepted_size = argument.head.size;
  return status;
}

cl_int set_value(cl_kernel kernel, cl_uint index, Parameter& parameter, KernelArgument& to, std::size_t size,
                 const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  const auto max_size = process().device_value<std::size_t>(CL_DEVICE_MAX_PARAMETER_SIZE);
  if (size == 0 || (max_size != 0 && size > max_size)) return CL_INVALID_ARG_SIZE;
  const auto* first = static_cast<const std::byte*>(value);
  KernelArgument argument{true, {ArgumentKind::value, static_cast<std::uint32_t>(size)}, {first, first + size}};
  const cl_int status = check_with_device(kernel, index, parameter, argument);
  if (status == CL_SUCCESS) to = std::move(argument);
  return status;
}

cl_int set_local(cl_kernel kernel, cl_uint index, Parameter& parameter, KernelArgument& to, std::size_t size,
                 const void* value) {
  if (value != nullptr) return CL_INVALID_ARG_VALUE;
  if (size == 0) {
    if (const cl_int error = connection().native_result(NonstandardCall::empty_local_argument); error != CL_SUCCESS)
      return error;
  }
  KernelArgument argument{true, {ArgumentKind::local, static_cast<std::uint32_t>(size)}, {}};
  const cl_int status = check_with_device(kernel, index, parameter, argument);
  if (status == CL_SUCCESS) to = std::move(argument);
  return status;
}

// For a device that does not report parameter types: a pointer-sized value that is the address of a memory object is
// that object.
Parameter::Kind guess_kind(std::size_t size, const void* value) {
  if (value == nullptr) return Parameter::Kind::local;
  void* pointer = nullptr;
  if (size != sizeof pointer) return Parameter::Kind::value;
  std::memcpy(&pointer, value, sizeof pointer);
  if (!process().is_memory(pointer)) return Parameter::Kind::value;
  return static_cast<cl_mem>(pointer)->is_image() ? Parameter::Kind::image : Parameter::Kind::memory;
}

}  // namespace

cl_int set_kernel_arg(cl_kernel kernel, cl_uint index, std::size_t size, const void* value) {
  return guarded([&]() -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    if (index >= kernel->parameters.size()) return CL_INVALID_ARG_INDEX;
    const std::lock_guard lock(kernel->mutex);
    Parameter& parameter = kernel->parameters[index];
    KernelArgument& to = kernel->arguments[index];
    switch (parameter.kind == Parameter::Kind::unknown ? guess_kind(size, value) : parameter.kind) {
      case Parameter::Kind::memory:
        return set_memory(to, false, size, value);
      case Parameter::Kind::image:
        return set_memory(to, true, size, value);
      case Parameter::Kind::sampler:
        return set_sampler(to, size, value);
      case Parameter::Kind::local:
        return set_local(kernel, index, parameter, to, size, value);
      default:
        return set_value(kernel, index, parameter, to, size, value);
    }
  });
}

}  // namespace wm::runtime::client

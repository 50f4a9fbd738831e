// A kernel's arguments: kept here and sent with each launch, as they are then.
#include "runtime/driver/api.h"

namespace wm::runtime::driver {
namespace {

template <Plain T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof value};
}

cl_int set_memory(SetArgument& to, bool image, std::size_t size, const void* value) {
  if (size != sizeof(cl_mem)) {
    const bool none = value == nullptr && !image;
    if (!none) return CL_INVALID_ARG_SIZE;
    if (const cl_int bad = link().natively(Question::null_buffer_of_any_size); bad != CL_SUCCESS) return bad;
  }
  cl_mem memory = nullptr;
  if (value != nullptr) std::memcpy(&memory, value, sizeof memory);
  if (memory == nullptr) {
    if (image) return value == nullptr ? CL_INVALID_ARG_VALUE : CL_INVALID_MEM_OBJECT;
    to = {true, {ArgumentKind::no_memory, 0}, {}};
    return CL_SUCCESS;
  }
  if (!process().is_memory(memory) || memory->is_image() != image) return CL_INVALID_MEM_OBJECT;
  to = {true, {ArgumentKind::memory, sizeof memory->name}, bytes_of(memory->name)};
  return CL_SUCCESS;
}

cl_int set_sampler(SetArgument& to, std::size_t size, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (size != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  cl_sampler sampler = nullptr;
  std::memcpy(&sampler, value, sizeof sampler);
  if (!valid(sampler)) return CL_INVALID_SAMPLER;
  to = {true, {ArgumentKind::sampler, sizeof sampler->name}, bytes_of(sampler->name)};
  return CL_SUCCESS;
}

// Whether the device takes it, asked once for each size.
cl_int ask(cl_kernel kernel, cl_uint index, Parameter& parameter, const SetArgument& argument) {
  if (parameter.accepted != 0 && parameter.accepted == argument.head.size) return CL_SUCCESS;
  Writer message(Op::check_argument);
  message.put(CheckArgument{kernel->name, index, 0}).put(argument.head);
  message.raw(argument.bytes.data(), argument.bytes.size()).pad();
  const cl_int status = link().call(message);
  if (status == CL_SUCCESS) parameter.accepted = argument.head.size;
  return status;
}

cl_int set_value(cl_kernel kernel, cl_uint index, Parameter& parameter, SetArgument& to, std::size_t size,
                 const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  const auto most = process().device_fact<std::size_t>(CL_DEVICE_MAX_PARAMETER_SIZE);
  if (size == 0 || (most != 0 && size > most)) return CL_INVALID_ARG_SIZE;
  const auto* first = static_cast<const std::byte*>(value);
  SetArgument argument{true, {ArgumentKind::value, static_cast<std::uint32_t>(size)}, {first, first + size}};
  const cl_int status = ask(kernel, index, parameter, argument);
  if (status == CL_SUCCESS) to = std::move(argument);
  return status;
}

cl_int set_local(cl_kernel kernel, cl_uint index, Parameter& parameter, SetArgument& to, std::size_t size,
                 const void* value) {
  if (value != nullptr) return CL_INVALID_ARG_VALUE;
  SetArgument argument{true, {ArgumentKind::local, static_cast<std::uint32_t>(size)}, {}};
  const cl_int status = ask(kernel, index, parameter, argument);
  if (status == CL_SUCCESS) to = std::move(argument);
  return status;
}

// A device that does not tell parameters apart: a value that is one of our objects is that object.
Parameter::Kind guess(std::size_t size, const void* value) {
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
    SetArgument& to = kernel->arguments[index];
    switch (parameter.kind == Parameter::Kind::unknown ? guess(size, value) : parameter.kind) {
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

}  // namespace wm::runtime::driver

#include "runtime/device/opencl_compilation.h"

namespace wm::runtime {
namespace {

std::string as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::string_view kArgumentInfoOption = "-cl-kernel-arg-info";

std::string without_argument_info(std::string options) {
  for (auto at = options.find(kArgumentInfoOption); at != std::string::npos; at = options.find(kArgumentInfoOption)) {
    options.erase(at, kArgumentInfoOption.size());
  }
  return options;
}

}  // namespace

Made<ProgramHandle> OpenClCompilation::own(cl_program made, cl_int status) const {
  if (made == nullptr) return {status == CL_SUCCESS ? CL_OUT_OF_RESOURCES : status, nullptr};
  return {status, std::make_shared<OpenClProgram>(made, cl_.ReleaseProgram)};
}

Made<ProgramHandle> OpenClCompilation::program_from_source(std::string_view source) {
  const char* text = source.data();
  const std::size_t length = source.size();
  cl_int status = CL_SUCCESS;
  const cl_program made = cl_.CreateProgramWithSource(native_.context, 1, &text, &length, &status);
  return own(made, status);
}

Made<ProgramHandle> OpenClCompilation::program_from_binary(std::string_view binary) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t length = binary.size();
  cl_int loaded = CL_SUCCESS, status = CL_SUCCESS;
  const cl_program made =
      cl_.CreateProgramWithBinary(native_.context, 1, &native_.device, &length, &bytes, &loaded, &status);
  return own(made, status);
}

Status OpenClCompilation::build(const ProgramObject& program, const std::string& options) {
  const auto build_with = [&](const std::string& with) {
    return cl_.BuildProgram(runtime::native(program), 1, &native_.device, with.c_str(), nullptr, nullptr);
  };
  const Status status = build_with(options);
  // NVIDIA's compiler (580.159) fails with this option if a kernel has no parameters.
  if (status != CL_BUILD_PROGRAM_FAILURE || options.find(kArgumentInfoOption) == std::string::npos) return status;
  const Status again = build_with(without_argument_info(options));
  return again == CL_SUCCESS ? again : build_with(options);
}

Status OpenClCompilation::compile(const ProgramObject& program, const std::string& options,
                                  std::span<const Header> headers) {
  std::vector<cl_program> programs;
  std::vector<const char*> names;
  for (const Header& h : headers) {
    programs.push_back(runtime::native(*h.program));
    names.push_back(h.name.c_str());
  }
  return cl_.CompileProgram(runtime::native(program), 1, &native_.device, options.c_str(),
                            static_cast<cl_uint>(headers.size()), programs.empty() ? nullptr : programs.data(),
                            names.empty() ? nullptr : names.data(), nullptr, nullptr);
}

Made<ProgramHandle> OpenClCompilation::link(std::span<const ProgramHandle> inputs, const std::string& options) {
  std::vector<cl_program> programs;
  for (const ProgramHandle& p : inputs) programs.push_back(runtime::native(*p));
  cl_int status = CL_SUCCESS;
  const cl_program made =
      cl_.LinkProgram(native_.context, 1, &native_.device, options.c_str(), static_cast<cl_uint>(programs.size()),
                      programs.data(), nullptr, nullptr, &status);
  if (made == nullptr) return {status, nullptr};
  return own(made, status);
}

bool OpenClCompilation::build_failed(const ProgramObject& program) const {
  cl_build_status built = CL_BUILD_NONE;
  cl_.GetProgramBuildInfo(runtime::native(program), native_.device, CL_PROGRAM_BUILD_STATUS, sizeof built, &built,
                          nullptr);
  return built == CL_BUILD_ERROR;
}

BinaryType OpenClCompilation::binary_type(const ProgramObject& program) const {
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  cl_.GetProgramBuildInfo(runtime::native(program), native_.device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type,
                          nullptr);
  switch (type) {
    case CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT:
      return BinaryType::object;
    case CL_PROGRAM_BINARY_TYPE_LIBRARY:
      return BinaryType::library;
    case CL_PROGRAM_BINARY_TYPE_EXECUTABLE:
      return BinaryType::executable;
    default:
      return BinaryType::none;
  }
}

Status OpenClCompilation::binary(const ProgramObject& program, std::string& answer) const {
  std::size_t size = 0;
  const cl_int status =
      cl_.GetProgramInfo(runtime::native(program), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
  answer.resize(size);
  auto* to = reinterpret_cast<unsigned char*>(answer.data());
  if (status != CL_SUCCESS || size == 0) return status;
  return cl_.GetProgramInfo(runtime::native(program), CL_PROGRAM_BINARIES, sizeof to, &to, nullptr);
}

std::string OpenClCompilation::build_log(const ProgramObject& program) const {
  std::vector<std::byte> bytes;
  build_info(program, CL_PROGRAM_BUILD_LOG, bytes);
  return as_text(bytes);
}

std::optional<std::string> OpenClCompilation::kernel_names(const ProgramObject& program) const {
  std::vector<std::byte> bytes;
  if (program_info(program, CL_PROGRAM_KERNEL_NAMES, bytes) != CL_SUCCESS) return std::nullopt;
  return as_text(bytes);
}

Status OpenClCompilation::program_info(const ProgramObject& program, std::uint32_t name,
                                       std::vector<std::byte>& answer) const {
  return info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return cl_.GetProgramInfo(runtime::native(program), name, room, value, size);
      },
      answer);
}

Status OpenClCompilation::build_info(const ProgramObject& program, std::uint32_t name,
                                     std::vector<std::byte>& answer) const {
  return info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return cl_.GetProgramBuildInfo(runtime::native(program), native_.device, name, room, value, size);
      },
      answer);
}

Made<KernelHandle> OpenClCompilation::create_kernel(const ProgramObject& program, const std::string& name) {
  cl_int status = CL_SUCCESS;
  const cl_kernel made = cl_.CreateKernel(runtime::native(program), name.c_str(), &status);
  if (made == nullptr) return {status == CL_SUCCESS ? CL_OUT_OF_RESOURCES : status, nullptr};
  return {CL_SUCCESS, std::make_shared<OpenClKernel>(made, cl_.ReleaseKernel, name)};
}

KernelInfo OpenClCompilation::properties(const KernelObject& kernel) const {
  const cl_kernel of = runtime::native(kernel);
  KernelInfo properties;
  std::size_t items = 0;
  cl_ulong local = 0;
  cl_uint parameters = 0;
  const auto ask = [&](cl_kernel_work_group_info what, std::size_t size, void* value) {
    cl_.GetKernelWorkGroupInfo(of, native_.device, what, size, value, nullptr);
  };
  ask(CL_KERNEL_WORK_GROUP_SIZE, sizeof items, &items);
  ask(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof properties.compiled_local, properties.compiled_local.data());
  ask(CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local);
  cl_.GetKernelInfo(of, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, nullptr);
  properties.max_items = items;
  properties.local_bytes = static_cast<std::uint32_t>(local);
  for (cl_uint i = 0; i < parameters; ++i) properties.parameters.push_back(parameter_kind(kernel, i));
  return properties;
}

ParameterKind OpenClCompilation::parameter_kind(const KernelObject& kernel, std::uint32_t index) const {
  cl_kernel_arg_address_qualifier space = 0;
  if (cl_.GetKernelArgInfo(runtime::native(kernel), index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                           nullptr) != CL_SUCCESS) {
    return ParameterKind::unknown;
  }
  std::vector<std::byte> bytes;
  argument_info(kernel, index, CL_KERNEL_ARG_TYPE_NAME, bytes);
  const std::string type = as_text(bytes);
  if (type.starts_with("image") && type.find("_t") != std::string::npos) return ParameterKind::image;
  if (type.starts_with("sampler_t")) return ParameterKind::sampler;
  switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return ParameterKind::memory;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return ParameterKind::local;
    default:
      return ParameterKind::value;
  }
}

Status OpenClCompilation::kernel_info(const KernelObject& kernel, std::uint32_t name,
                                      std::vector<std::byte>& answer) const {
  return info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return cl_.GetKernelInfo(runtime::native(kernel), name, room, value, size);
      },
      answer);
}

Status OpenClCompilation::argument_info(const KernelObject& kernel, std::uint32_t index, std::uint32_t name,
                                        std::vector<std::byte>& answer) const {
  return info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return cl_.GetKernelArgInfo(runtime::native(kernel), index, name, room, value, size);
      },
      answer);
}

Status OpenClCompilation::group_info(const KernelObject& kernel, std::uint32_t name,
                                     std::vector<std::byte>& answer) const {
  return info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return cl_.GetKernelWorkGroupInfo(runtime::native(kernel), native_.device, name, room, value, size);
      },
      answer);
}

}  // namespace wm::runtime

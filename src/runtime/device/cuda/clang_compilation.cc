#include "runtime/device/cuda/clang_compilation.h"

#include <algorithm>

#include "runtime/device/cuda/clang_program.h"
#include "runtime/device/cuda/info_answer.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime::cuda {
namespace {

using rewrite::CompileReply;
using rewrite::CompileRequest;
using Outcome = CompileReply::Outcome;

BinaryType type_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::object:
      return BinaryType::object;
    case Outcome::library:
      return BinaryType::library;
    case Outcome::executable:
      return BinaryType::executable;
    default:
      return BinaryType::none;
  }
}

bool succeeded(Outcome outcome) { return type_of(outcome) != BinaryType::none; }

Status status_of(Outcome outcome, Status failure, Status invalid_options) {
  if (outcome == Outcome::invalid_options) return invalid_options;
  return succeeded(outcome) ? status::kSuccess : failure;
}

cl_build_status build_status(const ClangBuild& build) {
  if (!build.attempted) return CL_BUILD_NONE;
  return succeeded(build.reply.outcome) ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
}

cl_program_binary_type cl_type(BinaryType type) {
  switch (type) {
    case BinaryType::object:
      return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    case BinaryType::library:
      return CL_PROGRAM_BINARY_TYPE_LIBRARY;
    case BinaryType::executable:
      return CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    default:
      return CL_PROGRAM_BINARY_TYPE_NONE;
  }
}

}  // namespace

Made<ProgramHandle> ClangCompilation::program_from_source(std::string_view source) {
  return {status::kSuccess, std::make_shared<ClangProgram>(std::string(source))};
}

Made<ProgramHandle> ClangCompilation::program_from_binary(std::string_view binary) {
  auto reply = read_clang_binary(binary);
  if (!reply) return {status::kInvalidBinary, nullptr};
  auto program = std::make_shared<ClangProgram>("");
  program->set_build({false, "", *std::move(reply)});
  return {status::kSuccess, std::move(program)};
}

Status ClangCompilation::build(const ProgramObject& program, const std::string& options) {
  const ClangProgram& p = clang_program(program);
  const auto before = p.build();
  const Outcome known = before->reply.outcome;
  if (p.source().empty() && known == Outcome::executable) {
    p.set_build({true, options, before->reply});
    return status::kSuccess;
  }
  CompileRequest request{CompileRequest::Kind::build, p.source(), options};
  if (p.source().empty()) {
    if (!succeeded(known)) return status::kInvalidBinary;
    request = {CompileRequest::Kind::link};
    request.objects.push_back(before->reply.code);
  }
  CompileReply reply = compiler_.compile(std::move(request));
  const Outcome outcome = reply.outcome;
  p.set_build({true, options, std::move(reply)});
  return status_of(outcome, status::kBuildProgramFailure, status::kInvalidBuildOptions);
}

Status ClangCompilation::compile(const ProgramObject& program, const std::string& options,
                                 std::span<const Header> headers) {
  const ClangProgram& p = clang_program(program);
  if (p.source().empty()) return status::kInvalidOperation;
  CompileRequest request{CompileRequest::Kind::compile, p.source(), options};
  for (const Header& h : headers) request.headers.emplace_back(h.name, clang_program(*h.program).source());
  CompileReply reply = compiler_.compile(std::move(request));
  const Outcome outcome = reply.outcome;
  p.set_build({true, options, std::move(reply)});
  return status_of(outcome, status::kCompileProgramFailure, status::kInvalidCompilerOptions);
}

Made<ProgramHandle> ClangCompilation::link(std::span<const ProgramHandle> inputs, const std::string& options) {
  CompileRequest request{CompileRequest::Kind::link, "", options};
  for (const ProgramHandle& input : inputs) {
    const auto build = clang_program(*input).build();
    const BinaryType type = type_of(build->reply.outcome);
    if (type != BinaryType::object && type != BinaryType::library) return {status::kInvalidOperation, nullptr};
    request.objects.push_back(build->reply.code);
  }
  CompileReply reply = compiler_.compile(std::move(request));
  const Status status = status_of(reply.outcome, status::kLinkProgramFailure, status::kInvalidLinkerOptions);
  if (status == status::kInvalidLinkerOptions) return {status, nullptr};
  auto program = std::make_shared<ClangProgram>("");
  program->set_build({true, options, std::move(reply)});
  return {status, std::move(program)};
}

bool ClangCompilation::build_failed(const ProgramObject& program) const {
  return build_status(*clang_program(program).build()) == CL_BUILD_ERROR;
}

BinaryType ClangCompilation::binary_type(const ProgramObject& program) const {
  return type_of(clang_program(program).build()->reply.outcome);
}

Status ClangCompilation::binary(const ProgramObject& program, std::string& answer) const {
  answer = clang_binary(clang_program(program).build()->reply);
  return status::kSuccess;
}

std::string ClangCompilation::build_log(const ProgramObject& program) const {
  return clang_program(program).build()->reply.log;
}

std::optional<std::string> ClangCompilation::kernel_names(const ProgramObject& program) const {
  std::string names;
  for (const rewrite::CompiledKernel& kernel : clang_program(program).build()->reply.kernels) {
    names += (names.empty() ? "" : ";") + kernel.name;
  }
  return names;
}

Status ClangCompilation::program_info(const ProgramObject& program, PropertyName name,
                                      std::vector<std::byte>& answer) const {
  const auto build = clang_program(program).build();
  const bool executable = build->reply.outcome == Outcome::executable;
  switch (name) {
    case CL_PROGRAM_NUM_KERNELS:
      if (!executable) return status::kInvalidProgramExecutable;
      return put_value(answer, build->reply.kernels.size());
    case CL_PROGRAM_KERNEL_NAMES:
      if (!executable) return status::kInvalidProgramExecutable;
      return put_text(answer, *kernel_names(program));
    case CL_PROGRAM_BINARY_SIZES:
      return put_value(answer, clang_binary(build->reply).size());
    case CL_PROGRAM_SOURCE:
      return put_text(answer, clang_program(program).source());
    default:
      return status::kInvalidValue;
  }
}

Status ClangCompilation::build_info(const ProgramObject& program, PropertyName name,
                                    std::vector<std::byte>& answer) const {
  const auto build = clang_program(program).build();
  switch (name) {
    case CL_PROGRAM_BUILD_STATUS:
      return put_value(answer, build_status(*build));
    case CL_PROGRAM_BUILD_OPTIONS:
      return put_text(answer, build->options);
    case CL_PROGRAM_BUILD_LOG:
      return put_text(answer, build->reply.log);
    case CL_PROGRAM_BINARY_TYPE:
      return put_value(answer, cl_type(type_of(build->reply.outcome)));
    default:
      return status::kInvalidValue;
  }
}

Made<KernelHandle> ClangCompilation::create_kernel(const ProgramObject& program, const std::string& name) {
  const auto build = clang_program(program).build();
  if (build->reply.outcome != Outcome::executable) return {status::kInvalidProgramExecutable, nullptr};
  const auto& kernels = build->reply.kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == name; });
  if (found == kernels.end()) return {status::kInvalidKernelName, nullptr};
  auto kernel = std::make_shared<ClangKernel>();
  kernel->description = *found;
  return {status::kSuccess, std::move(kernel)};
}

KernelInfo ClangCompilation::properties(const KernelObject& kernel) const {
  KernelInfo info;
  info.max_items = ~std::uint64_t{0};  // the driver's limit is smaller
  const rewrite::CompiledKernel& k = clang_kernel(kernel);
  for (std::size_t d = 0; d < 3; ++d) info.compiled_local[d] = k.group_size[d];
  for (const rewrite::ArgumentInfo& argument : k.arguments) {
    info.parameters.push_back(argument.address == "local"     ? ParameterKind::local
                              : argument.address == "private" ? ParameterKind::value
                                                              : ParameterKind::memory);
  }
  return info;
}

}  // namespace wm::runtime::cuda

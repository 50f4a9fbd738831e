// Answers of our own compiler to queries about kernels.
#include <string_view>

#include "runtime/device/cuda/clang_compilation.h"
#include "runtime/device/cuda/clang_program.h"
#include "runtime/device/cuda/info_answer.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime::cuda {
namespace {

cl_kernel_arg_address_qualifier address_of(const std::string& name) {
  if (name == "global") return CL_KERNEL_ARG_ADDRESS_GLOBAL;
  if (name == "constant") return CL_KERNEL_ARG_ADDRESS_CONSTANT;
  return name == "local" ? CL_KERNEL_ARG_ADDRESS_LOCAL : CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

cl_kernel_arg_type_qualifier qualifiers_of(std::string_view words) {
  cl_kernel_arg_type_qualifier bits = CL_KERNEL_ARG_TYPE_NONE;
  const auto add = [&](const char* word, cl_kernel_arg_type_qualifier bit) {
    if (words.find(word) != std::string_view::npos) bits |= bit;
  };
  add("const", CL_KERNEL_ARG_TYPE_CONST);
  add("restrict", CL_KERNEL_ARG_TYPE_RESTRICT);
  add("volatile", CL_KERNEL_ARG_TYPE_VOLATILE);
  return bits;
}

constexpr std::size_t kWarp = 32;

}  // namespace

Status ClangCompilation::kernel_info(const KernelObject& kernel, PropertyName name,
                                     std::vector<std::byte>& answer) const {
  const rewrite::CompiledKernel& k = clang_kernel(kernel);
  switch (name) {
    case CL_KERNEL_FUNCTION_NAME:
      return put_text(answer, k.name);
    case CL_KERNEL_NUM_ARGS:
      return put_value(answer, static_cast<cl_uint>(k.arguments.size()));
    case CL_KERNEL_ATTRIBUTES:
      return put_text(answer, k.attributes);
    default:
      return status::kInvalidValue;
  }
}

Status ClangCompilation::argument_info(const KernelObject& kernel, std::uint32_t index, PropertyName name,
                                       std::vector<std::byte>& answer) const {
  const rewrite::CompiledKernel& k = clang_kernel(kernel);
  if (index >= k.arguments.size()) return status::kInvalidArgumentIndex;
  const rewrite::ArgumentInfo& argument = k.arguments[index];
  switch (name) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      return put_value(answer, address_of(argument.address));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      return put_value(answer, cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_NONE});
    case CL_KERNEL_ARG_TYPE_NAME:
      return put_text(answer, argument.type);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
      return put_value(answer, qualifiers_of(argument.qualifiers));
    case CL_KERNEL_ARG_NAME:
      return put_text(answer, argument.name);
    default:
      return status::kInvalidValue;
  }
}

Status ClangCompilation::group_info(const KernelObject& kernel, PropertyName name,
                                    std::vector<std::byte>& answer) const {
  switch (name) {
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: {
      const auto& sizes = clang_kernel(kernel).group_size;
      return put_value(answer, Size3{sizes[0], sizes[1], sizes[2]});
    }
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return put_value(answer, kWarp);
    default:
      return status::kInvalidValue;
  }
}

}  // namespace wm::runtime::cuda

#include "rewrite/compiler/kernels.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <optional>

namespace wm::rewrite {
namespace {

std::string text_at(const llvm::MDNode* node, unsigned index) {
  if (node == nullptr || index >= node->getNumOperands()) return {};
  const auto* text = llvm::dyn_cast<llvm::MDString>(node->getOperand(index));
  return text == nullptr ? std::string() : text->getString().str();
}

std::optional<std::uint64_t> number_at(const llvm::MDNode* node, unsigned index) {
  if (node == nullptr || index >= node->getNumOperands()) return std::nullopt;
  const auto* number = llvm::mdconst::dyn_extract<llvm::ConstantInt>(node->getOperand(index));
  if (number == nullptr) return std::nullopt;
  return number->getZExtValue();
}

// The numbers are those of SPIR.
std::string address_name(std::uint64_t space) {
  switch (space) {
    case 1:
      return "global";
    case 2:
      return "constant";
    case 3:
      return "local";
    default:
      return "private";
  }
}

std::string sizes_of(const char* name, const llvm::MDNode* node) {
  std::string text = std::string(name) + "(";
  for (unsigned i = 0; i < 3; ++i) text += (i == 0 ? "" : ",") + std::to_string(number_at(node, i).value_or(1));
  return text + ")";
}

CompiledKernel describe(const llvm::Function& function) {
  CompiledKernel kernel;
  kernel.name = function.getName().str();
  const auto metadata = [&](const char* name) { return function.getMetadata(name); };
  const llvm::MDNode* spaces = metadata("kernel_arg_addr_space");
  for (unsigned i = 0; i < spaces->getNumOperands(); ++i) {
    ArgumentInfo argument;
    argument.name = text_at(metadata("kernel_arg_name"), i);
    argument.type = text_at(metadata("kernel_arg_type"), i);
    argument.address = address_name(number_at(spaces, i).value_or(0));
    argument.access = text_at(metadata("kernel_arg_access_qual"), i);
    argument.qualifiers = text_at(metadata("kernel_arg_type_qual"), i);
    kernel.arguments.push_back(std::move(argument));
  }
  if (const llvm::MDNode* size = metadata("reqd_work_group_size")) {
    kernel.attributes = sizes_of("reqd_work_group_size", size);
    for (unsigned d = 0; d < 3; ++d) kernel.group_size[d] = number_at(size, d).value_or(1);
  }
  if (const llvm::MDNode* size = metadata("work_group_size_hint")) {
    kernel.attributes += (kernel.attributes.empty() ? "" : " ") + sizes_of("work_group_size_hint", size);
  }
  return kernel;
}

}  // namespace

bool is_kernel(const llvm::Function& function) {
  return !function.isDeclaration() && function.hasMetadata("kernel_arg_addr_space");
}

std::vector<CompiledKernel> kernels_of(const llvm::Module& module) {
  std::vector<CompiledKernel> kernels;
  for (const llvm::Function& function : module) {
    if (is_kernel(function)) kernels.push_back(describe(function));
  }
  return kernels;
}

std::string unsupported_parameters(const std::vector<CompiledKernel>& kernels) {
  std::string lines;
  for (const CompiledKernel& kernel : kernels) {
    for (const ArgumentInfo& argument : kernel.arguments) {
      const bool image = argument.type.starts_with("image") && argument.type.ends_with("_t");
      if (!image && argument.type != "sampler_t") continue;
      lines += "error: kernel '" + kernel.name + "' takes '" + argument.name + "' of type " + argument.type +
               ": images and samplers are not supported by warpmux's own OpenCL compiler\n";
    }
  }
  return lines;
}

}  // namespace wm::rewrite

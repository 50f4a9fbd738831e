// One run of clang: OpenCL C into a module of LLVM that is not optimised yet.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace wm::rewrite {

struct SourceText {
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  // include name and text
  std::vector<std::string> arguments;                        // for clang, beside those that every program has
  std::string target;                                        // the GPU
};

// Null where the source has errors. The diagnostics are appended to `log`.
std::unique_ptr<llvm::Module> compile_source(llvm::LLVMContext& context, const SourceText& source, std::string& log);

inline constexpr const char* kTriple = "nvptx64-nvidia-nvcl";

}  // namespace wm::rewrite

// A program of our own compiler, and its binary.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "rewrite/compile_request.h"
#include "runtime/device/backend.h"

namespace wm::runtime::cuda {

// The result of the last build. It never changes, so that queries read it while another build runs.
struct ClangBuild {
  bool attempted = false;
  std::string options;
  rewrite::CompileReply reply;
};

class ClangProgram final : public ProgramObject {
 public:
  explicit ClangProgram(std::string source) : source_(std::move(source)) {}

  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] std::shared_ptr<const ClangBuild> build() const {
    const std::lock_guard lock(mutex_);
    return build_;
  }
  void set_build(ClangBuild build) const {
    auto made = std::make_shared<const ClangBuild>(std::move(build));
    const std::lock_guard lock(mutex_);
    build_ = std::move(made);
  }

 private:
  const std::string source_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ClangBuild> build_ = std::make_shared<const ClangBuild>();
};

struct ClangKernel final : KernelObject {
  rewrite::CompiledKernel description;
};

inline const ClangProgram& clang_program(const ProgramObject& program) {
  return static_cast<const ClangProgram&>(program);
}
inline const rewrite::CompiledKernel& clang_kernel(const KernelObject& kernel) {
  return static_cast<const ClangKernel&>(kernel).description;
}

// A binary is a line that names its kind, and bitcode; or PTX, a zero and the encoded descriptions of the kernels.
std::string clang_binary(const rewrite::CompileReply& reply);
// An error: the bytes are no binary of this version.
Result<rewrite::CompileReply> read_clang_binary(std::string_view binary);

}  // namespace wm::runtime::cuda

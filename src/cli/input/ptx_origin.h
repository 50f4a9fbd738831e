// The source of the zoo's PTX: the build's clang, an nvcc or an NVIDIA OpenCL driver on this machine, or a folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernels/benchmark.h"

namespace wm::cli {

struct PtxText {
  std::string text;
  std::string file;  // the name in messages
};

// Compiles OpenCL C to PTX with compilers of this machine. An error names the missing compiler or has its
// message.
Result<std::string> compile_with_nvcc(const std::string& name, std::string_view source);

// NVIDIA's OpenCL driver, with one context for all kernels, because creating one takes seconds.
class OpenClCompiler {
 public:
  static Result<std::shared_ptr<const OpenClCompiler>> open();
  virtual ~OpenClCompiler() = default;
  [[nodiscard]] virtual Result<std::string> compile(const std::string& name, std::string_view source) const = 0;
};

class PtxOrigin {
 public:
  // "clang" (the build's, the default), "nvcc", "opencl", or a folder that holds NAME.ptx.
  static Result<PtxOrigin> parse(const std::string& text);
  PtxOrigin() = default;

  [[nodiscard]] Result<PtxText> ptx(const zoo::Entry& entry) const;

 private:
  enum class Kind { clang, nvcc, opencl, folder };
  Kind kind_ = Kind::clang;
  std::string folder_;
  std::shared_ptr<const OpenClCompiler> opencl_;
};

}  // namespace wm::cli

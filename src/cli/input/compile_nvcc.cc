// Compiles the zoo's OpenCL C with nvcc, as CUDA: kernels/cuda_prelude.h defines OpenCL's names.
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/pattern.h"
#include "cli/input/process.h"
#include "cli/input/ptx_origin.h"

namespace wm::cli {

const char* cuda_prelude();  // kernels/cuda_prelude.h, embedded by the build

namespace {

namespace fs = std::filesystem;

// Looks for nvcc in the folder that CUDA_HOME names, then in the usual folder, then in PATH.
std::string find_nvcc() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
    if (home != nullptr && fs::exists(fs::path(home) / "bin" / "nvcc"))
      return (fs::path(home) / "bin" / "nvcc").string();
  }
  if (fs::exists("/usr/local/cuda/bin/nvcc")) return "/usr/local/cuda/bin/nvcc";
  return "nvcc";
}

// Changes that no macro can make: a qualifier may precede a variable or be part of a pointer's type, helpers run on
// the device, and that a cast of several values makes a vector.
std::string as_cuda(const std::string& name, std::string_view source) {
  static const Pattern local_variable(R"(\b__local\b([^;(){}*]*[[;]))");
  static const Pattern constant_variable(R"(\b__constant\b([^;(){}*]*\[))");
  static const Pattern vector_literal(R"(\(\s*(u?(char|short|int|long)|float|double)([234])\s*\)\s*\()");
  static const Pattern helper_function(
      "\n"
      R"(([a-z]\w*\s+(\w+\s+)?\w+\s*\([^;{}()]*\)\s*\{))");
  std::string text = local_variable.replace(std::string(source), "__shared__$1");
  text = constant_variable.replace(text, "__constant__$1");
  text = vector_literal.replace(text, "make_$1$3(");
  text = helper_function.replace(text, "\n__device__ $1");
  return "#define __local\n#define __constant const\n#line 1 \"" + name + ".cl\"\n" + text;
}

}  // namespace

Result<std::string> compile_with_nvcc(const std::string& name, std::string_view source) {
  auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  const std::string in = folder->file(name + ".cu");
  const std::string out = folder->file(name + ".ptx");
  // With #line, nvcc's messages and .loc directives name the kernel's own file.
  const std::string text = std::string(cuda_prelude()) + "\n" + as_cuda(name, source);
  if (auto done = write_file(in, text); !done) return done.error();
  const auto ran = run_program({find_nvcc(), "-arch=compute_75", "-w", "-lineinfo", "-ptx", in, "-o", out});
  if (!ran) return Error{"--ptx-from nvcc: " + ran.error().what};
  if (ran->code != 0) {
    return Error{"--ptx-from nvcc: '" + name + "' does not compile: " + ran->output.substr(0, ran->output.find('\n'))};
  }
  return read_file(out);
}

}  // namespace wm::cli

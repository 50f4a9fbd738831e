// Requests to wm-compile and its replies: OpenCL C in, PTX out.
//
// Plain values without clang in them, so that the runtime can hold and send them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rewrite/program.h"

namespace wm::rewrite {

// The language that wm-compile accepts: OpenCL C 1.2 with these extensions.
inline constexpr const char* kCompiledExtensions =
    "cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics "
    "cl_khr_int64_extended_atomics";

struct CompileRequest {
  enum class Kind : std::uint32_t {
    build,    // `source` into PTX
    compile,  // `source` into an object, which is LLVM's bitcode
    link,     // `objects` into PTX, or into a library, which is an object again
  };
  Kind kind{};
  std::string source{};
  std::string options{};                                       // as given to clBuildProgram and its like
  std::vector<std::pair<std::string, std::string>> headers{};  // include name and text, of clCompileProgram
  std::vector<std::string> objects{};
  std::string library{};         // file with the built-in functions as LLVM's bitcode
  std::string target = "sm_70";  // the GPU, as LLVM names it
};

struct CompiledKernel {
  std::string name;
  std::vector<ArgumentInfo> arguments;
  std::string attributes;                     // as CL_KERNEL_ATTRIBUTES
  std::array<std::uint64_t, 3> group_size{};  // reqd_work_group_size, or zeros
  friend bool operator==(const CompiledKernel&, const CompiledKernel&) = default;
};

struct CompileReply {
  enum class Outcome : std::uint32_t { failed, invalid_options, object, library, executable };
  Outcome outcome{};
  std::string log;                      // the diagnostics
  std::string code;                     // PTX or bitcode
  std::vector<CompiledKernel> kernels;  // those of an executable
};

std::string encode(const CompileRequest& request);
std::string encode(const CompileReply& reply);
Result<CompileRequest> decode_compile_request(std::string_view bytes);
Result<CompileReply> decode_compile_reply(std::string_view bytes);

// The kernels of a program, for its binary.
std::string encode(const std::vector<CompiledKernel>& kernels);
Result<std::vector<CompiledKernel>> decode_compiled_kernels(std::string_view bytes);

}  // namespace wm::rewrite

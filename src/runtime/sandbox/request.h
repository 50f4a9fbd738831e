// The requests of the daemon to the compile sandbox, and their encoding for the pipe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/sandbox/comparison.h"

namespace wm::runtime::sandbox {

// A header of a program, by the name it is included under.
struct Header {
  std::string name, text;
};
// A program as its client gave it, and how it was compiled.
struct Program {
  bool binary = false;
  std::string text, options;
  std::vector<Header> headers;
};

// A launch, as far as the code that the driver generates for it depends on it.
struct SandboxLaunch {
  enum class Argument : std::uint32_t { bytes, buffer, image, sampler, local };
  std::string kernel;
  std::array<std::uint64_t, 3> global{1, 1, 1}, local{};  // local 0: the driver chooses the size
  std::uint32_t dimensions = 1;
  bool offset = false;
  std::vector<std::pair<Argument, std::uint32_t>> arguments;  // with their sizes
  bool operator==(const SandboxLaunch&) const = default;
};

struct Request {
  enum class Kind : std::uint32_t {
    build,             // the first of `programs`, from source
    compile,           // the first of `programs`, from source
    load,              // the first of `programs`, from a binary
    link,              // all of `programs`, compiled first
    nonstandard_call,  // `call`
    comparison,        // `comparison`, of the first of `programs` and of its worker form, the second
  };
  Kind kind{};
  std::uint32_t call = 0;  // a NonstandardCall (protocol/message.h)
  std::string device;      // part of its name
  std::string options;     // to link with
  std::vector<Program> programs;
  std::optional<SandboxLaunch> launch;  // launched after the build, with empty kernels
  std::optional<Comparison> comparison;
  bool binary = false;  // its binary is queried after the build: some drivers compile all kernels for it
};

// A program built from source.
Request build_of(const std::string& source, const std::string& options);

std::string encode(const Request& request);
Result<Request> decode(std::string_view bytes);

// The result of a sandbox that found no such device, or could not read the request: nothing was tried.
inline constexpr std::int32_t kNoDevice = -32000;

}  // namespace wm::runtime::sandbox

// What the daemon has tried in another process before it does it itself, as bytes for the pipe and as a name on disk.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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

// A launch, as far as it matters for what the driver compiles for it.
struct SandboxLaunch {
  enum class Argument : std::uint32_t { bytes, buffer, image, sampler, local };
  std::string kernel;
  std::array<std::uint64_t, 3> global{1, 1, 1}, local{};  // no local size: left to the driver
  std::uint32_t dimensions = 1;
  bool offset = false;
  std::vector<std::pair<Argument, std::uint32_t>> arguments;  // and their sizes
  bool operator==(const SandboxLaunch&) const = default;
};

struct Request {
  enum class What : std::uint32_t {
    build,     // the first of `programs`, from source
    compile,   // …
    load,      // …, from a binary
    link,      // all of `programs`, compiled first
    question,  // a Question (protocol/message.h)
  };
  What what{};
  std::uint32_t question = 0;
  std::string device;   // part of its name
  std::string options;  // to link with
  std::vector<Program> programs;
  std::optional<SandboxLaunch> launch;  // then this, with kernels that do nothing
  bool binary = false;                  // or this: its binary, for which some drivers compile all kernels
};

// A program built from source.
Request build_of(const std::string& source, const std::string& options);

std::string encode(const Request& request);
Result<Request> decode(std::string_view bytes);

// The answer of a child that found no such device, or does not read the request: nothing was tried.
inline constexpr std::int32_t kNoDevice = -32000;

}  // namespace wm::runtime::sandbox

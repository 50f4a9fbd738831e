// A comparison: one small launch of a kernel in both its forms, unmodified and as workers, on the same inputs. A kernel
// whose forms leave different buffers must not run as workers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sandbox/packing.h"

namespace wm::runtime::sandbox {

struct ComparedArgument {
  enum class Kind : std::uint32_t { value, buffer, no_buffer, local };
  Kind kind{};
  std::string bytes;         // the value, where it is one
  std::uint64_t size = 0;    // size of a buffer, or of local memory
  std::uint32_t buffer = 0;  // arguments with the same number are the same buffer
  bool floating = false;     // the buffer holds floating-point numbers; otherwise integers
  std::uint32_t width = 4;   // bytes of a number: 1, 2, 4 or 8
};

struct Comparison {
  std::string kernel;
  std::uint32_t dimensions = 1;
  std::array<std::uint64_t, 3> groups{1, 1, 1}, local{1, 1, 1}, offset{};
  std::vector<ComparedArgument> arguments;
};

struct ComparisonResult {
  enum class Verdict : std::uint32_t {
    same,
    different,     // or only the worker form failed
    unverifiable,  // the unmodified form failed, so there is nothing to compare with
  };
  Verdict verdict = Verdict::unverifiable;
  std::string reason;
};

void put(Packer& to, const Comparison& comparison);
Comparison take_comparison(Unpacker& from);

std::string encode(const ComparisonResult& result);
ComparisonResult decode_result(std::string_view bytes);

}  // namespace wm::runtime::sandbox

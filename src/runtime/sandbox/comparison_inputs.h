// The inputs of a comparison's buffers, and the comparison of what its two forms left in them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/sandbox/comparison.h"

namespace wm::runtime::sandbox {

// Only the first bytes of large buffers are filled and compared: the few groups of a comparison use little more.
inline constexpr std::uint64_t kComparedBytes = std::uint64_t{1} << 20;

// A buffer of a comparison, and where its first bytes lie among those of all buffers.
struct ComparedBuffer {
  std::uint32_t number = 0;
  std::uint64_t size = 0, compared = 0, at = 0;
  bool floating = false;
  std::uint32_t width = 4;
};
std::vector<ComparedBuffer> buffers_of(const Comparison& comparison);

// The contents of buffers. A kernel may take other ways with larger values, or use them as indices of smaller arrays.
enum class InputSet : std::uint8_t {
  small,     // integers of 0 to 3, valid as indices of most arrays, and numbers between 0.5 and 1.5
  elements,  // integers below the number of elements of the smallest buffer that has several, numbers up to 48
  any,       // integers of every magnitude, numbers up to 48
};
inline constexpr std::array kInputSets{InputSet::small, InputSet::elements, InputSet::any};

// The bound of `elements`.
std::uint64_t element_bound(std::span<const ComparedBuffer> buffers);
void fill(const ComparedBuffer& buffer, InputSet set, std::uint64_t bound, std::span<std::byte> bytes);

// Where two results differ: integers in any bit, floating-point numbers by more than a thousandth, since compilers may
// contract or reorder operations differently in the two forms. Nothing where they do not.
std::optional<std::string> difference(const ComparedBuffer& buffer, std::span<const std::byte> expected,
                                      std::span<const std::byte> got);

}  // namespace wm::runtime::sandbox

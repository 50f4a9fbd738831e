// The decoded form and the execution of a kernel as counters and a digest, for tests that compare them with a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ptx/ir.h"

namespace wm::exec::test {

class Digest {
 public:
  // FNV-1a, of words instead of bytes.
  template <typename... Numbers>
  void add(Numbers... numbers) {
    ((hash_ = (hash_ ^ static_cast<std::uint64_t>(numbers)) * 0x100000001b3ULL, hash_ ^= hash_ >> 32), ...);
  }
  void add_text(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  template <typename Number>
  void add_all(std::span<const Number> numbers) {
    add(numbers.size());
    for (const Number n : numbers) add(n);
  }
  [[nodiscard]] std::string hex() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

// Decodes and runs a kernel on two blocks of a warp and a half, within bounds: as a whole, on threads of the host,
// stepped warp by warp, and ahead of time with a port. All operations, steps, accesses, messages and memory afterwards
// go into `digest`. Returns operations, bytes of registers, warp instructions, and how the run ended.
std::string executed(const ptx::Module& module, const std::string& kernel, Digest& digest);

// Compares with the row of golden_execution.csv; prints `row` with WM_GOLDEN_EXECUTION in the environment.
void expect_row(const std::string& name, const std::string& row);

}  // namespace wm::exec::test

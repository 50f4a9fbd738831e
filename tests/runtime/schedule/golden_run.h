// Runs whose course is written down in golden_schedule.csv, so that a change that was not meant is seen.
//
// test_runtime prints the rows with WM_GOLDEN_SCHEDULE=print in its environment, and with WM_GOLDEN_SCHEDULE=lines also
// the lines of which some of them are digests.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace wm::runtime::test {

// A digest of numbers and texts in their order (FNV-1a).
class Digest {
 public:
  template <typename... Values>
  void add(const Values&... values) {
    (add_one(values), ...);
  }
  [[nodiscard]] std::string text() const;

 private:
  // Results of floating-point arithmetic may differ in their last bits from host to host: they count in thousandths,
  // and the offset keeps simple fractions away from where these are rounded.
  void add_one(double value) { fold(static_cast<std::uint64_t>(std::llround(value * 1000 + 0.137))); }
  void add_one(const std::string& text) {
    for (const char c : text) fold(static_cast<unsigned char>(c));
  }
  template <typename Integer>
  void add_one(Integer value) {
    fold(static_cast<std::uint64_t>(value));
  }
  void fold(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3ULL;
    hash_ ^= hash_ >> 32;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

void show(const std::vector<std::string>& lines);

// Expects `outcome` in the row called `name`.
void expect_golden(const std::string& name, const std::string& outcome);

}  // namespace wm::runtime::test

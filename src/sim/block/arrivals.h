// When the runs of a process begin: one after the other, or as requests of a service that arrive by themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/units.h"

namespace wm::sim {

class Arrivals {
 public:
  // A run begins when the one before it has ended.
  Arrivals() = default;
  // Requests at random, independent of each other, with this mean distance.
  static Arrivals poisson(Cycles mean_distance, std::uint64_t seed);
  // `size` requests at once, with the bursts at random at this mean distance.
  static Arrivals bursts(Cycles mean_distance, std::uint32_t size, std::uint64_t seed);
  // Recorded times, in order. After the last there are no more.
  static Arrivals recorded(std::vector<Cycles> times);

  [[nodiscard]] bool open() const { return kind_ != Kind::closed; }
  // The time of the next request; nothing where there are no more. Only for open arrivals.
  std::optional<Cycles> next();
  // Requests a cycle, on average.
  [[nodiscard]] double rate() const;
  // Requests until `end`, on average; all of them where their times are recorded.
  [[nodiscard]] double expected_before(Cycles end) const;

 private:
  enum class Kind { closed, random, recorded };

  Kind kind_ = Kind::closed;
  Random random_{1};
  Cycles mean_;
  std::uint32_t burst_ = 1;
  std::uint32_t left_in_burst_ = 0;
  Cycles last_;
  std::vector<Cycles> times_;
  std::size_t taken_ = 0;
};

// "poisson=200" (requests a second), "bursts=20x8" (20 bursts a second of 8 requests each) or "requests=FILE", a file
// with the time of a request in microseconds on every line, in rising order.
Result<Arrivals> parse_arrivals(std::string_view text, Hertz clock, std::uint64_t seed);

// The smallest value that at least `part` of the values do not exceed; 0 for none. `part` is above 0 and at most 1.
std::uint64_t percentile(std::vector<std::uint64_t> values, double part);

}  // namespace wm::sim

// Whether limits of blocks shorten the requests of latency-sensitive programs: a time with limits is compared with one
// without them. Limits cannot help where the kernels of the limited program are short or leave room anyway, and then
// they only cost it a part of its rate.
#pragma once

#include <cstdint>

namespace wm::runtime {

// Requests of latency-sensitive programs that have ended, and the time that they took together.
struct Requests {
  std::uint64_t count = 0;
  double seconds = 0;

  [[nodiscard]] double mean() const { return count == 0 ? 0 : seconds / static_cast<double>(count); }
  Requests& operator+=(const Requests& other) {
    count += other.count;
    seconds += other.seconds;
    return *this;
  }
  friend Requests operator-(const Requests& a, const Requests& b) { return {a.count - b.count, a.seconds - b.seconds}; }
};

// A verdict that is confirmed holds for twice as long as the one before, because every comparison costs: the time
// without limits the latency-sensitive programs, the time with limits the program that is limited.
class LimitGain {
 public:
  LimitGain();

  // So many requests are enough to compare; a time with fewer of them should be longer.
  static constexpr std::uint64_t kEnoughRequests = 200;

  // Times are seconds in which the program was beside a latency-sensitive one.
  // Whether a time without limits must be measured: there was none, or the verdict has ended.
  [[nodiscard]] bool is_due(double seconds) const { return seconds >= until_; }
  void measured_without(const Requests& requests, double seconds);
  // Requests with limits that do not change any more; these add up until there are enough of them.
  void measured_with(const Requests& requests, double seconds);
  // The limits have changed: earlier requests with limits do not count.
  void limits_changed() { with_ = {}; }
  [[nodiscard]] bool has_none() const { return verdict_ == Verdict::none; }

 private:
  enum class Verdict { unknown, some, none };

  Requests without_, with_;
  Verdict verdict_ = Verdict::unknown;
  Verdict last_ = Verdict::unknown;  // the verdict before the last time without limits
  double until_ = 0, hold_;          // the end of the verdict, and for how long the next one holds
};

}  // namespace wm::runtime

// A program's progress in launches, as a number that also grows between two of them.
//
// A program that waits for each launch makes few launches in an epoch, and their count misses its rate by as much as
// one of them. So the launch that was begun last counts by the part of its time that has passed; its time is taken to
// be the mean of the launches before it.
#pragma once

#include <cstdint>

namespace wm::runtime {

class LaunchProgress {
 public:
  // The progress since the last call. The program has begun `launches` in all, the last one at `launched_at`; times in
  // nanoseconds. Without a time (0) whole launches count.
  [[nodiscard]] double advance(std::uint64_t launches, std::uint64_t launched_at, std::uint64_t now);
  // All progress so far; launches before the first call count.
  [[nodiscard]] double total() const { return told_; }

 private:
  std::uint64_t launches_ = 0, launched_at_ = 0;
  double interval_ = 0;  // nanoseconds from a launch to the next; 0: not known
  double told_ = 0;      // progress that the caller knows of
  bool has_begun_ = false;
};

}  // namespace wm::runtime

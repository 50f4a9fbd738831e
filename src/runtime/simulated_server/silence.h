// How long a program has sent nothing to the daemon, without the time that it waited for a processor of the host: a
// program on a busy host must not count as one that has stopped.
#pragma once

#include <functional>
#include <optional>
#include <sys/types.h>

namespace wm::runtime {

// Seconds that a process has been ready to run without a processor; 0 where the host does not count them.
[[nodiscard]] double processor_wait_seconds(pid_t process);

class Silence {
 public:
  // `now` and `waited`: seconds since any time.
  Silence(std::function<double()> now, std::function<double()> waited);
  explicit Silence(pid_t process);

  void end();
  // Whether it has lasted for so long. Waiting for a processor counts in the first half only, which most silences do
  // not outlast.
  [[nodiscard]] bool lasts(double seconds);

 private:
  std::function<double()> now_, waited_;
  double since_;
  std::optional<double> waited_before_;
};

}  // namespace wm::runtime

// Launches that print run one at a time, so that the output is known to be their client's: a driver writes it to the
// standard output of this process. Guarded by the scheduler's lock.
#pragma once

#include <deque>
#include <vector>

#include "runtime/device/kernel_output.h"
#include "runtime/schedule/command.h"

namespace wm::runtime {

class PrintfOutput {
 public:
  // `finish_first`: the driver writes output only when the queue is finished.
  PrintfOutput(Submission& submission, bool finish_first) : submission_(submission), finish_first_(finish_first) {}

  // Captures the output of this launch from now on; false: another launch prints, and this one waits for its turn.
  bool begin(const CommandPtr& command);
  [[nodiscard]] bool is_printing(const CommandPtr& command) const { return current_ == command; }
  // Gives the output to the client, unless it is `mixed` with that of a launch that outlived its client. Returns the
  // next waiting launch; null: none waits.
  CommandPtr end(const CommandPtr& command, bool mixed);
  // Launches of a client that has gone, which waited for their turn.
  [[nodiscard]] std::vector<CommandPtr> take(const Client& client);

 private:
  Submission& submission_;
  const bool finish_first_;
  KernelOutput output_;
  CommandPtr current_;
  std::deque<CommandPtr> waiting_;
};

}  // namespace wm::runtime

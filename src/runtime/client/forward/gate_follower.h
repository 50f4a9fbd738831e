// The thread that closes and opens the gates of this process: it follows the board, on which latency-sensitive programs
// say that they have work.
//
// Such a program's launch takes a few microseconds to reach the device, and this thread's write takes as long: both go
// at the same time, and the other program waits for nothing. The thread watches the board without sleeping while gates
// are in force and the board has changed within the last milliseconds.
#pragma once

namespace wm::forward {

class GateFollower {
 public:
  // Starts the thread, the first time that it is called; later calls wake it. The words of the daemon have changed, or
  // the first kernel has gates.
  static void wake();
  static void forget_after_fork();
};

}  // namespace wm::forward

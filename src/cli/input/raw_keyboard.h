// A terminal that delivers single keys and does not show them.
//
// The terminal gets its settings back in the destructor, and before SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the process
// as it does by default; while the process is stopped (SIGTSTP) it has them, too. One object exists at a time.
#pragma once

namespace wm::cli {

class RawKeyboard {
 public:
  RawKeyboard();
  ~RawKeyboard();
  RawKeyboard(const RawKeyboard&) = delete;
  RawKeyboard& operator=(const RawKeyboard&) = delete;

  // Waits that long; true at once: the user pressed q, or the terminal is gone.
  [[nodiscard]] bool quits_within(double seconds) const;

 private:
  bool active_;
};

}  // namespace wm::cli

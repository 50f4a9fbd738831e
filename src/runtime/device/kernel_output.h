// The output of kernels that call printf: the driver writes it to the standard output of the daemon's process.
#pragma once

#include <string>

#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

// Captures standard output while one kernel that prints runs. One capture at a time.
class KernelOutput {
 public:
  void begin();
  // Returns the text written since `begin`, and restores the daemon's standard output.
  std::string end();

 private:
  Descriptor own_, caught_;
};

// Whether a program's text or options call printf, comments left out.
bool calls_printf(const std::string& text);

}  // namespace wm::runtime

// What kernels print: a driver writes it to the standard output of its process, which is the daemon's.
#pragma once

#include <string>

#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

// Catches it for as long as one kernel runs that prints. One at a time.
class KernelOutput {
 public:
  void begin();
  // What came since then; the daemon has its output back.
  std::string end();

 private:
  Descriptor own_, caught_;
};

// Whether a program's text or options call printf, comments left out.
bool calls_printf(const std::string& text);

}  // namespace wm::runtime

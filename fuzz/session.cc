// Any sequence of messages to the daemon ends, and leaks nothing.
#include "fuzz/session_run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!wm::fuzz::run_session({data, size})) __builtin_trap();
  return 0;
}

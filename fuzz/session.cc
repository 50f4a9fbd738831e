// Any conversation with the daemon ends, and leaves nothing behind.
#include "fuzz/session_run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!wm::fuzz::run_session({data, size})) __builtin_trap();
  return 0;
}

// The signals that end a daemon, as a descriptor.
#pragma once

#include "runtime/protocol/descriptor.h"

namespace wm::cli {

// Can be read once SIGINT or SIGTERM has come. To be called before any thread starts, so that only it receives them.
[[nodiscard]] runtime::Descriptor stop_signals();

}  // namespace wm::cli

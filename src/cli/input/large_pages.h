// Large pages of the host for the memory of a simulation: it accesses the state of every SM in turn, which has more
// small pages than a host's translation buffers hold.
#pragma once

namespace wm::cli {

// The heap's next 64 MB come in large pages where the host has them (Linux with glibc); elsewhere nothing happens.
void use_large_pages();

}  // namespace wm::cli

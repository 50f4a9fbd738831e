// Large pages of the host for what a simulation keeps in memory: it goes through the state of every SM in turn, more
// small pages than a host's translation buffers hold.
#pragma once

namespace wm::cli {

// The heap's next 64 MB come in large pages where the host has them (Linux with glibc); elsewhere nothing happens.
void use_large_pages();

}  // namespace wm::cli

// How many groups of a launch a worker takes at a time. More groups cost fewer accesses to the queue of the launch, but
// workers leave between chunks only, and the last chunks end at different times.
#pragma once

#include <cstdint>

namespace wm::rewrite {

struct ChunkRule {
  std::uint32_t groups = 1, room = 1;  // groups of the launch, and workers that the device has room for
  std::uint32_t min = 1, max = 1;      // `min` holds where the time of a launch is not known
  double launch_nanoseconds = 0;       // time of an isolated launch; 0: not known
};

// Each worker finds at least two chunks.
std::uint32_t choose_chunk(const ChunkRule& rule);

}  // namespace wm::rewrite

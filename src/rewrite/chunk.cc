#include "rewrite/chunk.h"

#include <algorithm>

namespace wm::rewrite {

std::uint32_t choose_chunk(const ChunkRule& rule) {
  constexpr double kNanoseconds = 10'000;  // a chunk of several groups takes no longer
  std::uint32_t wanted = rule.min;
  if (rule.launch_nanoseconds > 0) {
    const double rounds = std::max(1.0, static_cast<double>(rule.groups) / rule.room);
    const double fit = kNanoseconds * rounds / rule.launch_nanoseconds;
    wanted = static_cast<std::uint32_t>(std::clamp<double>(fit, rule.min, std::max(rule.min, rule.max)));
  }
  return std::clamp(rule.groups / (2 * std::max(1U, rule.room)), 1U, std::max(1U, wanted));
}

}  // namespace wm::rewrite

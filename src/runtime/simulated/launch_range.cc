#include "runtime/simulated/launch_range.h"

#include "base/number.h"

namespace wm::runtime {

Result<LaunchRange> parse_launch_range(const std::string& text) {
  LaunchRange range;
  if (text.empty()) return range;
  const std::size_t dash = text.find('-');
  const auto first = parse_integer<std::uint64_t>(text.substr(0, dash));
  const auto last =
      dash == std::string::npos ? std::optional(range.last) : parse_integer<std::uint64_t>(text.substr(dash + 1));
  if (!first || !last || *first == 0 || *first > *last)
    return Error{"'" + text + "' is no number of a launch, nor a range as 5-7"};
  return LaunchRange{*first, *last};
}

}  // namespace wm::runtime

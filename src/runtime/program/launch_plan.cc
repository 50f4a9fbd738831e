#include "runtime/program/launch_plan.h"

#include <algorithm>

namespace wm::runtime {
namespace {

// The local size of a launch whose client gave none: along the first dimension, the largest divisor up to `max`.
std::size_t chosen_local(std::size_t global, std::size_t max) {
  for (std::size_t n = std::min<std::size_t>(global, max); n > 1; --n) {
    if (global % n == 0) return n;
  }
  return 1;
}

constexpr std::size_t kMaxChosenLocal = 256;
// For smaller groups the access to the queue of groups would cost too much.
constexpr std::size_t kMinChosenLocal = 16;

}  // namespace

std::uint64_t group_items(const LaunchPlan& plan) {
  std::uint64_t items = 1;
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) items *= plan.local_given ? plan.local[i] : plan.global[i];
  return plan.local_given ? items : std::min(items, std::max<std::uint64_t>(plan.kernel->max_items, 1));
}

std::uint64_t group_count(const LaunchPlan& plan) {
  std::uint64_t items = 1;
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) items *= plan.global[i];
  const std::uint64_t per_group = std::max<std::uint64_t>(group_items(plan), 1);
  return (items + per_group - 1) / per_group;
}

std::optional<double> expected_nanoseconds(const LaunchPlan& plan) {
  const double per_group = plan.kernel->group_nanoseconds;
  return per_group > 0 ? std::optional(per_group * static_cast<double>(group_count(plan))) : std::nullopt;
}

void note_duration(const LaunchPlan& plan, std::uint64_t nanoseconds, bool was_shared) {
  const double per_group = static_cast<double>(nanoseconds) / static_cast<double>(group_count(plan));
  const double known = plan.kernel->group_nanoseconds;
  if (was_shared && known > 0 && per_group >= known) return;
  // The first launch may include its compilation, so a much shorter time replaces the estimate at once.
  plan.kernel->group_nanoseconds = known > 2 * per_group || known <= 0 ? per_group : 0.75 * known + 0.25 * per_group;
}

std::optional<Size3> worker_local_size(const LaunchPlan& plan) {
  if (!plan.form->workers) return std::nullopt;
  Size3 local{1, 1, 1};
  std::uint64_t groups = 1, items = 1;
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) {
    if (plan.local_given) local[i] = plan.local[i];
    if (!plan.local_given && i == 0) {
      local[0] = chosen_local(plan.global[0], std::min<std::size_t>(kMaxChosenLocal, plan.form->max_items));
      if (local[0] < kMinChosenLocal) return std::nullopt;
    }
    if (plan.global[i] % local[i] != 0) return std::nullopt;  // groups of different sizes
    groups *= plan.global[i] / local[i];
    items *= local[i];
    if (groups >= (std::uint64_t{1} << 31) - 1) return std::nullopt;
  }
  // One group cannot be divided. A form that needs more registers may not take groups as large as the original does.
  if (groups < 2 || items > plan.form->max_items) return std::nullopt;
  return local;
}

}  // namespace wm::runtime

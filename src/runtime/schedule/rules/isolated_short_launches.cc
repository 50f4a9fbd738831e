#include "runtime/schedule/rules/isolated_short_launches.h"

#include <fmt/format.h>

namespace wm::runtime {
namespace {

constexpr std::uint64_t kSharedNanoseconds = 100'000'000;
constexpr double kLeavesAt = 1.25;  // times the limit, for a kernel that runs unmodified

}  // namespace

std::string IsolatedShortLaunches::description() const {
  return fmt::format(
      "launches below {:g} µs of a client that has been isolated for {:g} s run unmodified and pipelined, and as "
      "workers again above {:g} µs",
      limit_ * 1e-3, static_cast<double>(kSharedNanoseconds) * 1e-9, kLeavesAt * limit_ * 1e-3);
}

bool IsolatedShortLaunches::is_isolated(const LaunchQuery& query) const {
  const bool was_shared = query.shared_until != 0 && clock_.now() - query.shared_until < kSharedNanoseconds;
  return query.isolated && !was_shared;
}

bool IsolatedShortLaunches::runs_unmodified(const LaunchQuery& query) const {
  if (!query.expected || !is_isolated(query)) return false;
  return *query.expected < limit_ * (query.plan.kernel->ran_unmodified ? kLeavesAt : 1);
}

bool IsolatedShortLaunches::may_pipeline(const LaunchQuery& query) const {
  return query.plan.may_run_unmodified && runs_unmodified(query) &&
         *query.expected + query.ahead < pipeline_budget(query.isolated);
}

}  // namespace wm::runtime

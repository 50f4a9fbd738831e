#include "runtime/schedule/rules/short_launches.h"

#include <fmt/format.h>

namespace wm::runtime {

std::string ShortLaunches::description() const {
  const std::string shared = only_isolated_ ? "" : fmt::format(", below {:g} µs beside other clients", limit_ * 1e-3);
  return fmt::format("launches below {:g} µs of an isolated client{} run unmodified and pipelined", 3 * limit_ * 1e-3,
                     shared);
}

// Short, behind its client's other launches, enough not to delay a newly arrived client; or, beside other clients on a
// device with many compute units, shorter than observing its end and submitting the next would take. A client counts as
// isolated while the policy holds the kernels of all others.
bool ShortLaunches::runs_unmodified(const LaunchQuery& query) const {
  if (!query.isolated && only_isolated_) return false;
  return query.expected && *query.expected + query.ahead < pipeline_budget(query.isolated || query.has_device);
}

bool ShortLaunches::may_pipeline(const LaunchQuery& query) const {
  return query.plan.may_run_unmodified && runs_unmodified(query);
}

}  // namespace wm::runtime

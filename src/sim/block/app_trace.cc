#include "sim/block/app_trace.h"

#include <fmt/format.h>

namespace wm::sim {

std::uint64_t to_cycles(Picoseconds time, Hertz clock) {
  // Seconds and the rest apart, so that neither product overflows.
  constexpr std::uint64_t kSecond = 1'000'000'000'000;
  const std::uint64_t rest = time.count % kSecond;
  const std::uint64_t kilohertz = clock.count / 1000;
  return time.count / kSecond * clock.count + (rest * kilohertz + 500'000'000) / 1'000'000'000;
}

Result<BoundApp> bind_app(const AppTrace& app, const gpu::SmLimits& sm, Hertz clock,
                          const std::vector<std::uint32_t>& shared_configurations) {
  BoundApp bound{.name = app.name, .kernels = {}, .steps = app.steps, .streams = app.streams};
  for (std::uint32_t i = 0; i < app.kernels.size(); ++i) {
    auto model = place_kernel(app.kernels[i], sm, clock, shared_configurations);
    if (!model) return Error{fmt::format("application '{}': {}", app.name, model.error().what)};
    bound.kernels.push_back(*std::move(model));
    bound.kernels.back().function = i;
  }
  for (TraceStep& s : bound.steps)
    if (s.kind == TraceStep::Kind::cpu) s.amount = to_cycles({s.amount}, clock);
  return bound;
}

}  // namespace wm::sim

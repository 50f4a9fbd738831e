#include "lab/run/participant.h"

namespace wm::lab {

sim::ClientSpec client_spec(const Participant& p, double goal, double isolated_ipc) {
  sim::ClientSpec s;
  s.name = p.name;
  s.module = p.module;
  s.file = p.ptx_file;
  s.application = p.application;
  s.entry = p.entry;
  s.launches = p.launches;
  s.blocks_per_sm = p.blocks_per_sm;
  s.arrive = p.arrive;
  s.priority = p.priority;
  s.share = p.share;
  s.goal = goal;
  s.isolated_ipc = isolated_ipc;
  return s;
}

std::uint64_t blocks_of(const Participant& p) {
  std::uint64_t blocks = 0;
  for (const gpu::Step& step : p.application->steps) {
    const auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch != nullptr && (p.entry.empty() || launch->kernel == p.entry)) blocks += launch->grid.count();
  }
  return blocks * p.launches;
}

}  // namespace wm::lab

#include "lab/run/starvation.h"

namespace wm::lab {
namespace {

constexpr std::uint64_t kParts = 10;
constexpr double kStarvedRate = 0.05;  // as a fraction of the isolated rate

}  // namespace

void Starvation::look(const sim::CycleMachine& machine) {
  const std::uint64_t now = machine.now().count;
  if (now * kParts < cycles_ * samples_.size() || cycles_ == 0 || samples_.size() > kParts) return;
  Sample sample{.at = now, .instructions = {}, .finished = {}};
  for (std::uint32_t i = 0; i < machine.clients(); ++i) {
    const sim::ClientTotals totals = machine.totals(i);
    sample.instructions.push_back(totals.sm.thread_instructions);
    sample.finished.push_back(totals.finished);
  }
  samples_.push_back(std::move(sample));
}

double Starvation::part(std::uint32_t client, std::uint64_t arrival, double isolated_ipc) const {
  std::size_t parts = 0;
  std::size_t starved = 0;
  for (std::size_t i = 1; i < samples_.size(); ++i) {
    const Sample& begin = samples_[i - 1];
    const Sample& end = samples_[i];
    if (begin.at < arrival || end.at == begin.at || end.finished[client]) continue;
    const auto instructions = static_cast<double>(end.instructions[client] - begin.instructions[client]);
    ++parts;
    if (instructions < kStarvedRate * isolated_ipc * static_cast<double>(end.at - begin.at)) ++starved;
  }
  return parts == 0 ? 0 : static_cast<double>(starved) / static_cast<double>(parts);
}

}  // namespace wm::lab

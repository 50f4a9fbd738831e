#include "lab/run/measured_region.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

namespace wm::lab {
namespace {

// A struct of counters consists of 64-bit numbers only.
template <class Counters>
Counters difference(const Counters& after, const Counters& before) {
  static_assert(std::has_unique_object_representations_v<Counters>);
  using Words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
  auto words = std::bit_cast<Words>(after);
  const auto base = std::bit_cast<Words>(before);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] -= base[i];
  return std::bit_cast<Counters>(words);
}

}  // namespace

void MeasuredRegion::look(const sim::CycleMachine& machine) {
  if (begun_ || machine.now().count < start_.cycles) return;
  std::vector<sim::ClientTotals> totals;
  for (std::uint32_t i = 0; i < machine.clients(); ++i) {
    totals.push_back(machine.totals(i));
    if (totals.back().launches < start_.launches) return;
  }
  begun_ = true;
  first_cycle_ = machine.now().count;
  gated_before_ = machine.gated_cycles();
  before_ = std::move(totals);
}

Result<sim::ClientTotals> MeasuredRegion::within(std::uint32_t client, Cycles arrival, sim::ClientTotals totals) const {
  if (!start_.given()) return totals;
  if (!begun_) return Error{"the run ends before the measurement begins; --warm or --from is too large"};
  const sim::ClientTotals& before = before_[client];
  // A machine reports the cycles of a client when it ends.
  const std::uint64_t cycles_before = first_cycle_ - std::min(first_cycle_, arrival.count);
  if (totals.cycles <= cycles_before)
    return Error{
        "nothing of a kernel is left to measure; make --warm or --from smaller, or let it repeat (--cycles without "
        "--once)"};
  totals.sm = difference(totals.sm, before.sm);
  totals.memory = difference(totals.memory, before.memory);
  totals.cycles -= cycles_before;
  totals.blocks -= before.blocks;
  totals.launches -= before.launches;
  totals.preemptions -= before.preemptions;
  return totals;
}

}  // namespace wm::lab

#include "sim/block/kernel_table.h"

#include <utility>

namespace wm::sim {

policy::KernelId KernelTable::add(BlockClientSpec spec) {
  clients_.emplace_back();
  clients_.back().spec = std::move(spec);
  return {static_cast<std::uint32_t>(clients_.size() - 1)};
}

void KernelTable::arrive(policy::KernelId client, const KernelModel& model, Cycles now, Cycles starts) {
  Client& c = clients_[client.index];
  c.model = &model;
  c.instructions_per_cycle = model.instructions_per_cycle();
  // Equal for the n-th launch of a client in every run, whatever the policy.
  c.launch_seed = mix_bits(seed_ ^ mix_bits((std::uint64_t{client.index} << 32) + c.arrivals));
  c.next_block = 0;
  c.starts = starts;
  if (c.arrivals++ == 0) c.first_arrived = now;
  c.place = static_cast<std::uint32_t>(active_.size());

  policy::Kernel k;
  k.id = client;
  k.process = c.spec.process == kOwnBlockProcess ? client.index : c.spec.process;
  k.function = model.function;
  k.launch = static_cast<std::uint32_t>(c.arrivals - 1);
  k.priority = c.spec.priority;
  k.share = c.spec.share;
  k.goal = c.spec.goal;
  k.isolated_ipc = c.spec.isolated_ipc;
  k.first_arrived = c.first_arrived;
  k.arrived = now;
  k.instructions = c.totals.instructions;
  k.warps_per_block = model.warps_per_block;
  k.footprint = model.footprint;
  k.max_blocks_per_sm = model.max_blocks_per_sm;
  k.blocks = model.blocks;
  k.waiting = model.blocks;
  active_.push_back(k);
}

void KernelTable::remove(policy::KernelId client, Cycles now) {
  Client& c = clients_[client.index];
  ++c.totals.launches;
  c.totals.last_end = now;
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(c.place));
  for (std::uint32_t i = c.place; i < active_.size(); ++i) clients_[active_[i].id.index].place = i;
  c.place = kInactive;
}

void KernelTable::end_replacing(std::uint32_t client, const Replacement& r) {
  Client& c = clients_[client];
  policy::Kernel& k = active_[c.place];
  const std::uint32_t blocks = r.next_block - c.next_block;
  c.next_block = r.next_block;
  c.totals.instructions += r.instructions;
  c.totals.blocks += blocks;
  k.done += blocks;
  k.waiting -= blocks;
}

BlockWork KernelTable::take_block(std::uint32_t client, bool& resumed) {
  Client& c = clients_[client];
  resumed = false;
  if (!c.preempted.empty()) {
    const BlockWork work = c.preempted.front();
    c.preempted.pop_front();
    resumed = work.left < duration_of(c, work.block);
    return work;
  }
  return take_new_block(client);
}

}  // namespace wm::sim

// Blocks onto SMs: one an SM and turn, as hardware deals them out, where ownership, caps and room allow.
#include <algorithm>

#include "sim/cycle/machine.h"

namespace wm::sim {

void CycleMachine::place() {
  if (!dirty_) return;
  dirty_ = false;
  // The dispatcher starts one block a cycle.
  std::uint64_t budget = chip_.quantum();
  // Round and round, going on where it stopped: no SM gets a second block before the others had their chance.
  const auto count = static_cast<std::uint32_t>(sms_.size());
  for (std::uint32_t refused = 0; refused < count && budget != 0; first_sm_ = (first_sm_ + 1) % count) {
    const bool placed = place_one(first_sm_);
    refused = placed ? 0 : refused + 1;
    budget -= placed ? 1 : 0;
  }
  const bool soon = std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
    return lane.state == Lane::State::active && lane.starts > chip_.now();
  });
  if (budget == 0 || soon) dirty_ = true;  // perhaps not all: the rest in a later quantum
}

// SMs that have become empty, once nothing more can be placed. True: someone was told and may have acted on it.
bool CycleMachine::tell_idle(policy::Policy& policy) {
  if (dirty_) return false;
  bool told = false;
  for (std::uint32_t s = 0; s < sms_.size(); ++s) {
    if (sms_[s].state != policy::Sm::State::on || sms_[s].resident != 0 || idle_told_[s]) continue;
    idle_told_[s] = true;
    told = true;
    policy.on(policy::SmIdle{{s}}, *this);
  }
  return told;
}

bool CycleMachine::place_one(std::uint32_t s) {
  const policy::Sm& sm = sms_[s];
  if (sm.state != policy::Sm::State::on) return false;
  const auto fits = [&](const policy::Kernel& k) {
    if (k.waiting == 0 || lanes_[k.id.index].starts > chip_.now()) return false;
    if (sm.owner != policy::kNobody && sm.owner != k.id) return false;
    const policy::Slot& slot = slots_[s][k.id.index];
    return slot.resident < std::min(slot.cap, k.most) && gpu::fit(k.footprint, sm.free) != 0;
  };
  for (const policy::KernelId id : order_) {
    policy::Kernel* k = view(id.index);
    if (k == nullptr || !fits(*k)) continue;
    start_block(s, *k);
    return true;
  }
  for (policy::Kernel& k : kernels_) {
    if (std::find(order_.begin(), order_.end(), k.id) != order_.end() || !fits(k)) continue;
    start_block(s, k);
    return true;
  }
  return false;
}

// Takes the block's room in the tables.
void CycleMachine::enter(std::uint32_t s, policy::Kernel& kernel) {
  sms_[s].free = gpu::less(sms_[s].free, kernel.footprint);
  ++sms_[s].resident;
  idle_told_[s] = false;
  ++slots_[s][kernel.id.index].resident;
  ++kernel.resident;
  --kernel.waiting;
}

void CycleMachine::start_block(std::uint32_t s, policy::Kernel& kernel) {
  Lane& lane = lanes_[kernel.id.index];
  enter(s, kernel);
  if (!lane.set_aside.empty()) {
    std::unique_ptr<BlockRun> run = std::move(lane.set_aside.front());
    lane.set_aside.erase(lane.set_aside.begin());
    if (observer_ != nullptr) observer_->began(seen(s, *run), chip_.now(), true);
    const std::uint32_t token =
        chip_.sm(s).move_context(MessageKind::read, lane.context_bytes, context_place(*run), run->kernel.slot);
    moving_.push_back({std::move(run), s, token, false});
    return;
  }
  std::unique_ptr<BlockRun> run;
  if (spare_runs_.empty()) {
    run = std::make_unique<BlockRun>();
  } else {
    run = std::move(spare_runs_.back());
    spare_runs_.pop_back();
  }
  run->kernel = lane.running;
  run->number = lane.next_block++;
  run->started = chip_.now();
  run->begun = false;
  if (observer_ != nullptr) observer_->began(seen(s, *run), chip_.now(), false);
  chip_.sm(s).start(std::move(run), chip_.now());
}

}  // namespace wm::sim

// Places blocks on SMs: one block per SM and round, as hardware does, where ownership, caps and free resources allow.
#include <algorithm>
#include <functional>
#include <utility>

#include "sim/cycle/machine.h"

namespace wm::sim {

void CycleMachine::place() {
  if (!dirty_) return;
  dirty_ = false;
  take_back_offers();
  // The dispatcher starts one block a cycle.
  const std::uint64_t max_length = chip_.reach();
  std::uint64_t placed = 0;
  // Round robin, continuing behind the last SM: no SM gets a second block before the others were considered.
  const auto count = static_cast<std::uint32_t>(sms_.size());
  for (std::uint32_t refused = 0; refused < count && placed != max_length;
       placing_.first_sm = (placing_.first_sm + 1) % count) {
    const bool one = place_one(placing_.first_sm, chip_.now() + placed);
    refused = one ? 0 : refused + 1;
    placed += one ? 1 : 0;
  }
  const bool soon = std::any_of(client_runs_.begin(), client_runs_.end(), [&](const ClientRun& client_run) {
    return client_run.state == ClientRun::State::active && client_run.starts > chip_.now();
  });
  if (placed == max_length || soon) dirty_ = true;  // some blocks may be left for a later quantum
}

// SMs that have become empty, once nothing more can be placed. True: the policy was told and may have acted.
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

policy::Kernel* CycleMachine::next_for(std::uint32_t s, const policy::Kernel* leaving) {
  const policy::Sm& sm = sms_[s];
  if (sm.state != policy::Sm::State::on) return nullptr;
  const gpu::Resources free = leaving == nullptr ? sm.free : gpu::more(sm.free, leaving->footprint);
  const auto fits = [&](const policy::Kernel& k) {
    if (k.waiting == 0 || client_runs_[k.id.index].starts > chip_.now()) return false;
    if (sm.owner != policy::kNoKernel && sm.owner != k.id) return false;
    const policy::ResidentKernel& on_sm = residents_[s][k.id.index];
    const std::uint32_t resident = on_sm.resident - (&k == leaving ? 1 : 0);
    return resident < std::min(on_sm.cap, k.max_blocks_per_sm) && gpu::fit(k.footprint, free) != 0;
  };
  for (const policy::KernelId id : order_) {
    policy::Kernel* k = view(id.index);
    if (k != nullptr && fits(*k)) return k;
  }
  for (policy::Kernel& k : kernels_)
    if (std::find(order_.begin(), order_.end(), k.id) == order_.end() && fits(k)) return &k;
  return nullptr;
}

bool CycleMachine::place_one(std::uint32_t s, std::uint64_t at) {
  policy::Kernel* k = next_for(s, nullptr);
  if (k == nullptr) return false;
  start_block(s, *k, at);
  return true;
}

// Offers blocks that may follow those that end within the next quantum, on SMs where the next block would be of the
// same kernel anyway: one per SM and round, as many as there are block slots. Preempted blocks are placed only at the
// quantum's end. Offers stand for later quanta until something changes that blocks are placed by.
void CycleMachine::offer_blocks() {
  if (std::exchange(placing_.offered, true)) return;
  for (policy::Kernel& k : kernels_) {
    ClientRun& client_run = client_runs_[k.id.index];
    if (!client_run.set_aside.empty() || k.waiting == 0) continue;
    std::vector<std::uint32_t>& sms = placing_.followed;  // where the kernel's blocks may be followed
    find_followed(k, sms);
    std::uint32_t left = k.waiting;
    for (std::uint32_t turn = 1; !sms.empty() && left != 0; ++turn) {
      for (const std::uint32_t s : sms) {
        chip_.sm(s).offer({static_cast<std::uint8_t>(k.id.index), client_run.take_number()});
        if (--left == 0) break;
      }
      std::erase_if(sms, [&](std::uint32_t s) { return residents_[s][k.id.index].resident <= turn; });
    }
  }
}

// The SMs where the next block would be of the same kernel when one of its blocks ends, in the order of the rounds.
void CycleMachine::find_followed(const policy::Kernel& k, std::vector<std::uint32_t>& sms) {
  const auto count = static_cast<std::uint32_t>(sms_.size());
  sms.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t s = (placing_.first_sm + i) % count;
    if (residents_[s][k.id.index].resident != 0 && next_for(s, &k) == &k) sms.push_back(s);
  }
}

// Offered blocks that did not start wait again, in the order of their numbers.
void CycleMachine::take_back_offers() {
  if (!std::exchange(placing_.offered, false)) return;
  for (std::uint32_t s = 0; s < sms_.size(); ++s) {
    for (const OfferedBlock& o : chip_.sm(s).offers()) client_runs_[o.kernel_index].given_back.push_back(o.number);
    chip_.sm(s).clear_offers();
  }
  for (ClientRun& client_run : client_runs_)
    std::sort(client_run.given_back.begin(), client_run.given_back.end(), std::greater<>());
}

// Subtracts the block's resources in the tables.
void CycleMachine::enter(std::uint32_t s, policy::Kernel& kernel) {
  sms_[s].free = gpu::less(sms_[s].free, kernel.footprint);
  ++sms_[s].resident;
  idle_told_[s] = false;
  ++residents_[s][kernel.id.index].resident;
  ++kernel.resident;
  --kernel.waiting;
}

void CycleMachine::start_block(std::uint32_t s, policy::Kernel& kernel, std::uint64_t at) {
  ClientRun& client_run = client_runs_[kernel.id.index];
  enter(s, kernel);
  if (!client_run.set_aside.empty()) {
    std::unique_ptr<BlockRun> run = std::move(client_run.set_aside.front());
    client_run.set_aside.erase(client_run.set_aside.begin());
    if (observer_ != nullptr) observer_->began(seen(s, run->kernel.kernel_index, run->number), chip_.now(), true);
    const std::uint32_t token = chip_.sm(s).move_context(MessageKind::read, client_run.context_bytes,
                                                         context_place(*run), run->kernel.kernel_index);
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
  run->kernel = client_run.running;
  run->number = client_run.take_number();
  run->started = at;
  run->begun = false;
  if (observer_ != nullptr) observer_->began(seen(s, run->kernel.kernel_index, run->number), at, false);
  chip_.sm(s).start(std::move(run), at);
}

}  // namespace wm::sim

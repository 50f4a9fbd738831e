#include "policy/fake_machine.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace wm::policy::test {

FakeMachine::FakeMachine(FakeSpec spec)
    : spec_(std::move(spec)),
      random_(spec_.seed),
      sms_(spec_.sms),
      residents_(spec_.sms),
      blocks_(spec_.sms),
      idle_told_(spec_.sms, true),
      wakes_up_(spec_.sms, kNever) {
  for (std::uint32_t i = 0; i < spec_.sms; ++i) sms_[i] = {.id = {i}, .index = i, .free = spec_.limits.total};
}

void FakeMachine::start(const std::string& text) {
  auto choice = choose(text);
  if (!choice) throw std::runtime_error(choice.error().to_string());
  start(*choice);
}

void FakeMachine::start(const Choice& choice) {
  auto made = make(choice, spec_.cans, "fake");
  if (!made) throw std::runtime_error(made.error().to_string());
  policy_ = *std::move(made);
  recorder_ = std::make_unique<Recorder>(*this, choice.needs() | choice.entry->info.uses);
  post(Started{});
  settle();
}

KernelId FakeMachine::arrive(FakeKernel kernel) {
  arrive_together({std::move(kernel)});
  return {static_cast<std::uint32_t>(clients_.size() - 1)};
}

void FakeMachine::arrive_together(std::vector<FakeKernel> kernels) {
  for (FakeKernel& kernel : kernels) {
    const KernelId id{static_cast<std::uint32_t>(clients_.size())};
    clients_.push_back({.spec = std::move(kernel), .view = {}, .preempted = {}});
    for (auto& row : residents_) row.emplace_back();
    for (auto& row : blocks_) row.emplace_back();
    launch(id);
  }
  settle();
}

void FakeMachine::wake_at(Cycles when, std::uint64_t tag) {
  if (when > now_) {
    wakes_.push_back({when, tag});
  } else {
    post(Wake{tag});
  }
}

void FakeMachine::launch(KernelId id) {
  Client& c = clients_[id.index];
  const bool first = c.launches == 0;
  if (!first && c.spec.next_block) c.spec.block = *c.spec.next_block;
  Kernel& k = c.view;
  k = {.id = id,
       .process = c.spec.process == ~0U ? ~id.index : c.spec.process,
       .function = c.spec.alternates             ? c.launches % 2
                   : !first && c.spec.next_block ? 1U
                                                 : 0U,
       .launch = c.launches++,
       .priority = c.spec.priority,
       .share = c.spec.share,
       .goal = c.spec.goal,
       .isolated_ipc = c.spec.isolated_ipc,
       .first_arrived = first ? now_ : k.first_arrived,
       .arrived = now_,
       .instructions = c.instructions,
       .warps_per_block = (c.spec.block.threads + 31) / 32,
       .footprint = gpu::footprint(c.spec.block, spec_.limits),
       .blocks = c.spec.blocks,
       .waiting = c.spec.blocks};
  k.max_blocks_per_sm = gpu::fit(k.footprint, spec_.limits.total);
  kernels_.push_back(k);
  post(KernelArrived{id});
}

Kernel* FakeMachine::view(KernelId id) {
  const auto at = std::find_if(kernels_.begin(), kernels_.end(), [id](const Kernel& k) { return k.id == id; });
  return at == kernels_.end() ? nullptr : &*at;
}

template <typename Event>
void FakeMachine::post(const Event& event) {
  if (std::is_same_v<Event, KernelArrived> || std::is_same_v<Event, KernelDone>) kernel_set_changed_ = true;
  events_.emplace_back([this, event] { recorder_->tell(*policy_, event); });
}

void FakeMachine::deliver() {
  while (!events_.empty() || kernel_set_changed_) {
    if (events_.empty()) {
      kernel_set_changed_ = false;
      post(KernelSetChanged{});
    }
    const auto event = std::move(events_.front());
    events_.pop_front();
    event();
  }
}

void FakeMachine::settle() {
  do {
    deliver();
    dispatch();
    for (Sm& sm : sms_) {
      if (sm.state != Sm::State::on || sm.resident != 0 || idle_told_[sm.index]) continue;
      idle_told_[sm.index] = true;
      post(SmIdle{sm.id});
    }
  } while (!events_.empty());
}

std::vector<KernelId> FakeMachine::dispatch_order() const {
  std::vector<KernelId> all;
  for (const KernelId id : order_) {
    if (find(id) != nullptr) all.push_back(id);
  }
  for (const Kernel& k : kernels_) {
    if (std::find(all.begin(), all.end(), k.id) == all.end()) all.push_back(k.id);
  }
  return all;
}

void FakeMachine::dispatch() {
  for (const KernelId id : dispatch_order()) {
    for (bool any = true; any;) {  // one block an SM in each round
      any = false;
      for (const Sm& sm : sms_) any |= start_block(sm.id, id);
    }
  }
}

bool FakeMachine::start_block(SmId at, KernelId id) {
  Kernel& k = *view(id);
  Sm& sm = sms_[at.index];
  ResidentKernel& on_sm = residents_[at.index][id.index];
  if (k.waiting == 0 || sm.state != Sm::State::on || (sm.owner != kNoKernel && sm.owner != id)) return false;
  if (on_sm.resident >= on_sm.cap || gpu::fit(k.footprint, sm.free) == 0) return false;
  Client& c = clients_[id.index];
  Block block{.left = static_cast<std::int64_t>(c.spec.block_instructions)};
  if (!c.preempted.empty()) {
    block.left = c.preempted.front().left;
    c.preempted.erase(c.preempted.begin());
  }
  blocks_[at.index][id.index].push_back(block);
  --k.waiting;
  ++k.resident;
  ++on_sm.resident;
  ++sm.resident;
  sm.free = gpu::less(sm.free, k.footprint);
  idle_told_[at.index] = false;
  return true;
}

void FakeMachine::remove_block(SmId at, KernelId id, std::size_t index) {
  auto& here = blocks_[at.index][id.index];
  here.erase(here.begin() + static_cast<std::ptrdiff_t>(index));
  const gpu::Resources& f = clients_[id.index].view.footprint;
  Sm& sm = sms_[at.index];
  sm.free = {sm.free.threads + f.threads, sm.free.registers + f.registers, sm.free.shared_bytes + f.shared_bytes,
             sm.free.blocks + f.blocks};
  --sm.resident;
  --residents_[at.index][id.index].resident;
  if (Kernel* k = view(id)) --k->resident;
  check_reserved(at);
}

// Blocks in the way have left: the SM is its heir's, or off.
void FakeMachine::check_reserved(SmId at) {
  Sm& sm = sms_[at.index];
  if (sm.state == Sm::State::gating && sm.resident == 0) sm.state = Sm::State::off;
  if (sm.state != Sm::State::reserved) return;
  for (std::uint32_t k = 0; k < residents_[at.index].size(); ++k) {
    if (k != sm.next.index && residents_[at.index][k].resident != 0) return;
  }
  sm.owner = sm.next;
  sm.next = kNoKernel;
  sm.state = Sm::State::on;
  idle_told_[at.index] = false;
  post(SmReady{at, sm.owner});
}

void FakeMachine::end_block(SmId at, KernelId id, std::size_t index) {
  if (blocks_[at.index][id.index][index].leaves != kNever)
    --residents_[at.index][id.index].leaving, --sms_[at.index].leaving;
  remove_block(at, id, index);
  Client& c = clients_[id.index];
  ++c.blocks_done;
  if (spec_.cans.has(Can::see_blocks)) post(BlockDone{at, id});
  Kernel* k = view(id);
  if (++k->done < k->blocks) return;
  kernels_.erase(kernels_.begin() + (k - kernels_.data()));
  post(KernelDone{id});
  if (c.spec.launches == 0 || c.launches < c.spec.launches) launch(id);
}

void FakeMachine::relaunch(KernelId id) {
  launch(id);
  settle();
}

void FakeMachine::finish(KernelId id) {
  clients_[id.index].spec.launches = clients_[id.index].launches;
  if (Kernel* k = view(id)) {
    k->done += k->waiting;  // as if they had run
    clients_[id.index].blocks_done += k->waiting;
    k->waiting = 0;
    clients_[id.index].preempted.clear();
    if (k->resident == 0) {
      kernels_.erase(kernels_.begin() + (k - kernels_.data()));
      post(KernelDone{id});
    }
  }
  for (const Sm& sm : sms_) {
    while (!blocks_[sm.index][id.index].empty()) end_block(sm.id, id, 0);
  }
  settle();
}

void FakeMachine::switch_out(SmId at, KernelId id, std::uint32_t count, bool asked) {
  for (Block& b : blocks_[at.index][id.index]) {
    if (count == 0) return;
    if (b.leaves != kNever) continue;
    b.leaves = now_ + spec_.switch_time;
    b.asked = asked;
    ++residents_[at.index][id.index].leaving;
    ++sms_[at.index].leaving;
    --count;
  }
}

void FakeMachine::give(SmId at, KernelId id, Preempt how) {
  Sm& sm = sms_[at.index];
  if (sm.state == Sm::State::off || sm.state == Sm::State::waking) {
    if (sm.state == Sm::State::off) wakes_up_[at.index] = now_ + spec_.wake_time;
    sm.state = Sm::State::waking;
    sm.owner = id;
    return;
  }
  if (sm.state == Sm::State::gating) sm.owner = kNoKernel;
  if (sm.owner == id) {
    sm.state = Sm::State::on;
    sm.next = kNoKernel;
    return;
  }
  bool others = false;
  for (std::uint32_t k = 0; k < residents_[at.index].size(); ++k) {
    if (k == id.index || residents_[at.index][k].resident == 0) continue;
    others = true;
    if (how == Preempt::switch_context) switch_out(at, {k}, kNoCap, false);
  }
  sm.state = others ? Sm::State::reserved : Sm::State::on;
  (others ? sm.next : sm.owner) = id;
  if (!others) sm.next = kNoKernel;
  if (!others && sm.resident == 0) idle_told_[at.index] = false;
}

void FakeMachine::share(SmId at) {
  Sm& sm = sms_[at.index];
  if (sm.state == Sm::State::off) {
    wakes_up_[at.index] = now_ + spec_.wake_time;
    sm.state = Sm::State::waking;
  } else if (sm.state != Sm::State::waking) {
    sm.state = Sm::State::on;
  }
  sm.owner = sm.next = kNoKernel;
}

void FakeMachine::gate(SmId at) {
  Sm& sm = sms_[at.index];
  if (!powered(sm)) return;
  sm.owner = sm.next = kNoKernel;
  sm.state = sm.resident == 0 ? Sm::State::off : Sm::State::gating;
}

void FakeMachine::preempt(SmId sm, KernelId kernel, std::uint32_t blocks) { switch_out(sm, kernel, blocks, true); }

void FakeMachine::add_quota(SmId sm, KernelId kernel, std::int64_t quota) {
  std::int64_t& q = residents_[sm.index][kernel.index].quota;
  q = q == kNoQuota ? quota : q + quota;
}

void FakeMachine::set_epoch(Cycles length) {
  epoch_length_ = length;
  begin_epoch();
}

void FakeMachine::begin_epoch() {
  epoch_began_ = now_;
  for (auto& row : residents_) {
    for (ResidentKernel& s : row) s.counters = {};
  }
}

void FakeMachine::end_epoch() {
  post(Epoch{now_ - epoch_began_});
  deliver();
  begin_epoch();
  settle();
}

void FakeMachine::advance(SmId at, KernelId id, std::int64_t instructions) {
  ResidentKernel& on_sm = residents_[at.index][id.index];
  clients_[id.index].instructions += static_cast<std::uint64_t>(instructions);
  if (Kernel* k = view(id)) k->instructions += static_cast<std::uint64_t>(instructions);
  on_sm.counters.thread_instructions += static_cast<std::uint64_t>(instructions);
  on_sm.counters.warp_instructions += static_cast<std::uint64_t>(instructions / 32);
  on_sm.counters.dram_bytes +=
      static_cast<std::uint64_t>(clients_[id.index].spec.dram_bytes * static_cast<double>(instructions));
  if (on_sm.quota == kNoQuota) return;
  const bool had = on_sm.quota > 0;
  on_sm.quota -= instructions;
  if (had && on_sm.quota <= 0) post(QuotaSpent{at, id});
}

void FakeMachine::spend(SmId sm, KernelId kernel, std::int64_t instructions) {
  advance(sm, kernel, instructions);
  settle();
}

double FakeMachine::rate(SmId at, KernelId id) const {
  const ResidentKernel& on_sm = residents_[at.index][id.index];
  const std::uint32_t running = on_sm.resident - on_sm.leaving;
  if (running == 0 || on_sm.quota <= 0) return 0;
  const auto& curve = clients_[id.index].spec.ipc;
  if (curve.empty()) return 32.0 * running;
  return curve[std::min<std::size_t>(running, curve.size()) - 1];
}

void FakeMachine::progress() {
  const std::size_t n = clients_.size();
  std::vector<std::vector<double>> rates(sms_.size(), std::vector<double>(n));
  std::vector<double> total(n);
  for (const Sm& sm : sms_) {
    double sum = 0;
    for (std::uint32_t k = 0; k < n; ++k) sum += rates[sm.index][k] = rate(sm.id, {k});
    for (std::uint32_t k = 0; k < n; ++k) {
      if (sum > spec_.sm_ipc) rates[sm.index][k] *= spec_.sm_ipc / sum;
      total[k] += rates[sm.index][k];
    }
  }
  for (const Sm& sm : sms_) {
    for (std::uint32_t k = 0; k < n; ++k) {
      const FakeKernel& spec = clients_[k].spec;
      double r = rates[sm.index][k];
      if (spec.max_ipc > 0 && total[k] > spec.max_ipc) r *= spec.max_ipc / total[k];
      ResidentKernel& on_sm = residents_[sm.index][k];
      if (on_sm.resident > 0) {
        on_sm.counters.idle_warps = spec.idle_warps;
        on_sm.counters.memory_stall_cycles +=
            static_cast<std::uint64_t>(std::llround(spec.memory_stalls * static_cast<double>(spec_.step.count)));
        on_sm.counters.lsu_blocked_cycles +=
            static_cast<std::uint64_t>(std::llround(spec.lsu_blocked * static_cast<double>(spec_.step.count)));
      }
      auto instructions = std::llround(r * static_cast<double>(spec_.step.count));
      if (on_sm.quota != kNoQuota) instructions = std::min<long long>(instructions, on_sm.quota);
      if (instructions <= 0) continue;
      advance(sm.id, {k}, instructions);
      auto& here = blocks_[sm.index][k];
      const std::int64_t per_block = instructions / (on_sm.resident - on_sm.leaving);
      for (Block& b : here) {
        if (b.leaves == kNever) b.left -= per_block;
      }
    }
  }
}

void FakeMachine::step() {
  progress();
  now_ += spec_.step;
  for (const Sm& sm : sms_) {
    for (std::uint32_t k = 0; k < clients_.size(); ++k) {
      auto& here = blocks_[sm.index][k];
      std::uint32_t left = 0;
      for (std::size_t i = 0; i < here.size();) {
        if (here[i].leaves != kNever && here[i].leaves <= now_) {
          clients_[k].preempted.push_back({.left = here[i].left});
          left += here[i].asked ? 1 : 0;
          --residents_[sm.index][k].leaving;
          --sms_[sm.index].leaving;
          remove_block(sm.id, {k}, i);
          if (Kernel* v = view({k})) ++v->waiting;
        } else if (here[i].left <= 0) {
          end_block(sm.id, {k}, i);
        } else {
          ++i;
        }
      }
      if (left != 0) post(Preempted{sm.id, {k}, left});
    }
    if (sms_[sm.index].state == Sm::State::waking && wakes_up_[sm.index] <= now_) {
      sms_[sm.index].state = Sm::State::on;
      post(SmReady{sm.id, sm.owner});
    }
  }
  for (std::size_t i = 0; i < wakes_.size();) {
    if (wakes_[i].when > now_) {
      ++i;
      continue;
    }
    const std::uint64_t tag = wakes_[i].tag;
    wakes_.erase(wakes_.begin() + static_cast<std::ptrdiff_t>(i));
    post(Wake{tag});
  }
  settle();
  if (epoch_length_.count != 0 && now_ >= epoch_began_ + epoch_length_) end_epoch();
  if (check_) check_(*this);
}

void FakeMachine::run(Cycles length) {
  for (const Cycles end = now_ + length; now_ < end;) step();
}

void FakeMachine::run_until_done(Cycles at_most) {
  for (const Cycles end = now_ + at_most; now_ < end && !all_done();) step();
}

double FakeMachine::ipc(KernelId id) const {
  return static_cast<double>(clients_[id.index].instructions) / static_cast<double>(now_.count);
}

std::string FakeMachine::owners() const {
  std::string all;
  for (const Sm& sm : sms_) {
    const KernelId id = eventual_owner(sm);
    all += !powered(sm) ? '-' : id == kNoKernel ? '.' : clients_[id.index].spec.name[0];
  }
  return all;
}

std::string FakeMachine::caps(KernelId id) const {
  std::string all;
  for (const auto& row : residents_) {
    const std::uint32_t cap = row[id.index].cap;
    all += cap == kNoCap ? "*" : std::to_string(cap);
  }
  return all;
}

}  // namespace wm::policy::test

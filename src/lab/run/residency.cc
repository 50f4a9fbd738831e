#include "lab/run/residency.h"

#include <algorithm>

namespace wm::lab {

void Residency::see(const sim::CycleMachine& machine) {
  const std::uint64_t now = machine.now().count;
  const auto cycles = static_cast<double>(now - last_);
  last_ = now;
  const gpu::Resources& sm = machine.limits().total;
  const auto sms = static_cast<double>(machine.sms().size());
  for (const policy::Kernel& k : machine.kernels()) {
    const double blocks = cycles * k.resident / sms;
    threads_ += blocks * k.footprint.threads / sm.threads;
    registers_ += blocks * k.footprint.registers / sm.registers;
    if (sm.shared_bytes > 0) shared_ += blocks * k.footprint.shared_bytes / sm.shared_bytes;
  }
  if (now >= looked_ + kLook) {
    look(machine);
    looked_ = now;
  }
  if (now >= noted_ + kNote) {
    note(machine);
    noted_ = now;
  }
}

void Residency::look(const sim::CycleMachine& machine) {
  for (const policy::Sm& sm : machine.sms()) {
    ++looks_;
    if (sm.state == policy::Sm::State::off) gated_ += 1;
    if (sm.resident == 0) continue;
    std::vector<std::uint32_t> blocks;
    for (const policy::ResidentKernel& s : machine.residents(sm.id)) blocks.push_back(s.resident);
    if (std::count_if(blocks.begin(), blocks.end(), [](std::uint32_t n) { return n > 0; }) < 2) continue;
    ++together_;
    ++combinations_[blocks];
  }
}

void Residency::note(const sim::CycleMachine& machine) {
  owned_.resize(machine.clients());
  std::vector<std::uint32_t> owned(machine.clients(), 0);
  std::uint32_t off = 0;
  for (const policy::Sm& sm : machine.sms()) {
    if (sm.state == policy::Sm::State::off) ++off;
    if (sm.state == policy::Sm::State::on && sm.owner != policy::kNoKernel) ++owned[sm.owner.index];
  }
  for (std::size_t i = 0; i < owned.size(); ++i) owned_[i].push_back(owned[i]);
  off_.push_back(off);
}

Held Residency::held() const {
  const double cycles = std::max<double>(1, static_cast<double>(last_));
  const double looks = std::max<double>(1, static_cast<double>(looks_));
  return {threads_ / cycles, registers_ / cycles, shared_ / cycles, gated_ / looks,
          static_cast<double>(together_) / looks};
}

std::vector<std::uint32_t> Residency::partition() const {
  const auto commonest = std::max_element(combinations_.begin(), combinations_.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
  return commonest == combinations_.end() ? std::vector<std::uint32_t>{} : commonest->first;
}

}  // namespace wm::lab

#include "policy/record.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace wm::policy {
namespace {

std::string k(KernelId id) { return fmt::format("k{}", id.index); }
std::string sm(SmId id) { return fmt::format("sm {}", id.index); }

}  // namespace

std::string Recorder::to_string(const KernelArrived& e) { return k(e.kernel) + " arrived"; }
std::string Recorder::to_string(const KernelDone& e) { return k(e.kernel) + " done"; }
std::string Recorder::to_string(const SmIdle& e) { return sm(e.sm) + " idle"; }
std::string Recorder::to_string(const SmReady& e) {
  return fmt::format("{} ready{}", sm(e.sm), e.owner == kNoKernel ? "" : " for " + k(e.owner));
}
std::string Recorder::to_string(const Preempted& e) {
  return fmt::format("{} preempted on {}, {} blocks", k(e.kernel), sm(e.sm), e.blocks);
}
std::string Recorder::to_string(const QuotaSpent& e) {
  return fmt::format("quota of {} spent on {}", k(e.kernel), sm(e.sm));
}
std::string Recorder::to_string(const Epoch&) { return "epoch"; }
std::string Recorder::to_string(const Wake& e) { return fmt::format("wake {}", e.tag); }

void Recorder::hold_to_word(Can can) const {
  if (!declared_.has(can)) {
    throw std::logic_error(fmt::format("the policy uses '{}' and did not declare it", name(can)));
  }
}

void Recorder::give(SmId id, KernelId kernel, Preempt how) {
  hold_to_word(Can::own_sms);
  hold_to_word(how == Preempt::drain ? Can::drain : Can::switch_context);
  const Sm& at = sms()[id.index];
  if (!powered(at) || eventual_owner(at) != kernel) {
    note("give", id, fmt::format("to {}, {}", k(kernel), how == Preempt::drain ? "drain" : "switch"));
  }
  inner_.give(id, kernel, how);
}

void Recorder::share(SmId id) {
  hold_to_word(Can::own_sms);
  const Sm& at = sms()[id.index];
  if (!powered(at) || eventual_owner(at) != kNoKernel) note("share", id, "");
  inner_.share(id);
}

void Recorder::cap(SmId id, KernelId kernel, std::uint32_t blocks) {
  hold_to_word(Can::cap_blocks);
  if (residents(id)[kernel.index].cap != blocks) {
    note("cap", id,
         blocks == kNoCap ? fmt::format("{} at nothing", k(kernel)) : fmt::format("{} at {}", k(kernel), blocks));
  }
  inner_.cap(id, kernel, blocks);
}

void Recorder::preempt(SmId id, KernelId kernel, std::uint32_t blocks) {
  hold_to_word(Can::switch_some);
  note("preempt", id, fmt::format("{}, {} blocks", k(kernel), blocks));
  inner_.preempt(id, kernel, blocks);
}

void Recorder::set_quota(SmId id, KernelId kernel, std::int64_t instructions) {
  hold_to_word(Can::quotas);
  const std::int64_t before = residents(id)[kernel.index].quota;
  if (instructions != kNoQuota) {
    note("quota", id, fmt::format("{} = {}", k(kernel), instructions));
  } else if (before != kNoQuota) {
    note("quota", id, fmt::format("{} lifted", k(kernel)));
  }
  inner_.set_quota(id, kernel, instructions);
}

void Recorder::add_quota(SmId id, KernelId kernel, std::int64_t instructions) {
  hold_to_word(Can::quotas);
  if (instructions != 0) note("quota", id, fmt::format("{} += {}", k(kernel), instructions));
  inner_.add_quota(id, kernel, instructions);
}

void Recorder::gate(SmId id) {
  hold_to_word(Can::gate_power);
  if (powered(sms()[id.index])) note("gate", id, "");
  inner_.gate(id);
}

void Recorder::order(std::span<const KernelId> first) {
  hold_to_word(Can::order_launches);
  if (!std::equal(first.begin(), first.end(), order_.begin(), order_.end())) {
    std::string all;
    for (const KernelId id : first) all += " " + k(id);
    note("order" + all);
    order_.assign(first.begin(), first.end());
  }
  inner_.order(first);
}

void Recorder::set_epoch(Cycles length) {
  note(fmt::format("epoch {}", length.count));
  inner_.set_epoch(length);
}

void Recorder::wake_at(Cycles when, std::uint64_t tag) {
  note(fmt::format("wake at {} as {}", when.count, tag));
  inner_.wake_at(when, tag);
}

std::string Recorder::text(bool events) const {
  std::string all;
  for (std::size_t i = 0; i < log_.size();) {
    const Line& line = log_[i];
    std::size_t next = i + 1;
    if (line.sm) {  // extended over neighbours that are treated alike
      const auto alike = [&](const Line& other) {
        return other.sm && *other.sm == *line.sm + (next - i) && other.at == line.at && other.before == line.before &&
               other.after == line.after;
      };
      while (next < log_.size() && alike(log_[next])) ++next;
    }
    const bool event = line.before.starts_with("> ");
    if (events || !event) {
      all += fmt::format("{} {}", line.at.count, line.before);
      if (line.sm) all += fmt::format(" sm {}", *line.sm);
      if (next - i > 1) all += fmt::format("-{}", *line.sm + (next - i) - 1);
      if (!line.after.empty()) all += " " + line.after;
      all += '\n';
    }
    i = next;
  }
  return all;
}

}  // namespace wm::policy

// Recorder: a Machine around a Machine that writes down every event told and every action taken, with its time.
//
// The log is text, so that golden logs in tests are readable; neighbouring SMs that are treated alike share a line:
// "20000 give sm 0-7 to k0, drain". An action without an effect leaves no line. The recorder also checks declarations:
// an action whose capability the policy neither needs nor uses throws std::logic_error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace wm::policy {

// The ends of blocks are too many for a log, and KernelSetChanged follows from the logged arrivals and ends.
template <typename Event>
inline constexpr bool kNoted = !std::is_same_v<Event, BlockDone> && !std::is_same_v<Event, KernelSetChanged>;

class Recorder final : public Machine {
 public:
  // `declared`: the capabilities that the policy needs or uses.
  Recorder(Machine& inner, Cans declared) : inner_(inner), declared_(declared) {}

  // Records the event and calls the policy, which acts on this recorder.
  template <typename Event>
  void tell(Policy& policy, const Event& event) {
    if constexpr (kNoted<Event>) note("> " + to_string(event));
    policy.on(event, *this);
  }

  // One line per action or event; actions only, or with the events ("20000 > epoch").
  [[nodiscard]] std::string actions() const { return text(false); }
  [[nodiscard]] std::string everything() const { return text(true); }
  void forget() { log_.clear(); }
  // The number of recorded lines.
  [[nodiscard]] std::size_t lines() const { return log_.size(); }

  static std::string to_string(const Started&) { return "started"; }
  static std::string to_string(const KernelArrived& e);
  static std::string to_string(const KernelDone& e);
  static std::string to_string(const SmIdle& e);
  static std::string to_string(const SmReady& e);
  static std::string to_string(const Preempted& e);
  static std::string to_string(const QuotaSpent& e);
  static std::string to_string(const Epoch& e);
  static std::string to_string(const Wake& e);

  [[nodiscard]] Cans cans() const override { return inner_.cans(); }
  [[nodiscard]] Cycles now() const override { return inner_.now(); }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return inner_.limits(); }
  [[nodiscard]] std::span<const Sm> sms() const override { return inner_.sms(); }
  [[nodiscard]] std::span<const Kernel> kernels() const override { return inner_.kernels(); }
  [[nodiscard]] std::span<const ResidentKernel> residents(SmId sm) const override { return inner_.residents(sm); }
  [[nodiscard]] Cycles epoch_began() const override { return inner_.epoch_began(); }
  [[nodiscard]] double dram_bytes_per_cycle() const override { return inner_.dram_bytes_per_cycle(); }
  Random& random() override { return inner_.random(); }

  void give(SmId sm, KernelId kernel, Preempt how) override;
  void share(SmId sm) override;
  void cap(SmId sm, KernelId kernel, std::uint32_t blocks) override;
  void preempt(SmId sm, KernelId kernel, std::uint32_t blocks) override;
  void set_quota(SmId sm, KernelId kernel, std::int64_t instructions) override;
  void add_quota(SmId sm, KernelId kernel, std::int64_t instructions) override;
  void gate(SmId sm) override;
  void order(std::span<const KernelId> first) override;
  void set_epoch(Cycles length) override;
  void wake_at(Cycles when, std::uint64_t tag) override;

 private:
  struct Line {
    Cycles at;
    std::string before;  // "give" …
    std::optional<std::uint32_t> sm;
    std::string after;  // "to k0, drain"
  };
  void note(std::string what) { log_.push_back({now(), std::move(what), {}, {}}); }
  void note(std::string what, SmId sm, std::string rest) {
    log_.push_back({now(), std::move(what), sm.index, std::move(rest)});
  }
  void hold_to_word(Can can) const;
  [[nodiscard]] std::string text(bool events) const;

  Machine& inner_;
  Cans declared_;
  std::vector<Line> log_;
  std::vector<KernelId> order_;
};

}  // namespace wm::policy

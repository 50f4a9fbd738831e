// A policy with a record of what its machine tells it and what it does, for decision logs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "policy/record.h"
#include "policy/registry.h"

namespace wm::policy {

class LoggedPolicy final : public Policy {
 public:
  LoggedPolicy(std::unique_ptr<Policy> inner, const Choice& choice)
      : inner_(std::move(inner)), declared_(choice.needs() | choice.entry->info.uses) {}
  void on(const Started& e, Machine& gpu) override { tell(e, gpu); }
  void on(const KernelArrived& e, Machine& gpu) override { tell(e, gpu); }
  void on(const KernelDone& e, Machine& gpu) override { tell(e, gpu); }
  void on(const KernelSetChanged& e, Machine& gpu) override { tell(e, gpu); }
  void on(const BlockDone& e, Machine& gpu) override { tell(e, gpu); }
  void on(const SmIdle& e, Machine& gpu) override { tell(e, gpu); }
  void on(const SmReady& e, Machine& gpu) override { tell(e, gpu); }
  void on(const Preempted& e, Machine& gpu) override { tell(e, gpu); }
  void on(const QuotaSpent& e, Machine& gpu) override { tell(e, gpu); }
  void on(const Epoch& e, Machine& gpu) override { tell(e, gpu); }
  void on(const Wake& e, Machine& gpu) override { tell(e, gpu); }

  // Events and actions, one line each.
  [[nodiscard]] std::string log() const { return record_ ? record_->everything() : std::string(); }

 private:
  // The machine is the same for all events of a run.
  template <typename Event>
  void tell(const Event& event, Machine& gpu) {
    if (!record_) record_.emplace(gpu, declared_);
    record_->tell(*inner_, event);
  }

  const std::unique_ptr<Policy> inner_;
  const Cans declared_;
  std::optional<Recorder> record_;
};

// Puts a record around the policy if `is_wanted`, and returns the record; null: none is wanted.
[[nodiscard]] inline const LoggedPolicy* log_decisions(bool is_wanted, std::unique_ptr<Policy>& policy,
                                                       const Choice& choice) {
  if (!is_wanted) return nullptr;
  auto logged = std::make_unique<LoggedPolicy>(std::move(policy), choice);
  const LoggedPolicy* log = logged.get();
  policy = std::move(logged);
  return log;
}

}  // namespace wm::policy

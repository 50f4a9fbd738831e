// A policy with a record of what its machine tells it and what it does, for decision logs.
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "policy/record.h"
#include "policy/registry.h"

namespace wm::policy {

class LoggedPolicy final : public Policy {
 public:
  // `file`: the record is appended to it while the policy runs, and is not kept; empty: it is kept.
  LoggedPolicy(std::unique_ptr<Policy> inner, const Choice& choice, std::string file = {})
      : inner_(std::move(inner)), declared_(choice.needs() | choice.entry->info.uses), file_(std::move(file)) {}
  ~LoggedPolicy() override { append_to_file(); }
  LoggedPolicy(const LoggedPolicy&) = delete;
  LoggedPolicy& operator=(const LoggedPolicy&) = delete;
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
  static constexpr std::size_t kLinesAtOnce = 64;

  // The machine is the same for all events of a run.
  template <typename Event>
  void tell(const Event& event, Machine& gpu) {
    if (!record_) record_.emplace(gpu, declared_);
    record_->tell(*inner_, event);
    if (record_->lines() >= kLinesAtOnce) append_to_file();
  }
  // A file that cannot be written is left out.
  void append_to_file() {
    if (!record_ || file_.empty()) return;
    std::ofstream(file_, std::ios::app) << record_->everything();
    record_->forget();
  }

  const std::unique_ptr<Policy> inner_;
  const Cans declared_;
  const std::string file_;
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

// The policy itself where `file` is empty.
[[nodiscard]] inline std::unique_ptr<Policy> with_decisions_in(const std::string& file, std::unique_ptr<Policy> policy,
                                                               const Choice& choice) {
  if (file.empty()) return policy;
  return std::make_unique<LoggedPolicy>(std::move(policy), choice, file);
}

}  // namespace wm::policy

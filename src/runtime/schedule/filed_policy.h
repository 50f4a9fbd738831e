// A policy whose events and decisions are appended to a file while it runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "policy/record.h"
#include "policy/registry.h"

namespace wm::runtime {

class FiledPolicy final : public policy::Policy {
 public:
  // A file that cannot be written is left out.
  FiledPolicy(std::unique_ptr<policy::Policy> inner, const policy::Choice& choice, std::string file);
  ~FiledPolicy() override { write(); }
  FiledPolicy(const FiledPolicy&) = delete;
  FiledPolicy& operator=(const FiledPolicy&) = delete;

  void on(const policy::Started& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelArrived& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelDone& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelSetChanged& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::BlockDone& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::SmIdle& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::SmReady& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::Preempted& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::QuotaSpent& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::Epoch& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::Wake& e, policy::Machine& gpu) override { tell(e, gpu); }

 private:
  static constexpr std::size_t kLinesAtOnce = 256;

  // The machine is the same for all events.
  template <typename Event>
  void tell(const Event& event, policy::Machine& gpu) {
    if (!record_) record_.emplace(gpu, declared_);
    record_->tell(*inner_, event);
    if (record_->lines() >= kLinesAtOnce) write();
  }
  void write();

  const std::unique_ptr<policy::Policy> inner_;
  const policy::Cans declared_;
  const std::string file_;
  std::optional<policy::Recorder> record_;
};

// The policy itself where `file` is empty.
[[nodiscard]] std::unique_ptr<policy::Policy> with_decisions_in(const std::string& file,
                                                                std::unique_ptr<policy::Policy> policy,
                                                                const policy::Choice& choice);

}  // namespace wm::runtime

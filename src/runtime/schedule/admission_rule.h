// Decisions about launches that are taken before the policy sees them, each as a rule with a name.
//
// A policy divides the device among the kernels it knows. Whether a launch is one of them, and in which form it runs,
// is decided by the rules of this daemon; `wm serve` prints them at start.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/schedule/active_kernels.h"
#include "runtime/schedule/clock.h"

namespace wm::runtime {

// The settings of the daemon that decide which rules are active.
struct AdmissionOptions {
  bool pass_through = false;
  double short_launch = 100'000;  // nanoseconds; 0: every launch that can be divided is
  // Nanoseconds: shorter launches of an isolated client run unmodified on devices that share launches; 0: none.
  double isolated_short_launch = 300'000;
  // Nanoseconds: shorter launches of kernels whose caps are the same on all SMs run unmodified; 0: none.
  double capped_launch = 0;
  double headroom = 0.5;  // the part of a compute unit that launches leave to clients of higher priority
  bool gates = false;     // launches pause while one of higher priority runs
  bool real_sms = false;  // the policy decides on single SMs, so that no launch may bypass it
};

// The state that a rule may use.
struct LaunchQuery {
  const LaunchPlan& plan;
  std::optional<double> expected;  // nanoseconds with the device to itself, where known
  double ahead = 0;                // nanoseconds of its client's launches that must run before it
  bool isolated = true;            // no other client has a kernel
  int priority = 0;                // priority of the client
  std::uint64_t shared_until = 0;  // when kernels of several clients were last on the device, on the daemon's clock
  bool is_capped_alike = false;    // the launches of its queue can keep their cap undivided
  bool has_device = false;         // isolated, or the policy holds the kernels of all other clients
};

// A rule is a class in a header of rules/, named as the file; the build finds it. Its function
//
//     static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities& device,
//                                                const Clock& clock);
//
// returns the rule, or null where it is not active.
class AdmissionRule {
 public:
  AdmissionRule() = default;
  virtual ~AdmissionRule() = default;
  AdmissionRule(const AdmissionRule&) = delete;
  AdmissionRule& operator=(const AdmissionRule&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;
  // One sentence, which `wm serve` prints.
  [[nodiscard]] virtual std::string description() const = 0;

  // The launch runs as its client wrote it although it could be divided into workers.
  [[nodiscard]] virtual bool runs_unmodified(const LaunchQuery&) const { return false; }
  // The launch may follow its client's earlier commands on the device queue before the policy knows of it.
  [[nodiscard]] virtual bool may_pipeline(const LaunchQuery&) const { return false; }
  // The launch starts before those that wait for room.
  [[nodiscard]] virtual bool starts_at_once(const LaunchQuery&) const { return false; }
  // Sets how the launch shares the device with others, where the device can do so.
  virtual void share(const LaunchQuery&, LaunchSharing&) const {}
  // The launch goes to the device now.
  virtual void note_launch(const LaunchQuery&) {}
  // Launches go to the device in the order they come, undivided: the policy decides nothing.
  [[nodiscard]] virtual bool bypasses_policy() const { return false; }
  // The pipelined work that a client may have on the device, in nanoseconds.
  [[nodiscard]] virtual double pipeline_budget(bool /*isolated*/) const { return 0; }
  // The kernel that gives up one worker to make room for a transfer; none: no worker has to leave.
  [[nodiscard]] virtual CommandPtr makes_room(const ActiveKernels&) const { return nullptr; }
};

}  // namespace wm::runtime

// While a client of higher priority is active, launches of lower priority leave it room, on devices that share
// launches.
//
// A launch of lower priority runs undivided, takes at most a part of every compute unit, and pauses at its gates while
// a launch of higher priority runs. A launch of higher priority starts at once, before those that wait. A client counts
// as active for a second after its last launch: its launches are short and come again. A short launch of an isolated
// client runs undivided too: it ends before another client's could take its place.
#pragma once

#include <map>

#include "runtime/schedule/admission_rule.h"
#include "runtime/schedule/clock.h"

namespace wm::runtime {

class PriorityHeadroom final : public AdmissionRule {
 public:
  static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities& device,
                                             const Clock& clock) {
    if (!device.shares_launches || options.pass_through || options.real_sms) return nullptr;
    return std::make_unique<PriorityHeadroom>(options.headroom, options.gates && device.gates,
                                              options.isolated_short_launch, clock);
  }

  // `headroom`: the part of every compute unit that launches of lower priority leave free. `gates`: they pause, too.
  // `isolated_short`: nanoseconds below which a launch of an isolated client runs undivided.
  PriorityHeadroom(double headroom, bool gates, double isolated_short, const Clock& clock)
      : headroom_(headroom), gates_(gates), isolated_short_(isolated_short), clock_(clock) {}

  [[nodiscard]] std::string name() const override { return "priority_headroom"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool runs_unmodified(const LaunchQuery& query) const override;
  [[nodiscard]] bool starts_at_once(const LaunchQuery& query) const override;
  void share(const LaunchQuery& query, LaunchSharing& sharing) const override;
  void note_launch(const LaunchQuery& query) override;

 private:
  // Whether a client with a priority above, or below, this one has launched recently.
  [[nodiscard]] bool higher_is_active(int priority) const;
  [[nodiscard]] bool lower_is_active(int priority) const;
  [[nodiscard]] bool is_active(std::uint64_t last) const;

  const double headroom_;
  const bool gates_;
  const double isolated_short_;
  const Clock& clock_;
  std::map<int, std::uint64_t> last_launch_;  // by priority, on the daemon's clock
};

}  // namespace wm::runtime

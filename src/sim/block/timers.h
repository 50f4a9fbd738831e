// The block machine's timers: the alarms and the epochs that a policy requested.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace wm::sim {

class Timers {
 public:
  void wake_at(Cycles when, std::uint64_t tag);
  // Removes the earliest alarm due by `now` and returns its tag; among equal times the one requested first.
  std::optional<std::uint64_t> take_due(Cycles now);

  // Epochs of this length from now on; 0: none.
  void set_epoch(Cycles length, Cycles now);
  [[nodiscard]] bool epoch_due(Cycles now) const { return length_.count != 0 && now >= due_; }
  // The epoch that was due is over; the next one begins.
  void next_epoch(Cycles now);
  [[nodiscard]] Cycles epoch_began() const { return began_; }
  // Changes with every set_epoch.
  [[nodiscard]] std::uint64_t epoch_settings() const { return settings_; }

  [[nodiscard]] Cycles next() const;

 private:
  struct Alarm {
    Cycles when;
    std::uint64_t number = 0;  // order of the requests, for alarms at the same time
    std::uint64_t tag = 0;
  };
  static bool later(const Alarm& a, const Alarm& b) { return a.when != b.when ? a.when > b.when : a.number > b.number; }

  std::vector<Alarm> alarms_;  // a heap, the earliest first
  std::uint64_t numbers_ = 0;
  Cycles began_;
  Cycles length_;
  Cycles due_ = kNever;
  std::uint64_t settings_ = 0;
};

}  // namespace wm::sim

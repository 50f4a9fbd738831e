// Wake-ups that a policy has requested.
#pragma once

#include <cstdint>
#include <vector>

namespace wm::sim {

class Alarms {
 public:
  struct Alarm {
    std::uint64_t when = 0;  // cycle
    std::uint64_t tag = 0;
    std::uint64_t number = 0;  // in the order of the requests
  };

  void add(std::uint64_t when, std::uint64_t tag) { alarms_.push_back({when, tag, numbers_++}); }
  // The first of them; ~0: there is none.
  [[nodiscard]] std::uint64_t next() const;
  // Removes and returns the alarms up to `now`, ordered by time and then by request.
  std::vector<Alarm> take_due(std::uint64_t now);

 private:
  std::vector<Alarm> alarms_;
  std::uint64_t numbers_ = 0;
};

}  // namespace wm::sim

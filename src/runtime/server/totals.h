// Sums over the clients that have gone, by user, so that counters of metrics do not fall when a client leaves.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/schedule/client.h"

namespace wm::runtime {

struct Totals {
  std::uint64_t launches = 0, as_workers = 0, device_nanoseconds = 0, waited_nanoseconds = 0;
  double turnaround_nanoseconds = 0, isolated_nanoseconds = 0;

  void add(const ClientStatistics& s) {
    launches += s.launches;
    as_workers += s.as_workers;
    device_nanoseconds += s.device_nanoseconds;
    waited_nanoseconds += s.waited_nanoseconds;
    turnaround_nanoseconds += s.turnaround_nanoseconds;
    isolated_nanoseconds += s.isolated_nanoseconds;
  }
};

using TotalsByUser = std::map<std::string, Totals>;

}  // namespace wm::runtime

// Which mechanism each program gets: a function of what the programs asked for and did, without sockets or time.
//
// A program is latency-sensitive if it has a goal, or a higher priority than another program. While one is
// active, the others leave it a part of every SM (sharing through MPS), or take turns in shorter time slices (isolated
// processes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/arbiter/options.h"
#include "runtime/protocol/control_page.h"

namespace wm::runtime {

// The part of every SM, and the time slice, that a program beside a latency-sensitive one has.
struct Restriction {
  std::uint32_t occupancy_percent = 50;
  std::uint32_t slice_microseconds = 100;  // 0: the driver's own
  std::uint32_t gate_percent = 50;         // the part of the time for which gates may be closed, where there are any
  bool has_no_gain = false;                // there is no limit because limits do not shorten requests
};

struct ProgramState {
  int priority = 0;
  ProgramGoal goal;
  bool is_active = false;  // it has launched within the last second
};

struct ProgramDecision {
  std::uint32_t modes = 0;
  std::uint32_t occupancy_percent = 0;
  StreamPriority stream_priority = StreamPriority::own;
  std::uint32_t wait_microseconds = 0;
  std::uint32_t slice_microseconds = 0;
  std::uint32_t gate_percent = 0;      // the part of the time for which gates may be closed
  std::uint64_t launch_limit = 0;      // launches that may begin in all, under a policy with quotas
  std::uint64_t sm_groups = 0;         // groups of SMs, a bit each, under a policy that gives SMs to programs …
  std::uint32_t sms = 0, all_sms = 0;  // … and the number of these SMs, and of the GPU's
  std::uint32_t sms_of_group = 0;      // 0: no such policy
  bool is_latency_sensitive = false;
  bool is_restricted = false;  // a latency-sensitive program is active
  bool has_no_gain = false;    // it has no limit because limits do not shorten requests

  friend bool operator==(const ProgramDecision&, const ProgramDecision&) = default;
  // As `wm status` shows it: "highest stream priority", "time slice 200 us".
  [[nodiscard]] std::string mechanism() const;
};

// The decision for a program without competitors: only the priority of its streams.
[[nodiscard]] ProgramDecision decide_single(const ProgramState& program);

// `restrictions`: of each program, for when it is beside a latency-sensitive one.
[[nodiscard]] std::vector<ProgramDecision> decide(const std::vector<ProgramState>& programs,
                                                  const ArbiterOptions& options,
                                                  const std::vector<Restriction>& restrictions);

}  // namespace wm::runtime

// Asynchronous copies of one warp (cp.async), in the groups that its program commits.
//
// Groups are numbered from 0 in the order in which they were opened. A group that is complete is forgotten, from the
// oldest on, when another one is committed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/cycle/sm/timed_program.h"

namespace wm::sim {

class CopyGroups {
 public:
  void clear() {
    groups_.clear();
    forgotten_ = 0;
  }
  // Adds a copy to the open group and returns the group's number. `ready`: time at which its data is available;
  // none: the copy is in flight until `finish`.
  std::uint32_t add(std::optional<std::uint64_t> ready);
  // Closes the open group. An empty group counts like any other.
  void commit(std::uint64_t now);
  // A copy of the group that was in flight completed at `at`.
  void finish(std::uint32_t group, std::uint64_t at);
  // Whether `op`, which waits for copies, must wait for one in flight. Otherwise `at` becomes no earlier than the time
  // at which the data it waits for is there.
  [[nodiscard]] bool must_wait(const TimedOp& op, std::uint64_t& at) const;

 private:
  struct Group {
    std::uint32_t in_flight = 0;
    std::uint64_t ready = 0;  // time at which the data of the completed copies is available
  };
  std::vector<Group> groups_;    // committed groups, oldest first, and the open one
  std::uint32_t forgotten_ = 0;  // groups before the first of these
};

}  // namespace wm::sim

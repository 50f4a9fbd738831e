// A simulated machine that takes launches of programs while it runs, and tells when they are over.
//
// One thread uses it. Launches of one stream are given one after the other; all others run side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "exec/grid.h"
#include "runtime/simulated/kernel_runner.h"

namespace wm::runtime {

// The facts about a launch that a policy sees.
struct LaunchTerms {
  std::string client;         // the program's name
  std::uint32_t process = 0;  // launches of one program have the same
  std::uint64_t stream = 0;
  int priority = 0;
  double share = 1;
  double goal_ipc = 0;      // 0: none
  double isolated_ipc = 0;  // 0: not known
};

struct MachineLaunch {
  exec::Grid grid;
  std::uint32_t registers_per_thread = 0;
  Cycles arrive;  // or now, if that has passed
  LaunchTerms terms;
  // Asked now and then by a machine that executes the launch in one step, on any thread: true ends it with a fault.
  std::function<bool()> is_unwanted{};
};

using LaunchTicket = std::uint64_t;

struct FinishedLaunch {
  LaunchTicket ticket = 0;
  KernelResult result;
  std::uint64_t thread_instructions = 0;
  Cycles ended;
  std::uint32_t place = 0;  // number of the machine's client that it ran as
};

class LaunchMachine {
 public:
  virtual ~LaunchMachine() = default;
  // The launch begins when it arrives and a place is free.
  virtual LaunchTicket start(MachineLaunch launch) = 0;
  // Ends a launch early. True: it had begun, and is finished with a fault some steps later. False: it is forgotten.
  virtual bool abandon(LaunchTicket ticket) = 0;
  // Lets time pass, as little as the machine can. An error: the machine cannot go on any more.
  virtual Result<void> step() = 0;
  // Launches that are over, in the order of their ends.
  virtual std::vector<FinishedLaunch> take_finished() = 0;
  // Launches that were started and are not finished.
  [[nodiscard]] virtual std::size_t unfinished() const = 0;
  [[nodiscard]] virtual Cycles now() const = 0;
  // The names of the programs that used each place.
  [[nodiscard]] virtual std::vector<std::string> place_names() const = 0;
};

}  // namespace wm::runtime

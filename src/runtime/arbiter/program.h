// A CUDA program that is connected to the daemon: its control page, its goal, priority and share, and its statistics.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/arbiter/goal_admission.h"
#include "runtime/arbiter/loss_control.h"
#include "runtime/arbiter/policy_rule.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/socket.h"

namespace wm::runtime {

struct ProgramIdentity {
  std::uint64_t number = 0;
  std::string name;
  Peer peer;
};

class ArbitratedProgram {
 public:
  using Clock = std::chrono::steady_clock;

  // The daemon tells a program these facts once.
  struct Greeting {
    const Descriptor& board;
    std::uint32_t board_bit = 0;
    Gates gates = Gates::none;
    WorkerUse workers = WorkerUse::none;
    std::uint32_t all_sms = 0;
  };
  // Makes the page and greets the program.
  static Result<std::unique_ptr<ArbitratedProgram>> greet(Descriptor socket, ProgramIdentity identity,
                                                          const ProgramState& state, double share,
                                                          const Greeting& greeting);

  [[nodiscard]] const Descriptor& socket() const { return socket_; }
  [[nodiscard]] const ProgramCounters& counters() const { return page().counters; }
  [[nodiscard]] const GateCounters& gates() const { return page().gates; }
  [[nodiscard]] const WorkerCounters& workers() const { return page().workers; }
  // The kernels that the program has told of, in the order in which it launched them first.
  struct KernelForm {
    std::string kernel;
    bool is_made = false;  // with gates or as workers
    std::string reason;    // why it is not
  };
  [[nodiscard]] std::vector<KernelForm> kernels() const;
  [[nodiscard]] const ProgramDecision& decision() const { return decision_; }
  [[nodiscard]] std::uint32_t board_bit() const { return board_bit_; }
  [[nodiscard]] double seconds() const;

  // Reads the counters, and whether it is active.
  void observe(Clock::time_point now);
  // Its requests since the last call.
  [[nodiscard]] Requests new_requests();
  // Tells its loss control what the program did; `requests`: of latency-sensitive programs so far.
  void control_loss(Clock::time_point now, const Requests& requests);
  // The goal that the program has asked for itself since the last call; empty: none.
  [[nodiscard]] std::optional<ProgramGoal> asked_goal();
  // The driver's error with which the program has failed, told once; 0: none.
  [[nodiscard]] std::uint32_t new_fault();
  // Writes the decision into its page and wakes its thread if that has to act.
  void apply(const ProgramDecision& decision);

  // Requests since the last window ended.
  struct Window {
    std::uint64_t requests = 0;
    double p99_nanoseconds = 0;
  };
  [[nodiscard]] Window window() const;
  void end_window();
  // The last window that ended with requests in it.
  [[nodiscard]] const Window& last_window() const { return last_window_; }
  // Takes the last window, in which the program had no competitors, as its isolated result.
  void learn_isolated();
  [[nodiscard]] const IsolatedResult& isolated() const { return isolated_; }
  // The result of an earlier run of the program.
  void set_isolated(const IsolatedResult& result) { isolated_ = result; }
  // Its goal is relative to an isolated rate that is not known. A sample measures it while no other program launches.
  [[nodiscard]] bool needs_sample() const;
  void begin_sample(Clock::time_point now);
  void end_sample(Clock::time_point now);
  // As a policy sees it; a window that has ended is told once. `threads`: that the GPU holds at once, or 0.
  [[nodiscard]] PolicyProgram for_policy(std::uint64_t threads);
  // The program's result in the unit of its goal; empty: it has no goal, or nothing is known yet.
  [[nodiscard]] std::optional<double> reached() const;

  const ProgramIdentity identity;
  ProgramState state;
  double share = 1;
  std::unique_ptr<LossControl> loss_control;  // may be null

 private:
  ArbitratedProgram(Descriptor socket, ProgramIdentity identity, const ProgramState& state, double share,
                    Mapping mapping, std::uint32_t board_bit);
  [[nodiscard]] ControlPage& page() const { return *reinterpret_cast<ControlPage*>(mapping_.bytes().data()); }

  Descriptor socket_;
  Mapping mapping_;
  const std::uint32_t board_bit_;
  ProgramDecision decision_;
  const Clock::time_point since_ = Clock::now();
  Clock::time_point launched_, rate_since_ = since_;
  std::uint64_t launches_ = 0, rate_launches_ = 0;
  Requests requests_;         // that were told
  bool has_divided_ = false;  // its kernels may divide an SM's memory in another way than they would
  double launches_per_second_ = 0;
  std::array<std::uint32_t, kTimeBuckets> window_start_{};
  Window last_window_;
  bool has_new_window_ = false;
  IsolatedResult isolated_;
  bool has_told_fault_ = false;
};

}  // namespace wm::runtime

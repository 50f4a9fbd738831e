// The daemon of `wm serve --cuda`: CUDA programs on a real GPU keep their own processes and drivers, and this daemon
// decides how their launches share it (decision.h). It has no part in a launch; programs read its words from shared
// memory.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "runtime/arbiter/goal_admission.h"
#include "runtime/arbiter/goal_control.h"
#include "runtime/arbiter/isolated_sampling.h"
#include "runtime/arbiter/policy_rule.h"
#include "runtime/arbiter/program.h"

namespace wm::runtime {

class Arbiter {
 public:
  // `device`: the GPU's name, for `wm status`.
  static Result<std::unique_ptr<Arbiter>> open(ArbiterOptions options, std::string device);
  ~Arbiter();
  Arbiter(const Arbiter&) = delete;
  Arbiter& operator=(const Arbiter&) = delete;

  // Serves programs until `stop` can be read.
  void run(int stop);
  [[nodiscard]] std::string status() const;

 private:
  Arbiter(ArbiterOptions options, std::string device, std::unique_ptr<ProgramRule> policy, Descriptor listener,
          Descriptor board_file, Mapping board);
  // False: the daemon shall stop.
  bool listen(int stop);
  void greet(Descriptor socket);
  // A program that asks to be arbitrated.
  struct Applicant {
    Descriptor socket;
    Hello hello;
    Peer peer;
    ProgramGoal goal;
  };
  // Whether a goal can be met beside those of the programs, without `except`.
  [[nodiscard]] GoalAdmission::Answer check(const NamedGoal& asked, const ArbitratedProgram* except) const;
  void apply(Descriptor socket, const Hello& hello, const Peer& peer);
  void admit(Applicant applicant);
  // Lets in those of the waiting programs whose goals can be met now.
  void admit_waiting();
  void dismiss(std::list<std::unique_ptr<ArbitratedProgram>>::iterator program);
  std::string control(const std::string& request);
  // Says which program has failed, and which others fail with it.
  void report_faults();
  void end_windows(ArbitratedProgram::Clock::time_point now);
  [[nodiscard]] std::vector<ProgramDecision> decisions();
  // Makes others wait while a program is measured by itself.
  void sample_isolated(ArbitratedProgram::Clock::time_point now, std::vector<ProgramDecision>& decisions);
  // Takes over the goals that programs have asked for themselves, as far as they can be met.
  void set_asked_goals();
  void arbitrate();
  [[nodiscard]] Board& board() const { return *reinterpret_cast<Board*>(board_.bytes().data()); }

  const ArbiterOptions options_;
  const std::string device_;
  const std::unique_ptr<ProgramRule> policy_;  // null: the rule of decision.h
  const Descriptor listener_, board_file_;
  const Mapping board_;
  GoalControl goals_;
  GoalAdmission admission_;
  IsolatedSampling sampling_;
  std::list<Applicant> waiting_;
  std::list<std::unique_ptr<ArbitratedProgram>> programs_;  // in the order of their numbers
  Requests requests_;                                       // that latency-sensitive programs have made
  std::uint64_t seen_ = 0;
  std::ptrdiff_t active_ = 0;  // programs, when the last window ended
  ArbitratedProgram::Clock::time_point started_ = ArbitratedProgram::Clock::now(), window_began_ = started_;
};

}  // namespace wm::runtime

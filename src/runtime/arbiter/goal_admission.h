// Whether a program with a goal may start: never if the goal is beyond what the program reaches by itself, and not now
// if the goals of other programs leave too little of the GPU. The daemon knows by name how programs did by themselves
// in earlier runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/protocol/control_page.h"

namespace wm::runtime {

struct IsolatedResult {
  double p99 = 0;   // nanoseconds; 0: not known
  double rate = 0;  // launches per second; 0: not known
};

struct NamedGoal {
  std::string name;
  ProgramGoal goal;
};

// "p99=300us", "rate=200/s", "0.9"; empty: no goal.
[[nodiscard]] std::string goal_text(const ProgramGoal& goal);

class GoalAdmission {
 public:
  enum class Verdict { accepted, not_now, never };
  struct Answer {
    Verdict verdict = Verdict::accepted;
    std::string reason;  // with what could be met
  };

  void learn(const std::string& name, const IsolatedResult& result);
  // `others`: the goals of programs that are there. `goals_exhausted`: these are missed already.
  [[nodiscard]] Answer check(const NamedGoal& asked, const std::vector<NamedGoal>& others, bool goals_exhausted) const;

  // The result of a program of this name by itself.
  [[nodiscard]] IsolatedResult known(const std::string& name) const;

 private:
  // The part of the GPU that a goal needs; 0: not known.
  [[nodiscard]] double part_needed(const NamedGoal& asked) const;

  std::map<std::string, IsolatedResult> known_;
};

}  // namespace wm::runtime

// Short windows in which a program runs by itself, so that its isolated rate becomes known although other programs are
// always active: their launches wait meanwhile.
#pragma once

#include <cstdint>
#include <vector>

namespace wm::runtime {

class IsolatedSampling {
 public:
  struct Program {
    std::uint64_t number = 0;
    bool needs_sample = false;  // its goal needs a rate that is not known
  };
  struct Step {
    std::uint64_t number = 0;           // runs by itself now; 0: none does
    bool begins = false, ends = false;  // its rate is measured from, or up to, now
  };
  // Called before every decision, with the active programs.
  [[nodiscard]] Step observe(double seconds, const std::vector<Program>& active);

 private:
  enum class State { waiting, settling, measuring };
  State state_ = State::waiting;
  std::uint64_t number_ = 0;
  double since_ = 0;  // the state's begin
};

}  // namespace wm::runtime

#include "runtime/arbiter/isolated_sampling.h"

#include <algorithm>

namespace wm::runtime {

namespace {

constexpr double kBeforeFirst = 1, kSettling = 0.1, kMeasuring = 0.4;  // seconds

}  // namespace

IsolatedSampling::Step IsolatedSampling::observe(double seconds, const std::vector<Program>& active) {
  const auto enter = [&](State state) {
    state_ = state;
    since_ = seconds;
  };
  const double passed = seconds - since_;
  const auto chosen = std::find_if(active.begin(), active.end(), [&](const Program& p) {
    return state_ == State::waiting ? p.needs_sample : p.number == number_;
  });
  if (chosen == active.end()) {  // none needs a sample, or the one that was sampled has gone
    if (state_ != State::waiting) enter(State::waiting);
    return {};
  }
  switch (state_) {
    case State::waiting:
      if (active.size() < 2 || passed < kBeforeFirst) return {};
      number_ = chosen->number;
      enter(State::settling);
      return {.number = number_};
    case State::settling:
      if (passed < kSettling) return {.number = number_};
      enter(State::measuring);
      return {.number = number_, .begins = true};
    case State::measuring:
      if (passed < kMeasuring) return {.number = number_};
      enter(State::waiting);
      return {.number = number_, .ends = true};
  }
  return {};
}

}  // namespace wm::runtime

// A program whose rate depends on its restriction, in time that is counted and not waited for.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "runtime/arbiter/loss_control.h"

namespace wm::runtime {

// A program that makes launches at a rate that depends on its restriction, looked at every 10 ms.
class RestrictedProgram {
 public:
  using Rate = std::function<double(const Restriction&)>;
  RestrictedProgram(LossControl& control, double isolated_rate, Rate rate, double begin = 0)
      : control_(control), isolated_rate_(isolated_rate), rate_(std::move(rate)), now_(begin) {}

  void run(double seconds, bool is_restricted) {
    for (const double end = now_ + seconds; now_ < end; now_ += 0.01) {
      launches_ += 0.01 * (is_restricted ? rate_(control_.restriction()) : isolated_rate_);
      if (is_restricted && requests_per_second_ > 0) add_requests(0.01 * requests_per_second_);
      control_.observe({now_, static_cast<std::uint64_t>(launches_), is_restricted, requests_});
      if (is_restricted) percents_.push_back(control_.restriction().occupancy_percent);
    }
  }
  // A latency-sensitive program beside it has so many requests per second, whose time depends on the restriction.
  void serve(double requests_per_second, Rate request_seconds) {
    requests_per_second_ = requests_per_second;
    request_seconds_ = std::move(request_seconds);
  }
  void set_isolated_rate(double rate) { isolated_rate_ = rate; }
  // The rate in the next seconds.
  double restricted_rate(double seconds) {
    const double before = launches_;
    percents_.clear();
    run(seconds, true);
    return (launches_ - before) / seconds;
  }
  // The part of these seconds with this limit.
  [[nodiscard]] double part_with(unsigned percent) const {
    return static_cast<double>(std::count(percents_.begin(), percents_.end(), percent)) /
           static_cast<double>(percents_.size());
  }
  [[nodiscard]] double launches() const { return launches_; }
  [[nodiscard]] unsigned loosest() const { return *std::max_element(percents_.begin(), percents_.end()); }

 private:
  void add_requests(double count) {
    due_requests_ += count;
    const auto begun = static_cast<std::uint64_t>(due_requests_);
    due_requests_ -= static_cast<double>(begun);
    requests_ += {begun, static_cast<double>(begun) * request_seconds_(control_.restriction())};
  }

  LossControl& control_;
  double isolated_rate_;
  const Rate rate_;
  double now_, launches_ = 0;
  std::vector<unsigned> percents_;
  double requests_per_second_ = 0, due_requests_ = 0;
  Rate request_seconds_;
  Requests requests_;
};

}  // namespace wm::runtime

// SMs on which blocks may start or that may be idle: those that changed since blocks were last placed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "policy/machine.h"

namespace wm::sim {

class TouchedSms {
 public:
  void add(std::uint32_t sm) { sms_.push_back(sm); }
  // The client has got blocks to start: on its own SMs and on those without an owner.
  void add_for(policy::KernelId client) { clients_.push_back(client); }
  void add_all() { all_ = true; }

  // The SMs: by number, where a client has got blocks to start or all are meant, else as they were added.
  std::span<const std::uint32_t> find(std::span<const policy::Sm> all) {
    if (all_ || !clients_.empty()) {
      is_added_.assign(all.size(), all_ ? 1 : 0);
      for (const std::uint32_t s : sms_) is_added_[s] = 1;
      sms_.clear();
      for (const policy::Sm& sm : all)
        if (is_added_[sm.index] != 0 || may_start_on(sm)) sms_.push_back(sm.index);
      clients_.clear();
      all_ = false;
    }
    return sms_;
  }
  // Moves the SMs to `to`; none is left.
  void take(std::vector<std::uint32_t>& to) {
    to.clear();
    std::swap(to, sms_);
  }

 private:
  [[nodiscard]] bool may_start_on(const policy::Sm& sm) const {
    return sm.owner == policy::kNoKernel || std::find(clients_.begin(), clients_.end(), sm.owner) != clients_.end();
  }

  std::vector<std::uint32_t> sms_;
  std::vector<policy::KernelId> clients_;
  std::vector<std::uint8_t> is_added_;  // by SM, while `find` works
  bool all_ = false;
};

}  // namespace wm::sim

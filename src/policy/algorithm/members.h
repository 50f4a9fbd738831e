// Tracks the set of active kernels. A client whose kernel ends often launches the next one in the same instant; a
// policy asks here whether the set has really changed before it repartitions.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

// The kernels ordered by client, which a relaunch does not change, unlike the order of arrival. At most as many as
// there are SMs: the oldest arrivals.
std::vector<Kernel> by_client(const Machine& gpu);

class Members {
 public:
  // Whether clients came, left or changed to another function since the last call that returned true.
  bool changed(const Machine& gpu);
  // At the last call that returned true: whether clients came or left, and not only functions changed.
  [[nodiscard]] bool other_clients() const { return other_clients_; }

 private:
  std::vector<std::pair<KernelId, std::uint32_t>> seen_;
  bool other_clients_ = false;
};

// The part, of `parts` nearly equal ones, to which SM `sm` of `sms` belongs; neighbouring SMs are in the same part.
constexpr std::size_t part_of(std::size_t sm, std::size_t sms, std::size_t parts) { return sm * parts / sms; }

}  // namespace wm::policy

// The kernels that are there. A client whose kernel ends is often back in the same instant with its next launch;
// policies that would rearrange things when the set of kernels changes look here first whether it did.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

// The kernels by client, which a relaunch does not change, unlike the order of arrival. No more than there are SMs: the
// oldest arrivals, where there are more.
std::vector<Kernel> by_client(const Machine& gpu);

class Members {
 public:
  // Whether clients came, left or changed to another function since the last call that said so.
  bool changed(const Machine& gpu);
  // At the last call that returned true: whether clients came or left, and not only functions changed.
  [[nodiscard]] bool other_clients() const { return other_clients_; }

 private:
  std::vector<std::pair<KernelId, std::uint32_t>> seen_;
  bool other_clients_ = false;
};

// Neighbouring SMs to the same kernel, as equal parts as can be: the place of SM `sm` of `sms` among `parts`.
constexpr std::size_t part_of(std::size_t sm, std::size_t sms, std::size_t parts) { return sm * parts / sms; }

}  // namespace wm::policy

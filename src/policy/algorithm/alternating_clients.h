// Clients whose launches alternate between functions faster than a policy can measure each of them.
//
// A measurement that begins anew with every other function never ends. A client that changes its function several times
// before a measurement is complete is measured as a whole from then on: what its launches have done together.
#pragma once

#include <map>

#include "policy/machine.h"

namespace wm::policy {

class AlternatingClients {
 public:
  // The kernels or their functions have changed. True: a client that does not alternate, or has not until now, has
  // another function.
  bool note(const Machine& gpu, bool is_measuring);
  // A measurement is complete.
  void note_measured();
  [[nodiscard]] bool contains(KernelId client) const;
  // The blocks of the kernel that an empty SM holds; of an alternating client, those that it holds of any function.
  [[nodiscard]] std::uint32_t max_blocks(const Kernel& kernel) const;

 private:
  static constexpr std::uint32_t kChanges = 3;  // in one measurement and those that it was followed by
  struct Client {
    std::uint32_t function = 0;
    std::uint32_t changes = 0;
    std::uint32_t fewest_blocks = 0;  // per SM, over its functions
    bool alternates = false;
  };
  std::map<KernelId, Client> clients_;
};

}  // namespace wm::policy

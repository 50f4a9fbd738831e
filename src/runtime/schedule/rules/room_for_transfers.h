// On devices whose copies and fills run on compute units, the kernel with the most workers gives up one worker while a
// transfer needs its compute unit. Policies do not know of transfers.
#pragma once

#include "runtime/schedule/admission_rule.h"

namespace wm::runtime {

class RoomForTransfers final : public AdmissionRule {
 public:
  static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities& device,
                                             const Clock&) {
    const bool active = device.transfers_occupy_compute_units && !options.pass_through;
    return active ? std::make_unique<RoomForTransfers>() : nullptr;
  }

  [[nodiscard]] std::string name() const override { return "room_for_transfers"; }
  [[nodiscard]] std::string description() const override {
    return "while a transfer waits on a full device, the kernel with the most workers gives one worker up";
  }
  [[nodiscard]] CommandPtr makes_room(const ActiveKernels& kernels) const override;
};

}  // namespace wm::runtime

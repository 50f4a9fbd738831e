// Chooses how a program's restriction follows its loss, by the options of the daemon.
#pragma once

#include <memory>

#include "runtime/arbiter/loss_control.h"

namespace wm::runtime {

[[nodiscard]] std::unique_ptr<LossControl> make_loss_control(const ArbiterOptions& options);

}  // namespace wm::runtime

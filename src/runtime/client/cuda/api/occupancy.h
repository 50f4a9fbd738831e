// How many blocks of a function fit on an SM.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/client/cuda/state/driver.h"

namespace wm::cuda {

// Empty: not even one.
std::optional<std::uint32_t> blocks_per_sm(const Driver& driver, const Function& function, std::uint32_t threads,
                                           std::uint64_t dynamic_shared);

}  // namespace wm::cuda

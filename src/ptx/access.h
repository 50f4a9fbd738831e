// The registers an instruction reads and writes, without values that need no register.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"
#include "ptx/value_cost.h"

namespace wm::ptx {

struct Access {
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
  bool may_keep = false;  // guarded: the old value may stay
};

// By instruction of the body; those that vanish read and write nothing.
std::vector<Access> accesses(const Function& function, const ValueCost& cost);

}  // namespace wm::ptx

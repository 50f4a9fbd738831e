// Whether ptxas unrolls a counted loop, by the length of its turns.
//
// The rule was found with generated loops that ptxas 13 compiled for sm_90: how many multiply-adds fit beside other
// instructions before a loop stays as it is. An instruction counts one, an address with an offset one more, a guard one
// more; the counter, its test, the branch and what is the same in every turn do not count. A loop with a load from
// global memory may have 46, every loop may have 18 and 5 for each load from shared memory, but no more than 96. A loop
// with a division or root that may call a subroutine stays as it is.
#pragma once

#include "ptx/counted_loop.h"

namespace wm::ptx {

[[nodiscard]] bool is_short_enough_to_unroll(const Function& function, const CountedLoop& loop);

}  // namespace wm::ptx

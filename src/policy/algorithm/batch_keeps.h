// The parameter that smqos and spart have in common: both policies move complete SMs between kernels with and
// without goals, and their results are comparable only if both may take equally many.
#pragma once

#include "policy/parameter.h"

namespace wm::policy {

inline Parameter batch_keeps() {
  return added_later(
      integer("batch_keeps", 0, {0, 1}, "SMs that a kernel without a goal keeps; 0: a goal may take its last one", ""));
}

}  // namespace wm::policy

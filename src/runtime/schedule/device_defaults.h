// Values of policy parameters on a device with real SMs, where the user gives none.
//
// The defaults of the papers' policies are in cycles of a simulated GPU: an epoch has 10,000. A daemon counts in
// nanoseconds and observes the workers of a kernel every 50 us, so a shorter period than 2 ms would hold too few
// observations. Rates are in groups per nanosecond instead of instructions per cycle.
#pragma once

#include <string>

#include "policy/registry.h"

namespace wm::runtime {

// "quota:scheme=rollover" becomes "quota:scheme=rollover:epoch=2000000:first_ipc=1e-06".
[[nodiscard]] Result<policy::Choice> choose_for_device(const std::string& text);

}  // namespace wm::runtime

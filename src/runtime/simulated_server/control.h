// Changes of the programs on a simulated GPU, as `wm set` and `wm end` request them (server/control.h has the
// requests).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/simulated_server/program.h"

namespace wm::runtime {

// The answer to a request. New shares and priorities are those of later launches; `end` disconnects a program.
[[nodiscard]] std::string control_programs(const std::string& request, const std::vector<ServedProgram*>& programs,
                                           const std::function<void(ServedProgram&)>& end);

}  // namespace wm::runtime

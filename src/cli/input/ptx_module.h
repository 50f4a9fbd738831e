// PTX made ready to run: an instruction that warpmux does not have refuses only its function (exec::decode reports it
// when a kernel needs the function), and products are fused into additions as ptxas does.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::cli {

// `fmad`: "on" fuses as ptxas does by default, "off" executes multiplications and additions as they are written.
Result<ptx::Module> load_ptx(std::string_view text, const std::string& file, std::string_view fmad = "on");

}  // namespace wm::cli

// Measured or simulated figures of the corpus: a CSV with one row per launch of a case.
//
// The columns `name`, `launch` and `cycles` are required, in any order; others are kept by their names. Lines that
// begin with # are comments.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lab/validation/simulated_launches.h"

namespace wm::lab {

using LaunchFigures = std::map<std::string, double>;                                // by column
using LaunchRows = std::map<std::pair<std::string, std::uint32_t>, LaunchFigures>;  // by case and launch

// `path` names the text in errors.
Result<LaunchRows> parse_launch_rows(std::string_view text, const std::string& path);

// The rows of a case that was simulated, with the columns of `launch_rows_text`.
void add_rows(LaunchRows& rows, const std::string& name, const SimulatedRun& run);

// The text of simulated rows, which parse_launch_rows reads.
std::string launch_rows_text(const LaunchRows& rows, const std::string& comment);

}  // namespace wm::lab

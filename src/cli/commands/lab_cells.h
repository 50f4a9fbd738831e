// Runs cells of the lab and shows how far they are.
#pragma once

#include <string>

#include "base/result.h"
#include "lab/experiment/runner.h"

namespace wm::cli {

// `options` need no program: this one runs the cells, those of the block machine in this process where `here`.
Result<lab::RunSummary> run_cells(lab::RowStore& store, const std::string& path, lab::Executor& executor, bool here,
                                  lab::RunnerOptions options, const lab::Matrix& matrix);

}  // namespace wm::cli

// wm sim --machine block: applications and kernels on a system at thread-block grain.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/input/run_options.h"
#include "lab/run/run_spec.h"

namespace wm::cli {

struct BlockOptions {
  std::string json;
  std::string trace;
  const RunOptions* run = nullptr;  // for rates of kernels, which are measured on the cycle machine
};

Result<int> run_block(const lab::RunSpec& spec, const BlockOptions& options);

}  // namespace wm::cli

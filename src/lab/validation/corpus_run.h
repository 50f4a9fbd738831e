// Simulates cases of the corpus, several at a time: two launches each, the first with L2 cold.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/case_table.h"
#include "gpu/gpu_config.h"
#include "lab/validation/launch_rows.h"

namespace wm::lab {

struct CorpusRun {
  const gpu::GpuConfig& gpu;
  std::string ptx_folder;  // has FILE.ptx for every file that the cases name
  unsigned jobs = 1;
  // Called after each case, by one thread at a time.
  std::function<void(const std::string& name, std::size_t done, std::size_t all)> progress;
};

// The rows of all cases, or the error of the first case that failed.
Result<LaunchRows> run_corpus(const std::vector<gpu::LaunchCase>& cases, const CorpusRun& run);

}  // namespace wm::lab

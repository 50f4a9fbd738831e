// wm sim --machine block: applications and kernels on a system at thread-block grain.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "cli/input/run_options.h"
#include "lab/run/block_apps.h"
#include "lab/run/run_spec.h"

namespace wm::cli {

struct BlockOptions {
  std::string json;
  std::string trace;
  std::string html;                 // file for a page with the timeline; empty: none
  bool timeline = false;            // put the timeline into the JSON
  std::string decisions;            // file for the policy's events and actions; empty: none
  const RunOptions* run = nullptr;  // for rates of kernels, which are measured on the cycle machine
  bool is_cell = false;             // the run has the length that its experiment gives
};

// Runs of applications in this process, for the lab: each system and application is loaded and run in isolation once.
// Returns the document that `wm sim --json` writes. May be called from several threads.
class BlockCells {
 public:
  Result<std::string> run(const lab::RunSpec& spec);

 private:
  Result<lab::BlockApps*> apps_of(const std::string& system);

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<lab::BlockApps>> systems_;
};

Result<int> run_block(lab::RunSpec spec, const BlockOptions& options);

}  // namespace wm::cli

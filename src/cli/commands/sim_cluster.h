// wm sim --machine block --gpus N: requests of applications on a node or a cluster of GPUs, at launch grain.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "lab/run/run_spec.h"

namespace wm::cli {

struct ClusterOptions {
  std::uint32_t gpus = 0;  // 0: no cluster
  std::string placement = "first_fit";
  double seconds = 0;  // simulated time
  double limit = 1;    // sum of the demands that a GPU takes
  std::string json;
};

Result<int> run_cluster(const lab::RunSpec& spec, const ClusterOptions& options);

}  // namespace wm::cli

// Applications from YAML: configs/apps/<name>.yaml or a file of the user's.
//
//   name: spmv
//   about: sparse matrix times vector, medium input
//   measured_sms: 13
//   kernels:
//     spmvjds: {blocks: 374, threads: 32, registers: 928, shared_memory: 0 B, time: 42.38 us, variation: 0.1}
//   trace:
//   - cpu: 300 us
//   - copy_to_device: 1300 KB
//   - repeat: 50
//     steps: [{launch: spmvjds}]
//   - sync: all
//   - copy_to_host: 47 KB
//
// `registers` and `shared_memory` are of one block, as the papers' tables give them. A kernel has either `time`, of
// an isolated launch on `measured_sms` SMs, or `block_time`, or `recorded`, a file of recorded blocks (block_record.h).
// Copies hold the thread until they are done unless `async: true`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/block/app_trace.h"

namespace wm::sim {

Result<AppTrace> parse_app(std::string_view yaml, const std::string& file);
// A path (it ends in .yaml), or a name in `folder`. NAME/KERNEL is a single launch of one of its kernels and nothing
// else; NAME/KERNEL@1ms is the same with more blocks, where it takes less than that time in isolation.
Result<AppTrace> load_app(const std::string& name_or_path, const std::string& folder);
// The names in `folder`, sorted.
std::vector<std::string> app_names(const std::string& folder);

}  // namespace wm::sim

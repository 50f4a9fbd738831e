// A recording as files: an application for the block machine, the blocks of each of its kernels, and its calls.
#pragma once

#include <string>
#include <vector>

#include "runtime/recorder/block_recorder.h"

namespace wm::runtime {

struct RecordedFile {
  std::string name;
  std::string text;
};

struct RecordedFormat {
  std::uint64_t max_launches = 8;  // launches of a kernel that are written
  bool compressed = false;         // the blocks as NAME-KERNEL.csv.zst
};

// NAME.yaml, NAME-KERNEL.csv for every kernel (with a number where a kernel has several grids) and NAME-calls.csv.
// `about` says where the recording was made.
Result<std::vector<RecordedFile>> recorded_app(const Recording& recording, const std::string& name,
                                               const std::string& about, const RecordedFormat& format);

}  // namespace wm::runtime

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

// NAME.yaml, NAME-KERNEL.csv for every kernel (with a number where a kernel has several grids) and NAME-calls.csv.
// `about` says where the recording was made. At most `max_launches` launches of a kernel are written.
std::vector<RecordedFile> recorded_app(const Recording& recording, const std::string& name, const std::string& about,
                                       std::uint64_t max_launches);

}  // namespace wm::runtime

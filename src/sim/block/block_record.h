// Start, end and SM of every block of a kernel, as recorded on a GPU: the durations behind a kernel of an application.
//
// The file is text. Its first line is launch,block,sm,start_ns,end_ns; every other line is one block with these
// numbers, in any order. Each launch has the same blocks, numbered from 0. A file whose name ends in .zst is
// compressed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace wm::sim {

struct BlockRecord {
  std::uint32_t launches = 0;
  std::uint32_t blocks = 0;       // blocks of each launch
  std::uint32_t sms = 0;          // SMs that were used
  Picoseconds block_time;         // mean
  Picoseconds launch_time;        // from the first start to the last end, mean over launches
  std::vector<double> durations;  // nanoseconds of every block
};

Result<BlockRecord> parse_block_record(std::string_view text, const std::string& file);
Result<BlockRecord> load_block_record(const std::string& path);

}  // namespace wm::sim

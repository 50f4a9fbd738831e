// A comparison as the document of a page (web/README.md).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "gpu/gpu_config.h"
#include "lab/run/block_run.h"
#include "lab/run/compare.h"

namespace wm::cli {

// The interval of timelines made for a page, in cycles; the page shows at most 200 points.
inline constexpr std::uint64_t kPageInterval = 1000;

struct Page {
  std::string title;
  std::string about;
  std::string command;  // the command that repeats it
};

nlohmann::ordered_json document_of(const Page& page, const gpu::GpuConfig& gpu, const lab::Comparison& comparison);
// One run on the block machine, whose processes are the kernels of the timeline.
nlohmann::ordered_json document_of(const Page& page, const lab::BlockRunResult& run,
                                   const nlohmann::ordered_json& timeline);

}  // namespace wm::cli

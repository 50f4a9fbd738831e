// Launches and blocks: the time of an empty kernel, and the rate at which blocks start.
#include <fmt/format.h>

#include "probes/probe.h"

namespace wm::validation {
namespace {

// Blocks that do nothing; the slope between `few` and three times as many.
Probe blocks(const std::string& name, std::uint32_t few, std::uint32_t threads, bool slope) {
  Probe p{.name = name, .unit = "cycles", .ptx = {}, .application = {}, .clocks = {}};
  p.ptx = probe_module("", "", "");
  const gpu::BufferId data = p.application.add("data", std::vector<std::uint64_t>(4));
  p.clocks = p.application.add("clocks", std::vector<std::uint64_t>(4));
  p.application.upload(data);
  p.application.upload(p.clocks);
  std::uint32_t clock_index = 0;
  for (const std::uint32_t count : {few, few, slope ? 3 * few : few})
    p.application.launch(
        {.kernel = "k",
         .grid = {count},
         .block = {threads},
         .arguments = {gpu::buffer(data), gpu::buffer(p.clocks), gpu::scalar(clock_index++), gpu::scalar(1)},
         .dynamic_shared_bytes = 0});
  p.work = slope ? 2.0 * few : 1;
  p.times_launch = true;
  p.slope = slope;
  return p;
}

}  // namespace

void add_launch_probes(std::vector<Probe>& to, std::uint32_t sms) {
  to.push_back(blocks("launch.empty", 1, 32, false));
  to.push_back(blocks("launch.full", sms * 8, 256, false));
  for (const std::uint32_t threads : {32U, 256U, 1024U})
    to.push_back(blocks(fmt::format("block.{}", threads), sms * 64, threads, true));
}

}  // namespace wm::validation

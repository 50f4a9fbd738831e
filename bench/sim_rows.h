// The kernels that simulators are compared on, as participants of a simulation: vecadd 4096 x 256, sgemm 256^3 in 16x16
// tiles, a loop of fused multiply-adds 640 x 256 (588 instructions a warp), random gathers 512 x 256.
#pragma once

#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/tiled_sgemm.h"
#include "kernels/benchmark.h"
#include "lab/run/corun.h"
#include "ptx/parse.h"

namespace wm::bench {

inline std::vector<std::string> sim_rows() { return {"vecadd", "sgemm", "fma", "gather"}; }

inline Result<lab::Participant> sim_row(const std::string& name) {
  const bool tiled = name == "sgemm";
  lab::Participant p;
  p.name = name;
  p.ptx_file = name + ".ptx";
  std::string_view text = kTiledSgemm;
  if (tiled) {
    p.application = std::make_shared<const gpu::Application>(tiled_sgemm());
  } else {
    const auto entry = zoo::find(name);
    if (!entry) return entry.error();
    text = (*entry)->ptx;
    p.application = std::make_shared<const gpu::Application>((*entry)->benchmark.make(zoo::Size::large).application);
  }
  auto module = ptx::parse(text, p.ptx_file);
  if (!module) return module.error();
  p.module = std::make_shared<const ptx::Module>(*std::move(module));
  return p;
}

}  // namespace wm::bench

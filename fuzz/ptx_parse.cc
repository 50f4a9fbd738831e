// Any text either parses, and then prints and parses again to the same module, or is refused with a place in it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptx/analysis.h"
#include "ptx/contraction.h"
#include "ptx/dependencies.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "ptx/schedule.h"

namespace {

void require(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wm::ptx;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = parse(text, "input");
  if (!module) {
    require(module.error().where.line != 0 && module.error().where.column != 0, "an error without a place");
    return 0;
  }
  const std::string printed = print(*module);
  const auto again = parse(printed, "printed");
  require(again.ok(), "what was printed does not parse");
  require(*again == *module, "what was printed is another module");
  require(print(*again) == printed, "printing is not canonical");
  for (const Function& function : module->functions) {
    const ControlFlow flow = control_flow(function);
    require(flow.post_dominator.size() == flow.blocks.size(), "a block without a post-dominator");
    liveness(function, flow);
    register_demand(*module, function);
    static_counts(function);
    const Function fused = contracted(function);
    require(!violated_dependency(fused, in_latency_order(fused)), "a reordered function breaks a dependency");
  }
  return 0;
}

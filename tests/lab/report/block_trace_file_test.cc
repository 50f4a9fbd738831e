// The timeline of a run on the block machine, as a file for ui.perfetto.dev.
#include "lab/report/block_trace_file.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/json.h"

namespace wm::lab {
namespace {

// A cycle of 706 MHz is not a whole number of nanoseconds, so ends and beginnings are rounded.
TEST(BlockTraceFile, ASpanEndsNotAfterTheNextOneBegins) {
  BlockTraceFile trace({"a"}, 1, {706'000'000});
  for (std::uint64_t i = 0; i < 1000; ++i) trace.run_ended(0, i * 1001, (i + 1) * 1001);
  const auto document = nlohmann::json::parse(trace.text());
  const auto nanoseconds = [](double us) { return std::llround(us * 1000); };
  long long last = 0;
  int spans = 0;
  for (const auto& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_EQ(nanoseconds(event["ts"].get<double>()), last) << spans;
    last = nanoseconds(event["ts"].get<double>()) + nanoseconds(event["dur"].get<double>());
    ++spans;
  }
  EXPECT_EQ(spans, 1000);
}

}  // namespace
}  // namespace wm::lab

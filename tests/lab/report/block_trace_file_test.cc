// The timeline of a run on the block machine, as a file for ui.perfetto.dev.
#include "lab/report/block_trace_file.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "base/json.h"

namespace wm::lab {
namespace {

// A cycle of 706 MHz is not a whole number of nanoseconds, so ends and beginnings are rounded.
TEST(BlockTraceFile, ASpanEndsNotAfterTheNextOneBegins) {
  BlockTraceFile trace({"a"}, 1, {706'000'000});
  for (std::uint64_t i = 0; i < 1000; ++i) trace.run_ended(0, i * 1001, (i + 1) * 1001);
  const auto document = nlohmann::json::parse(trace.text(1'001'000));
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

struct Span {
  int group = 0;
  int row = 0;
  double begin = 0;
  double end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

// The spans in microseconds, which are cycles of a clock of 1 MHz.
std::vector<Span> spans_of(BlockTraceFile& trace, std::uint64_t end) {
  std::vector<Span> spans;
  const auto document = nlohmann::json::parse(trace.text(end));
  for (const auto& e : document["traceEvents"])
    if (e["ph"] == "X") spans.push_back({e["pid"], e["tid"], e["ts"], e["ts"].get<double>() + e["dur"].get<double>()});
  return spans;
}

constexpr int kSms = 1;
constexpr int kTransfers = 2;
constexpr int kFirstProcess = 10;

// Spans of a row that overlap without one being inside the other cannot be drawn.
TEST(BlockTraceFile, ClientsOfOneSmHaveRowsOfTheirOwn) {
  BlockTraceFile trace({"a", "b"}, 2, {1'000'000});
  const sim::KernelModel kernel;
  trace.launch_began(0, 0, kernel, 0);
  trace.launch_began(1, 1, kernel, 0);
  trace.block_began({1, 0, 0}, 0, 0, false);
  trace.block_began({1, 1, 0}, 5, 5, false);
  trace.block_left({1, 0, 0}, 10, true);
  trace.block_began({1, 0, 1}, 12, 12, false);
  trace.block_left({1, 1, 0}, 15, true);
  trace.block_left({1, 0, 1}, 20, true);
  trace.launch_ended(0, 0, 20);
  trace.launch_ended(1, 1, 20);
  const auto spans = spans_of(trace, 20);
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(spans[0], (Span{kSms, 64, 0, 10}));
  EXPECT_EQ(spans[1], (Span{kSms, 65, 5, 15}));
  EXPECT_EQ(spans[2], (Span{kSms, 64, 12, 20}));
}

TEST(BlockTraceFile, RequestsThatWaitForOthersHaveRowsOfTheirOwn) {
  BlockTraceFile trace({"a"}, 1, {1'000'000});
  trace.run_ended(0, 0, 10);
  trace.run_ended(0, 5, 20);
  trace.run_ended(0, 8, 30);
  trace.run_ended(0, 20, 40);
  const auto spans = spans_of(trace, 40);
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0], (Span{kFirstProcess, 0, 0, 10}));
  EXPECT_EQ(spans[1], (Span{kFirstProcess, 1'000'001, 5, 20}));
  EXPECT_EQ(spans[2], (Span{kFirstProcess, 1'000'002, 8, 30}));
  EXPECT_EQ(spans[3], (Span{kFirstProcess, 0, 20, 40})) << "the first row is free again";
}

// A run that --cycles ends has launches and blocks under way, and CPU phases and copies that would end later.
TEST(BlockTraceFile, WhatIsUnderWayEndsWithTheRun) {
  BlockTraceFile trace({"a"}, 1, {1'000'000});
  trace.cpu_phase(0, 0, 10);
  trace.launch_began(0, 0, sim::KernelModel{}, 20);
  trace.block_began({0, 0, 0}, 20, 20, false);
  trace.cpu_phase(0, 30, 1000);
  trace.transfer(0, false, 4096, 40, 900);
  const auto spans = spans_of(trace, 50);
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(spans[0], (Span{kFirstProcess, 1, 0, 10}));
  EXPECT_EQ(spans[1], (Span{kSms, 0, 20, 50}));
  EXPECT_EQ(spans[2], (Span{kFirstProcess, 10, 20, 50}));
  EXPECT_EQ(spans[3], (Span{kFirstProcess, 1, 30, 50}));
  EXPECT_EQ(spans[4], (Span{kTransfers, 1, 40, 50}));
}

}  // namespace
}  // namespace wm::lab

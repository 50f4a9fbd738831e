#include "cli/output/terminal.h"

#include <gtest/gtest.h>

#include "cli/output/table.h"

namespace wm::cli {
namespace {

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(scaled(950), "950");
  EXPECT_EQ(scaled(23'456'789), "23.5 M");
  EXPECT_EQ(scaled(999'999), "1.0 M");
  EXPECT_EQ(duration(0.0123), "12 ms");
  EXPECT_EQ(duration(1.26), "1.3 s");
  EXPECT_EQ(duration(83.2), "1 min 23 s");
}

TEST(Text, ABarWithAnEstimate) {
  EXPECT_EQ(progress_line(0.5, 10, "sgemm"), "[###############---------------]  50%  sgemm  about 10.0 s left");
  EXPECT_EQ(progress_line(0, 3, ""), "[------------------------------]   0%  ");
  EXPECT_EQ(progress_line(2, 3, "x"), "[##############################] 100%  x");
}

TEST(Text, ABarFillsToAnEighthOfAColumn) {
  EXPECT_EQ(bar(0, 4), "    ");
  EXPECT_EQ(bar(0.5, 4), "██  ");
  EXPECT_EQ(bar(0.65, 4), "██▋ ");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(7, 4), "████");
}

TEST(Text, TablesAlign) {
  Table table({"kernel", "time", "result"});
  table.add({"sgemm", "12 ms", "passed"});
  table.add({"größe", "1.2 s", "FAILED"});
  EXPECT_EQ(table.to_string(),
            "kernel   time  result\n"
            "sgemm   12 ms  passed\n"
            "größe   1.2 s  FAILED\n");
}

TEST(Text, ProgressIsSilentInAPipe) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(1);
    progress.advance(1, "x");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace wm::cli

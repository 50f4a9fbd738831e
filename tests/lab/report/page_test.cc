// The page is one file with its document inside, whatever stands in the document.
#include "lab/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "lab/report/page_template.h"
#include "lab/report/timeline_document.h"
#include "lab/scratch.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class Page : public ::testing::Test {
 protected:
  void SetUp() override {
    if (page_template().empty()) GTEST_SKIP() << "this build has no page: " << why_no_page();
  }
};

TEST_F(Page, HoldsItsDocumentAndRefersToNothingElse) {
  const std::string html = *page_of({{"schema", 1}, {"title", "a title"}, {"runs", Json::array()}});
  EXPECT_THAT(html, HasSubstr(R"({"schema":1,"title":"a title","runs":[]})"));
  for (const char* reference : {"<script src", "<link rel=\"stylesheet", "<img ", "@import"})
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
}

TEST_F(Page, ANameCannotEndTheScript) {
  const std::string html = *page_of({{"schema", 1}, {"title", "</script><b>"}, {"runs", Json::array()}});
  EXPECT_EQ(html.find("</script><b>"), std::string::npos);
  EXPECT_THAT(html, HasSubstr("\\u003c/script>"));
}

TEST_F(Page, AFileThatCannotBeWrittenIsAnError) {
  const auto written = write_page("/nowhere/page.html", {{"schema", 1}, {"title", ""}, {"runs", Json::array()}});
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().to_string(), HasSubstr("/nowhere/page.html"));
}

double part(char c) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return static_cast<double>(alphabet.find(c)) / 63;
}

TEST(TimelineDocument, SaysWhatEachKernelHoldsOfEverySm) {
  sim::Timeline timeline(500);
  CorunOptions options;
  options.cycles = 4000;
  options.isolated = false;
  options.timeline = &timeline;
  const gpu::GpuConfig gpu = test_gpu();
  const CorunResult run =
      *corun(gpu, {zoo_participant("lbm"), zoo_participant("cutcp")}, *policy::choose("spatial"), options);
  const Json t = timeline_document(gpu, run, timeline);
  ASSERT_EQ(t["held"].size(), 2U);
  ASSERT_EQ(t["held"][0].size(), 16U);
  const auto bins = t["bins"].get<std::size_t>();
  EXPECT_GE(bins * t["bin"].get<std::uint64_t>(), run.cycles);
  const std::uint64_t begin = bins / 4 * t["bin"].get<std::uint64_t>();
  const std::uint64_t end = begin + t["bin"].get<std::uint64_t>();
  for (std::uint32_t sm = 0; sm < 16; ++sm) {
    EXPECT_EQ(t["off"][sm].get<std::string>(), std::string(bins, 'A')) << "nothing was switched off";
    for (std::uint32_t k = 0; k < 2; ++k) {
      double held = 0;
      for (const sim::BlockSpan& s : timeline.blocks()) {
        if (s.block.sm != sm || s.block.client != k) continue;
        const std::uint64_t shared = std::min(end, s.end) - std::min(end, std::max(begin, s.begin));
        held += s.end <= begin
                    ? 0
                    : static_cast<double>(shared) / static_cast<double>(end - begin) / s.block.max_blocks_per_sm;
      }
      const auto text = t["held"][k][sm].get<std::string>();
      ASSERT_EQ(text.size(), bins);
      EXPECT_NEAR(part(text[bins / 4]), held, 1.0 / 63);
    }
  }
  EXPECT_GT(part(t["held"][0][0].get<std::string>()[bins / 4]), 0.3);
  EXPECT_EQ(t["curves"]["begin"].size(), t["curves"]["kernels"][0]["ipc"].size());
  EXPECT_TRUE(t["curves"]["kernels"][0]["quota"].is_null());
}

}  // namespace
}  // namespace wm::lab

// The page is one file with its document inside, whatever stands in the document.
#include "lab/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lab/page_template.h"
#include "lab/scratch.h"
#include "lab/timeline_document.h"

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

TEST(TimelineDocument, SaysWhatEachKernelHoldsOfEverySm) {
  sim::Timeline timeline(500);
  CorunOptions options;
  options.cycles = 4000;
  options.alone = false;
  options.timeline = &timeline;
  const gpu::GpuConfig gpu = test_gpu();
  const CorunResult run =
      *corun(gpu, {zoo_participant("lbm"), zoo_participant("cutcp")}, *policy::choose("spatial"), options);
  const Json t = timeline_document(gpu, run, timeline);
  ASSERT_EQ(t["held"].size(), 2U);
  ASSERT_EQ(t["held"][0].size(), 16U);
  const auto bins = t["bins"].get<std::size_t>();
  EXPECT_GE(bins * t["bin"].get<std::uint64_t>(), run.cycles);
  // Spatial sharing: an SM holds blocks of one kernel, to the brim in the middle of the run.
  int full = 0;
  for (std::size_t sm = 0; sm < 16; ++sm) {
    const auto lbm = t["held"][0][sm].get<std::string>();
    const auto cutcp = t["held"][1][sm].get<std::string>();
    EXPECT_EQ(lbm.size(), bins);
    EXPECT_TRUE(lbm[bins / 2] == 'A' || cutcp[bins / 2] == 'A') << sm;
    if (lbm[bins / 2] == '/' || cutcp[bins / 2] == '/') ++full;
    EXPECT_EQ(t["off"][sm].get<std::string>(), std::string(bins, 'A')) << "nothing was switched off";
  }
  EXPECT_GE(full, 8);
  EXPECT_EQ(t["curves"]["begin"].size(), t["curves"]["kernels"][0]["ipc"].size());
  EXPECT_TRUE(t["curves"]["kernels"][0]["quota"].is_null());
}

}  // namespace
}  // namespace wm::lab

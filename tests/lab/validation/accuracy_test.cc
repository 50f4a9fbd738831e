#include "lab/validation/accuracy.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"
#include "gpu/load_gpu.h"
#include "lab/validation/accuracy_page.h"
#include "lab/validation/corpus_run.h"
#include "tree.h"

namespace wm::lab {
namespace {

LaunchRows rows(const std::string& text) {
  auto parsed = parse_launch_rows(text, "rows.csv");
  EXPECT_TRUE(parsed.ok());
  return parsed ? *std::move(parsed) : LaunchRows{};
}

std::string error_of(const std::string& text) {
  const auto parsed = parse_launch_rows(text, "rows.csv");
  return parsed ? "" : parsed.error().to_string();
}

TEST(LaunchRows, ColumnsAreFoundByName) {
  const LaunchRows r = rows("# about\ncycles,name,extra,launch\n10,a.x,3,1\n");
  EXPECT_EQ(r.at({"a.x", 1}).at("cycles"), 10);
  EXPECT_EQ(r.at({"a.x", 1}).at("extra"), 3);
}

TEST(LaunchRows, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(error_of(""), "rows.csv: no header; expected name,launch,cycles,…");
  EXPECT_EQ(error_of("name,launch\n"), "rows.csv:1: no column 'cycles'; expected name,launch,cycles,…");
  EXPECT_EQ(error_of("name,launch,cycles\na,0\n"), "rows.csv:2: 2 fields; expected 3, as the header has");
  EXPECT_EQ(error_of("name,launch,cycles\na,0,-1\n"),
            "rows.csv:2: cycles '-1'; expected a number that is not negative");
  EXPECT_EQ(error_of("name,launch,cycles\na,0,nan\n"),
            "rows.csv:2: cycles 'nan'; expected a number that is not negative");
  EXPECT_EQ(error_of("name,launch,cycles\na,0,1\na,0,2\n"), "rows.csv:3: launch 0 of 'a' occurs twice");
}

TEST(LaunchRows, WrittenRowsAreReadBack) {
  SimulatedRun run;
  run.launches.push_back({.kernel = "k", .cycles = 7, .issued = 8, .l2_sectors = 9, .dram_read_sectors = 10});
  LaunchRows made;
  add_rows(made, "k.small", run);
  EXPECT_EQ(rows(launch_rows_text(made, "about")), made);
}

TEST(Accuracy, ErrorsAndShares) {
  const LaunchRows measured = rows(
      "name,launch,cycles,instructions,l1_l2_sectors,dram_read_bytes\n"
      "a.1,0,100,1000,1000,64000\n"
      "b.1,0,200,1000,5000,640000\n"
      "c.1,0,50,1,1,1\n");
  const LaunchRows simulated = rows(
      "name,launch,cycles,instructions,l2_sectors,dram_read_sectors\n"
      "a.1,0,110,1050,1190,1500\n"   // +10%; instructions at the edge; sectors and bytes differ by noise only
      "b.1,0,100,1051,5751,23001\n"  // -50%; instructions and sectors just beyond their edges
      "d.1,0,1,1,1,1\n");
  const auto cases = compare(measured, simulated);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_FALSE(cases[0].warm);
  const AccuracySummary s = summarize(cases, Part::all, Temperature::cold);
  EXPECT_EQ(s.launches, 2U);
  EXPECT_DOUBLE_EQ(s.mean_absolute_error, 0.3);
  EXPECT_EQ(s.beyond_40_percent, 1U);
  EXPECT_EQ(s.largest_name, "b.1");
  EXPECT_DOUBLE_EQ(s.largest_error, -0.5);
  EXPECT_DOUBLE_EQ(s.instructions_within_5_percent, 0.5);
  EXPECT_DOUBLE_EQ(s.instructions_within_15_percent, 1);
  EXPECT_DOUBLE_EQ(s.l2_within_15_percent, 0.5);
  EXPECT_DOUBLE_EQ(s.dram_within_15_percent, 0.5);
  EXPECT_EQ(summarize(cases, Part::all, Temperature::warm).launches, 0U);
}

TEST(Accuracy, CorrelationIsOfLogarithms) {
  const LaunchRows measured = rows("name,launch,cycles\na,0,10\nb,0,100\nc,0,1000\n");
  const LaunchRows cubes = rows("name,launch,cycles\na,0,1000\nb,0,1000000\nc,0,1000000000\n");
  const LaunchRows inverse = rows("name,launch,cycles\na,0,1000\nb,0,100\nc,0,10\n");
  EXPECT_NEAR(summarize(compare(measured, cubes), Part::all, Temperature::cold).log_correlation, 1, 1e-12);
  EXPECT_NEAR(summarize(compare(measured, inverse), Part::all, Temperature::cold).log_correlation, -1, 1e-12);
}

TEST(Accuracy, KernelsAreSetAsideByTheirName) {
  EXPECT_EQ(is_set_aside("arg_max.2m"), is_set_aside("arg_max.other"));
  EXPECT_TRUE(is_set_aside("arg_max.2m"));
  EXPECT_FALSE(is_set_aside("align_tiles.264"));
}

TEST(CorpusRun, ACaseRunsColdAndWarm) {
  const auto gpu = gpu::load_gpu("h200", source_path("configs/gpus"));
  const auto text = read_file(source_path("validation/corpus/kernels.txt"));
  ASSERT_TRUE(gpu.ok() && text.ok());
  auto cases = gpu::parse_cases(*text, "kernels.txt");
  ASSERT_TRUE(cases.ok());
  std::erase_if(*cases, [](const gpu::LaunchCase& c) { return c.name != "copy_words.small"; });
  const auto rows =
      run_corpus(*cases, {.gpu = *gpu, .ptx_folder = source_path("validation/corpus/ptx"), .progress = {}});
  ASSERT_TRUE(rows.ok()) << rows.error().to_string();
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_GT(rows->at({"copy_words.small", 0}).at("cycles"), rows->at({"copy_words.small", 1}).at("cycles"));
  EXPECT_GT(rows->at({"copy_words.small", 0}).at("dram_read_sectors"), 0);
  const auto failed = run_corpus(*cases, {.gpu = *gpu, .ptx_folder = "/nowhere", .progress = {}});
  EXPECT_FALSE(failed.ok());
}

// docs/results/corpus.md is written from the committed rows; WM_UPDATE_DOCS=1 writes it anew.
TEST(Docs, TheCorpusPageIsOfTheCommittedRows) {
  const auto comment = [](const std::string& text) { return text.substr(2, text.find('\n') - 2); };
  const auto measured = read_file(source_path("validation/h200/corpus.csv"));
  const auto simulated = read_file(source_path("validation/h200/corpus-simulated.csv"));
  ASSERT_TRUE(measured.ok() && simulated.ok());
  const auto cases = compare(rows(*measured), rows(*simulated));
  const std::string page = accuracy_page(cases, "h200", comment(*measured), comment(*simulated));
  const std::string path = source_path("docs/results/corpus.md");
  if (std::getenv("WM_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(write_file(path, page).ok());
  }
  const auto committed = read_file(path);
  ASSERT_TRUE(committed.ok());
  EXPECT_EQ(*committed, page) << "WM_UPDATE_DOCS=1 writes the page anew";
}

}  // namespace
}  // namespace wm::lab

// Recorded blocks: times, distributions and mistakes, and a kernel that takes them from a file.
#include "sim/block/block_record.h"

#include <fstream>
#include <gtest/gtest.h>

#include "base/zstd.h"
#include "sim/block/load_app.h"

namespace wm::sim {
namespace {

constexpr const char* kTwoLaunches =
    "launch,block,sm,start_ns,end_ns\n"
    "0,0,0,100,200\n0,1,1,100,400\n0,2,0,200,400\n"
    "1,2,0,1000,1200\n1,0,1,1000,1100\n1,1,1,1100,1400\n";

TEST(BlockRecord, HasMeanTimesAndTheDurationsOfAllBlocks) {
  const auto record = parse_block_record(kTwoLaunches, "r.csv");
  ASSERT_TRUE(record.ok()) << record.error().to_string();
  EXPECT_EQ(record->launches, 2U);
  EXPECT_EQ(record->blocks, 3U);
  EXPECT_EQ(record->sms, 2U);
  EXPECT_EQ(record->block_time, Picoseconds{200'000});
  EXPECT_EQ(record->launch_time, Picoseconds{350'000});
  EXPECT_EQ(record->durations, (std::vector<double>{100, 300, 200, 200, 100, 300}));
}

TEST(BlockRecord, ACompressedFileIsReadToo) {
  const std::string path = ::testing::TempDir() + "record.csv.zst";
  const auto data = compress_zstd(kTwoLaunches);
  if (!data) GTEST_SKIP() << data.error().to_string();
  std::ofstream(path, std::ios::binary) << *data;
  const auto record = load_block_record(path);
  ASSERT_TRUE(record.ok()) << record.error().to_string();
  EXPECT_EQ(record->blocks, 3U);
  std::ofstream(path, std::ios::binary) << "no such data";
  EXPECT_EQ(load_block_record(path).error().to_string(), path + ": no zstd data");
  std::ofstream(path, std::ios::binary) << data->substr(0, data->size() - 5);
  EXPECT_NE(load_block_record(path).error().to_string().find("damaged zstd data"), std::string::npos);
}

TEST(BlockRecord, MistakesNameTheirLine) {
  const std::string header = "launch,block,sm,start_ns,end_ns\n";
  const auto error = [](const std::string& text) { return parse_block_record(text, "r.csv").error().to_string(); };
  EXPECT_EQ(error("block,sm\n"), "r.csv:1: the first line must be 'launch,block,sm,start_ns,end_ns'");
  EXPECT_EQ(error(header), "r.csv: no blocks");
  EXPECT_EQ(
      error(header + "0,0,0,5,5\n"),
      "r.csv:2: a block as launch,block,sm,start_ns,end_ns with its end after its start expected, not '0,0,0,5,5'");
  EXPECT_NE(error(header + "0,0,0,5\n").find("r.csv:2: a block as"), std::string::npos);
  EXPECT_EQ(error(header + "0,0,0,0,2000000000000000\n"),
            "r.csv:2: a block of 2000000000000000 ns, at most 1000000000000000 can be simulated");
  EXPECT_NE(error(header + "0,0,0,0,18446744073709551615\n").find("r.csv:2: a block as"), std::string::npos);
  EXPECT_EQ(error(header + "0,0,0,1,2\n0,0,1,1,2\n"), "r.csv:3: block 0 of launch 0 a second time");
  EXPECT_EQ(error(header + "0,0,0,1,2\n0,2,0,1,2\n"), "r.csv: launch 0 has other blocks than 0 to 2");
  EXPECT_EQ(error(header + "0,0,0,1,2\n0,1,0,1,2\n1,0,0,1,2\n"), "r.csv: launch 1 has other blocks than 0 to 1");
}

TEST(BlockRecord, AKernelOfAnApplicationTakesItsBlocksFromTheFileBesideIt) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "recorded.csv") << kTwoLaunches;
  std::ofstream(folder + "recorded.yaml") << "name: mine\nkernels:\n  k: {recorded: recorded.csv, threads: 64}\n"
                                             "trace:\n- launch: k\n";
  const auto app = load_app(folder + "recorded.yaml", "");
  ASSERT_TRUE(app.ok()) << app.error().to_string();
  EXPECT_EQ(app->kernels[0].blocks, 3U);
  EXPECT_EQ(app->kernels[0].block_time, Picoseconds{200'000});
  EXPECT_NEAR(app->kernels[0].shape.longest(), 1.5, 0.01);
  std::ofstream(folder + "twice.yaml")
      << "name: mine\nkernels:\n  k: {recorded: recorded.csv, blocks: 4, threads: 64}\n"
         "trace:\n- launch: k\n";
  const auto twice = load_app(folder + "twice.yaml", "");
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().what.find("'recorded' stands for"), std::string::npos);
}

}  // namespace
}  // namespace wm::sim

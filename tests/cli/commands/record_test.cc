// wm record, with the simulated driver in place of a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The driver would pass an address of global memory, and the kernel read constant memory there.
TEST(Record, RefusesABenchmarkThatTakesPointersToConstantMemory) {
  const Scratch scratch;
  const std::string wm = binary_path("bin/wm");
  const Ran ran = shell(wm + " run --simulate qos16 --timing cycle -- " + wm +
                        " record mri-q-constant --size small --out " + scratch.path("out"));
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("mri-q-constant: a CUDA driver cannot pass its pointers to constant memory"));
}

TEST(Record, WritesAnApplicationThatTheBlockMachineRuns) {
  const Scratch scratch;
  const std::string wm = binary_path("bin/wm");
  const Ran ran = shell(wm + " run --simulate qos16 --timing cycle -- " + wm + " record vecadd --size small --out " +
                        scratch.path("out") + " --json " + scratch.path("json"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto item = nlohmann::ordered_json::parse(scratch.read("json"))["items"][0];
  EXPECT_EQ(item["blocks"], 64);
  EXPECT_EQ(item["results"], "equal");
  // The clock of qos16 is 1,216 MHz, and the cycle machine takes 1,300 to 1,700 cycles for this launch.
  EXPECT_GT(item["launch_us"], 1.0);
  EXPECT_LT(item["launch_us"], 1.5);
  EXPECT_GT(item["block_us"], 0.3);
  EXPECT_LT(item["block_us"], item["launch_us"]);
  EXPECT_THAT(scratch.read("out/vecadd.yaml"),
              AllOf(HasSubstr("vecadd: {recorded: vecadd-vecadd.csv, threads: 256, "), HasSubstr("- repeat: 1\n"),
                    HasSubstr("- copy_to_host: 65380 B\n")));
  EXPECT_THAT(scratch.read("out/vecadd-vecadd.csv"), HasSubstr("launch,block,sm,start_ns,end_ns\n0,0,"));
  EXPECT_THAT(scratch.read("out/vecadd-calls.csv"), HasSubstr("launch,vecadd,0,"));
  const Ran replayed =
      run_wm("sim --machine block --gpu qos16 --once --policy mps --app " + scratch.path("out/vecadd.yaml"));
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("64"));
}

TEST(Record, CompressedBlocksAreReadByTheBlockMachine) {
  const Scratch scratch;
  const std::string wm = binary_path("bin/wm");
  const Ran ran = shell(wm + " run --simulate qos16 --timing cycle -- " + wm +
                        " record vecadd --size small --compress --out " + scratch.path("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(scratch.read("out/vecadd.yaml"), HasSubstr("recorded: vecadd-vecadd.csv.zst,"));
  // A block takes about 20 bytes without compression.
  EXPECT_LT(scratch.read("out/vecadd-vecadd.csv.zst").size(), 64 * 10U);
  const Ran replayed =
      run_wm("sim --machine block --gpu qos16 --once --policy mps --app " + scratch.path("out/vecadd.yaml"));
  EXPECT_EQ(replayed.code, 0) << replayed.err;
}

// The kernel computes 1 + 2.5 i and the changed description expects 1 + 2 i. The other kernel is recorded all the same.
TEST(Record, ResultsAreComparedWithTheReference) {
  const Scratch scratch;
  const std::string wm = binary_path("bin/wm");
  std::string wrong = *read_file(source_path("examples/saxpy/saxpy.yaml"));
  const std::size_t step = wrong.find("step: 2.5");
  ASSERT_NE(step, std::string::npos);
  scratch.write("wrong.yaml", wrong.replace(step, 9, "step: 2"));
  scratch.write("saxpy.ptx", *read_file(source_path("examples/saxpy/saxpy.ptx")));
  const Ran ran = shell(wm + " run --simulate qos16 -- " + wm + " record " + scratch.path("wrong.yaml") +
                        " vecadd --size small --out " + scratch.path("out") + " --json " + scratch.path("json"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("differs: "));
  const auto items = nlohmann::ordered_json::parse(scratch.read("json"))["items"];
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0]["results"], "differs");
  EXPECT_EQ(items[1]["results"], "equal");
}

TEST(Record, RepeatsApplicationsAsTheyAre) {
  const std::string wm = binary_path("bin/wm");
  const Ran ran = shell(wm + " run --simulate qos16 -- " + wm + " record vecadd --size small --repeat 0.1 --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto item = nlohmann::ordered_json::parse(ran.out)["items"][0];
  EXPECT_GE(item["runs"], 1);
  EXPECT_LE(item["mean_us"], 1e5);
}

TEST(Record, RefusalsAreOneLine) {
  const std::string wm = binary_path("bin/wm");
  const Ran size = shell(wm + " run --simulate qos16 -- " + wm + " record vecadd --size huge");
  EXPECT_EQ(size.code, 2);
  EXPECT_THAT(size.err, HasSubstr("no size 'huge': small, medium, large"));
  const Scratch scratch;
  scratch.write("file", "");
  const Ran folder =
      shell(wm + " run --simulate qos16 -- " + wm + " record vecadd --size small --out " + scratch.path("file"));
  EXPECT_EQ(folder.code, 2);
  EXPECT_THAT(folder.err, HasSubstr("is a file, not a folder"));
}

}  // namespace
}  // namespace wm::cli

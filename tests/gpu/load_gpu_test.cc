// GPU descriptions: all that are shipped load, and a copy with a mistake is refused with the line of the mistake.
#include "gpu/load_gpu.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/file.h"
#include "gpu/occupancy.h"
#include "tree.h"

namespace wm::gpu {
namespace {

const std::string kFolder = source_path("configs/gpus");

std::string text_of(const std::string& name) {
  const auto text = read_file(kFolder + "/" + name + ".yaml");
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : "";
}

// The message about smqos24 with one piece of its text replaced; the line the piece is in goes to `line`.
std::string said(const std::string& piece, const std::string& by, std::string& line) {
  std::string text = text_of("smqos24");
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  line = ":" + std::to_string(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
  text.replace(at, piece.size(), by);
  const auto parsed = parse_gpu(text, "mine.yaml");
  return parsed.ok() ? "" : parsed.error().to_string();
}

struct Mistake {
  const char* piece;
  const char* by;
  const char* what;
};
class Mistakes : public ::testing::TestWithParam<Mistake> {};
INSTANTIATE_TEST_SUITE_P(
    Smqos24, Mistakes,
    ::testing::Values(Mistake{"texture_cache: {size: 12 KB, ways", "texture_cache: {size: 12 KB, wys", "wys"},
                      Mistake{"texture_cache:", "texture_cash:", "texture_cash"},
                      Mistake{"texture_cache: {size: 12 KB", "texture_cache: {size: 1 KB", "size must hold"},
                      Mistake{"texture_cache: {size: 12 KB, ways: 24", "texture_cache: {size: 12 KB, ways: 0",
                              "size must"},
                      Mistake{"texture_cache: {size: 12 KB, ways: 24, latency: 36",
                              "texture_cache: {size: 12 KB, ways: 24, latency: 0", "latency"},
                      Mistake{"name: smqos24", "name: \"\"", "'name' must not be empty"},
                      Mistake{"l2: {size: 768 KB", "l2: {dirty_ways: 9, size: 768 KB", "dirty_ways"},
                      Mistake{"l2: {size: 768 KB, slices: 6", "l2: {size: 768 KB, slices: 7", "multiple"},
                      Mistake{"dram: {channels: 6", "dram: {channels: many", "channels"},
                      Mistake{"policy: gto", "policy: gtoo", "unknown warp scheduler 'gtoo' (did you mean 'gto'?)"},
                      Mistake{"dram: {channels: 6", "dram: {channels: 6, scheduler: frfcfs",
                              "unknown DRAM scheduler 'frfcfs' (did you mean 'fr_fcfs'?)"},
                      Mistake{"l2: {size: 768 KB", "l2: {replacement: lruu, size: 768 KB",
                              "unknown cache replacement 'lruu' (did you mean 'lru'?)"}));

TEST_P(Mistakes, AreRefusedWithTheirLine) {
  std::string line;
  const std::string message = said(GetParam().piece, GetParam().by, line);
  EXPECT_NE(message.find("mine.yaml" + line), std::string::npos) << message << " is not of line " << line;
  EXPECT_NE(message.find(GetParam().what), std::string::npos) << message;
}

// The last value inside a range is taken, the first one outside is refused.
TEST(LoadGpu, RangesHaveTwoEnds) {
  struct Range {
    const char* piece;
    const char* inside;
    const char* outside;
    const char* what;
  };
  const Range ranges[] = {
      {"schedulers: 2", "schedulers: 1", "schedulers: 0", "schedulers must be from 1 to 4"},
      {"schedulers: 2", "schedulers: 4", "schedulers: 5", "schedulers must be from 1 to 4"},
      {"count: 24", "count: 1", "count: 0", "count must be from 1 to 1024"},
      {"clock: 1400 MHz", "clock: 10000 MHz", "clock: 10001 MHz", "clock must be from 1 MHz to 10 GHz"},
      {"count: 24", "count: 1024", "count: 1025", "count must be from 1 to 1024"},
      {"issue_width: 1", "issue_width: 2", "issue_width: 3", "issue_width must be 1 or 2"},
      {"{banks: 32,", "{banks: 16,", "{banks: 8,", "banks must be 16 or 32"},
      {"banks: 16, row", "banks: 64, row", "banks: 65, row", "banks must be from 1 to 64"},
      {"row: 2048 B", "row: 128 B", "row: 64 B", "row must be a power of two"},
  };
  for (const Range& r : ranges) {
    std::string line;
    EXPECT_EQ(said(r.piece, r.inside, line), "") << r.inside;
    EXPECT_NE(said(r.piece, r.outside, line).find(r.what), std::string::npos) << r.outside;
  }
}

TEST(LoadGpu, AllThatAreShippedLoad) {
  const auto names = gpu_names(kFolder);
  EXPECT_GE(names.size(), 9U);
  for (const std::string& name : names) {
    const auto g = load_gpu(name, kFolder);
    ASSERT_TRUE(g.ok()) << g.error().to_string();
    EXPECT_EQ(g->name, name);
  }
}

TEST(LoadGpu, ReadOnlyLoadsHaveTheirOwnCacheWhereTheGpuHasOne) {
  for (const char* name : {"k20c", "smqos24"}) EXPECT_NE(load_gpu(name, kFolder)->texture.bytes, 0U) << name;
  for (const char* name : {"k20c", "smqos24"}) EXPECT_TRUE(load_gpu(name, kFolder)->texture.read_only_loads) << name;
  for (const char* name : {"v100", "a100", "h200"}) EXPECT_EQ(load_gpu(name, kFolder)->texture.bytes, 0U) << name;
}

// Warped-Slicer's table II: the registers that the blocks of DXT, MM, HOT and IMG hold, in percent, rounded down. Steps
// of four registers per thread give them; steps of eight give 62 for DXT's 36 registers and 50 for IMG's 28.
TEST(LoadGpu, Slicer16AllocatesRegistersAsThePapersSimulator) {
  for (const char* name : {"slicer16", "slicer16-lrr"}) {
    const SmConfig sm = load_gpu(name, kFolder)->sm;
    const SmLimits limits = {.total = {.threads = sm.threads, .registers = sm.registers, .blocks = sm.blocks},
                             .register_unit = sm.register_unit};
    const auto percent = [&limits](const BlockDemand& block) {
      return *max_blocks(block, limits) * footprint(block, limits).registers * 100 / limits.total.registers;
    };
    EXPECT_EQ(percent({64, 35, 0}), 56U) << name;
    EXPECT_EQ(percent({128, 43, 0}), 85U) << name << ": 86 in the paper";
    EXPECT_EQ(percent({256, 35, 0}), 84U) << name;
    EXPECT_EQ(percent({64, 27, 0}), 43U) << name;
  }
}

TEST(LoadGpu, AnUnknownNameGetsTheNearest) {
  const auto g = load_gpu("h20", kFolder);
  ASSERT_FALSE(g.ok());
  EXPECT_NE(g.error().to_string().find("h200"), std::string::npos);
}

}  // namespace
}  // namespace wm::gpu

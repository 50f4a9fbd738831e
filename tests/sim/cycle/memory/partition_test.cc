// One memory partition by itself: the bytes of a slice per cycle, the dirty lines of a set, and the order of requests.
#include "sim/cycle/memory/partition.h"

#include <gtest/gtest.h>

#include "gpu/load_gpu.h"
#include "tree.h"

namespace wm::sim {
namespace {

gpu::GpuConfig one_slice(std::uint32_t bytes_per_cycle) {
  auto loaded = gpu::load_gpu("qos16", source_path("configs/gpus"));
  EXPECT_TRUE(loaded.ok());
  gpu::GpuConfig c = *loaded;
  c.dram.channels = 1;
  c.l2.slices = 1;
  c.l2.bytes = 64 * 1024;
  c.l2.bytes_per_cycle = bytes_per_cycle;
  c.noc.bytes_per_cycle = 1024;  // replies never wait for the port
  return c;
}

Message message(MessageKind kind, LineAddress line, std::uint64_t time, Sectors sectors = 0xf) {
  return {.time = time, .line = line, .kind = kind, .sectors = sectors};
}

// The times of the replies to whole lines that are all asked for at once and present.
std::vector<std::uint64_t> replies_to(std::uint32_t bytes_per_cycle, std::uint32_t lines, Sectors sectors) {
  const gpu::GpuConfig c = one_slice(bytes_per_cycle);
  Partition p(c, *derive_timing(c), 0);
  std::vector<Message> out;
  for (std::uint32_t i = 0; i < lines; ++i) p.receive(message(MessageKind::write, i, i));
  p.run(10'000, out);
  out.clear();
  for (std::uint32_t i = 0; i < lines; ++i) p.receive(message(MessageKind::read, i, 20'000, sectors));
  p.run(40'000, out);
  std::vector<std::uint64_t> times;
  for (const Message& m : out) times.push_back(m.time);
  return times;
}

TEST(Slice, DeliversItsBytesACycle) {
  for (const std::uint32_t bytes : {32U, 48U, 49U, 64U}) {
    const auto times = replies_to(bytes, 50, 0xf);
    ASSERT_EQ(times.size(), 50U);
    EXPECT_EQ(times.back() - times.front(), 49U * 128 / bytes) << bytes;
  }
}

TEST(Slice, TakesACycleForWhatIsLess) {
  const auto times = replies_to(64, 50, 0x1);
  EXPECT_EQ(times.back() - times.front(), 49U);
}

TEST(Slice, KeepsAsManyLinesOfASetDirtyAsItMay) {
  gpu::GpuConfig c = one_slice(64);
  const std::uint32_t lines = c.l2.bytes / kLineBytes;
  const auto written_back = [&](std::uint32_t dirty_ways) {
    c.l2.dirty_ways = dirty_ways;
    Partition p(c, *derive_timing(c), 0);
    std::vector<Message> out;
    for (std::uint32_t i = 0; i < lines / 2; ++i) p.receive(message(MessageKind::write, i, 100 * i));
    p.run(100 * lines, out);
    return p.counters(0).dram_write_sectors;
  };
  EXPECT_EQ(written_back(1), 4U * (lines / 2 - lines / c.l2.ways));  // every set has one left
  EXPECT_GT(written_back(1), written_back(4));
  EXPECT_LT(written_back(0), 4U * 16);  // hashing overfills a set here and there
}

TEST(Slice, AStoreTellsTheSectorsThatL2DidNotHave) {
  const gpu::GpuConfig c = one_slice(64);
  Partition p(c, *derive_timing(c), 0);
  std::vector<Message> out;
  p.receive(message(MessageKind::write, 7, 0, 0x3));
  p.receive(message(MessageKind::write, 7, 1'000, 0x7));
  p.receive(message(MessageKind::write, 7, 2'000, 0xf));
  p.receive(message(MessageKind::write, 7, 3'000, 0xf));
  p.run(10'000, out);
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out[0].missed, 2);
  EXPECT_EQ(out[1].missed, 1);
  EXPECT_EQ(out[2].missed, 1);
  EXPECT_EQ(out[3].missed, 0);
}

// The misses per instruction of Warped-Slicer's table II are those of a cache without sectors.
TEST(Slice, CountsAMissOfALineOnceForAllOfItsSectors) {
  const gpu::GpuConfig c = one_slice(64);
  Partition p(c, *derive_timing(c), 0);
  std::vector<Message> out;
  p.receive(message(MessageKind::read, 7, 0, 0x1));
  p.receive(message(MessageKind::read, 7, 1, 0x1));       // joins the first
  p.receive(message(MessageKind::read, 7, 2, 0x2));       // another sector, while the line is coming
  p.receive(message(MessageKind::read, 7, 9'000, 0x4));   // and when it is there
  p.receive(message(MessageKind::write, 8, 9'100, 0x1));  // a store's line is not fetched, but missed
  p.receive(message(MessageKind::write, 8, 9'200, 0x2));
  p.run(20'000, out);
  ASSERT_EQ(out.size(), 6U);
  EXPECT_EQ(p.counters(0).l2_line_misses, 2U);
  EXPECT_EQ(p.counters(0).l2_misses, 4U) << "sectors, also those that are in flight already";
}

// The time from a store's reply to that of a read that follows it at once, after an SM has read the sector.
std::uint64_t after_store(std::uint16_t reader, Sectors read, std::uint32_t shared_write) {
  gpu::GpuConfig c = one_slice(64);
  c.l2.shared_write_bytes = shared_write;
  Partition p(c, *derive_timing(c), 0);
  std::vector<Message> out;
  Message first = message(MessageKind::read, 7, 0, read);
  first.sm = reader;
  p.receive(first);
  p.run(10'000, out);
  out.clear();
  Message store = message(MessageKind::write, 7, 20'000, 0x1);
  store.lanes = 8;
  p.receive(store);
  p.receive(message(MessageKind::read, 7, 20'001, 0x1));
  p.run(40'000, out);
  return out.at(1).time - out.at(0).time;
}

TEST(Slice, AStoreToASectorThatTheOtherHalfHasReadTakesLonger) {
  const std::uint64_t plain = after_store(0, 0x1, 640);
  EXPECT_EQ(after_store(1, 0x1, 640), plain + 9) << "ten cycles instead of one";
  EXPECT_EQ(after_store(1, 0x2, 640), plain) << "another sector";
  EXPECT_EQ(after_store(1, 0x1, 0), plain);
}

// Accesses of an SM that wait for the same page arrive together. The token is a number that is used again, so it does
// not tell which of them is the older one.
TEST(Slice, TakesWhatArrivesTogetherInTheOrderInWhichAnSmSentIt) {
  const gpu::GpuConfig c = one_slice(64);
  Partition p(c, *derive_timing(c), 0);
  std::vector<Message> out;
  const auto send = [&](std::uint16_t sm, std::uint32_t token) {
    Message m = message(MessageKind::write, 7, 20'000);
    m.sm = sm;
    m.token = token;
    p.receive(m);
  };
  send(1, 5);
  send(1, 9);
  send(0, 8);
  p.run(10'000, out);  // They have not arrived yet and wait with those that are sent afterwards.
  send(1, 3);
  send(0, 2);
  p.run(40'000, out);
  std::vector<std::uint32_t> tokens;
  for (const Message& m : out) tokens.push_back(m.token);
  EXPECT_EQ(tokens, (std::vector<std::uint32_t>{8, 2, 5, 9, 3}));
}

}  // namespace
}  // namespace wm::sim

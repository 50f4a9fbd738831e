// A program's memory is shared with its process, a copy of it is not.
#include "runtime/simulated_server/program_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/simulated/served_connection.h"

namespace wm::runtime {
namespace {

constexpr std::uint64_t kAddress = exec::kGlobalBase + (std::uint64_t{1} << 32);

std::unique_ptr<ProgramMemory> memory_with_words() {
  auto made = ProgramMemory::make();
  EXPECT_TRUE(made);
  EXPECT_TRUE((*made)->add(kAddress, 4096, true, "words"));
  return *std::move(made);
}

std::uint32_t& word(ProgramMemory& memory) { return *reinterpret_cast<std::uint32_t*>(memory.space().at(kAddress, 4)); }

TEST(ProgramMemory, TheProcessSeesItInTheFile) {
  const auto memory = memory_with_words();
  word(*memory) = 7;
  void* seen = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, memory->file().get(),
                      static_cast<off_t>(kAddress - exec::kGlobalBase));
  ASSERT_NE(seen, MAP_FAILED);
  EXPECT_EQ(*static_cast<const std::uint32_t*>(seen), 7U);
  ::munmap(seen, 4096);
}

TEST(ProgramMemory, ACopyKeepsItsWritesToItself) {
  const auto memory = memory_with_words();
  word(*memory) = 7;
  const auto copy = memory->copy();
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_EQ(word(**copy), 7U);
  word(**copy) = 9;
  EXPECT_EQ(word(*memory), 7U);
}

TEST(ProgramMemory, AllocationsFollowEachOtherAndAreCounted) {
  const auto memory = memory_with_words();
  EXPECT_FALSE(memory->add(kAddress, 16, true, "the same place"));
  EXPECT_FALSE(memory->add(kAddress - (1 << 20), 16, true, "before it"));
  EXPECT_FALSE(memory->add(kAddress + 1000, 16, true, "not aligned"));
  EXPECT_FALSE(memory->add(exec::kGlobalBase + kServedSpan, 16, true, "outside"));
  EXPECT_TRUE(memory->add(kAddress + (1 << 20), 16, false, "host"));
  EXPECT_EQ(memory->device_bytes(), 4096U);
  EXPECT_TRUE(memory->remove(kAddress));
  EXPECT_FALSE(memory->remove(kAddress));
  EXPECT_EQ(memory->device_bytes(), 0U);
  EXPECT_EQ(memory->space().at(kAddress, 4), nullptr);
}

TEST(ServedGoal, IsAPartOfTheRateARateOrATime) {
  using Kind = ServedGoal::Kind;
  EXPECT_EQ(parse_served_goal("")->kind, Kind::none);
  EXPECT_EQ(parse_served_goal("0.9")->kind, Kind::fraction);
  EXPECT_EQ(parse_served_goal("ipc=200")->value, 200);
  EXPECT_EQ(parse_served_goal("time=2us")->value, 2000);
  EXPECT_EQ(parse_served_goal("p99=2us")->kind, Kind::nanoseconds);
  EXPECT_EQ(parse_served_goal("rate=1000000")->value, 1000);
  for (const char* wrong : {"2", "-1", "rate=0", "ipc=x", "time=", "speed=1", "="}) {
    EXPECT_FALSE(parse_served_goal(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace wm::runtime

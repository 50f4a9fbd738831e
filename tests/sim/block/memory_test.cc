// The memory of the block machine. The operators below replace those of the whole test program: they count the bytes
// that the program requested and did not free, which the allocator's own counts, in whole chunks, only approximate.
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

#include "sim/block/scenario.h"

namespace {

// Large enough for a size, and keeps the alignment that operator new promises.
constexpr std::size_t kHeader = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
std::size_t live_bytes = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  auto* const chunk = static_cast<std::byte*>(std::malloc(bytes + kHeader));
  if (chunk == nullptr) throw std::bad_alloc();
  new (chunk) std::size_t(bytes);
  live_bytes += bytes;
  return chunk + kHeader;
}

// Sanitizers have one of their own, whose memory the operator below could not free.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* pointer) noexcept {
  if (pointer == nullptr) return;
  auto* const chunk = static_cast<std::byte*>(pointer) - kHeader;
  live_bytes -= *std::launder(reinterpret_cast<std::size_t*>(chunk));
  std::free(chunk);
}

void operator delete(void* pointer, std::size_t) noexcept { operator delete(pointer); }

namespace wm::sim::test {
namespace {

std::size_t bytes_used(std::uint32_t blocks) {
  BlockMachineSpec spec;
  spec.sms = 13;
  spec.limits.total = {2048, 65536, 49152, 16};
  spec.bytes_per_second = 50'000'000'000;
  KernelModel model;
  model.blocks = blocks;
  model.block_time = {100};
  model.max_blocks_per_sm = 16;
  model.footprint = {128, 0, 0, 1};
  model.demand = kOne / 16;
  model.shape = DurationShape::uniform(0.3);
  const std::size_t before = live_bytes;
  BlockMachine machine(spec);
  const auto choice = *policy::choose("left_over");
  const auto policy = *policy::make(choice, machine.cans(), "block");
  machine.start(*policy, choice.needs());
  machine.launch(machine.add_client({.name = "k"}), model);
  machine.settle();
  machine.run_ahead({20'000});
  EXPECT_GT(machine.totals({0}).blocks, 10'000U);
  return live_bytes - before;
}

// A launch of four thousand million blocks takes the memory of those on the SMs.
TEST(BlockMemory, DoesNotGrowWithTheGrid) {
  const std::size_t few = bytes_used(100'000);
  EXPECT_LT(few, 13 * 16 * 160U);  // by blocks on the SMs
  EXPECT_EQ(bytes_used(4'000'000'000), few);
}

}  // namespace
}  // namespace wm::sim::test

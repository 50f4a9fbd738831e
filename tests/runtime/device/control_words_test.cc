// Control words of both kinds of OpenCL device, over a driver that computes nothing.
#include <gtest/gtest.h>
#include <set>

#include "runtime/device/completion_flags.h"
#include "runtime/device/control_word_pool.h"
#include "runtime/device/null_opencl.h"

namespace wm::runtime {
namespace {

using Kind = ControlWordPool::Kind;

class ControlWords : public testing::TestWithParam<bool> {
 protected:
  const std::unique_ptr<Backend> backend_ = test::null_backend(GetParam());
  const std::unique_ptr<ControlWordPool> words_ = backend_->make_control_words();
};

TEST_P(ControlWords, HaveTheirInitialValue) {
  EXPECT_EQ(words_->take(Kind::queue)->get(), 0U);
  EXPECT_EQ(words_->take(Kind::control)->get(), ~0U);
}

TEST_P(ControlWords, KeepWhatTheyWereSetTo) {
  const auto word = words_->take(Kind::control);
  EXPECT_EQ(word->set(3), status::kSuccess);
  EXPECT_EQ(word->get(), 3U);
}

TEST_P(ControlWords, AreDistinctWhileTheyAreHeld) {
  std::vector<std::shared_ptr<ControlWord>> held;
  std::set<const MemoryObject*> memories;
  for (int i = 0; i < 150; ++i) {
    held.push_back(words_->take(i % 2 == 0 ? Kind::queue : Kind::control));
    ASSERT_TRUE(held.back());
    EXPECT_TRUE(memories.insert(&held.back()->memory()).second);
  }
}

TEST_P(ControlWords, HaveTheirInitialValueAgainWhenTheyAreReused) {
  std::set<const MemoryObject*> memories;
  for (int i = 0; i < 500; ++i) {
    const auto word = words_->take(Kind::control);
    ASSERT_EQ(word->get(), ~0U) << i;
    word->set(0);
    memories.insert(&word->memory());
  }
  EXPECT_LE(memories.size(), 64U) << "words return to the pool";
}

INSTANTIATE_TEST_SUITE_P(Devices, ControlWords, testing::Bool(),
                         [](const auto& info) { return info.param ? "HostMemory" : "DeviceMemory"; });

// The two kinds of device differ in their capabilities only where the daemon behaves differently.
TEST(OpenClBackends, HaveTheCapabilitiesOfTheirKind) {
  const auto cpu = test::null_backend(true), gpu = test::null_backend(false);
  EXPECT_TRUE(cpu->capabilities().buffers_in_host_memory);
  EXPECT_TRUE(cpu->capabilities().completion_callbacks);
  EXPECT_TRUE(cpu->capabilities().single_worker_batches);
  EXPECT_EQ(cpu->make_completion_flags(), nullptr);
  EXPECT_EQ(cpu->limits().total.blocks, 4U) << "one group on each compute unit";
  EXPECT_FALSE(gpu->capabilities().buffers_in_host_memory);
  EXPECT_FALSE(gpu->capabilities().completion_callbacks);
  EXPECT_TRUE(gpu->capabilities().queues_excess_groups);
  EXPECT_TRUE(gpu->capabilities().release_waits_for_kernels);
  EXPECT_NE(gpu->make_completion_flags(), nullptr);
  EXPECT_TRUE(cpu->is_alive());
  EXPECT_TRUE(gpu->is_alive());
}

}  // namespace
}  // namespace wm::runtime

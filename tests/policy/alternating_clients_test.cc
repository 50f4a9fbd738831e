// Which clients change their function so often that they are measured as a whole.
#include "policy/algorithm/alternating_clients.h"

#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

// One client, each of whose launches is one block.
struct AlternatingClientsTest : testing::Test {
  AlternatingClientsTest() {
    gpu.start("left_over");
    gpu.arrive({.blocks = 1, .launches = 0, .alternates = true});
    clients.note(gpu, true);
  }
  bool next_function(bool is_measuring) {
    const std::uint32_t function = gpu.kernels()[0].function;
    while (gpu.kernels()[0].function == function) gpu.run({100});
    return clients.note(gpu, is_measuring);
  }
  FakeMachine gpu;
  AlternatingClients clients;
};

TEST_F(AlternatingClientsTest, ThreeChangesInAMeasurementMakeAClientAlternate) {
  EXPECT_TRUE(next_function(true));
  EXPECT_TRUE(next_function(true));
  EXPECT_FALSE(clients.contains({0}));
  EXPECT_TRUE(next_function(true)) << "it is measured anew, as a whole";
  EXPECT_TRUE(clients.contains({0}));
  EXPECT_FALSE(next_function(true));
  EXPECT_EQ(clients.max_blocks(gpu.kernels()[0]), gpu.kernels()[0].max_blocks_per_sm);
}

TEST_F(AlternatingClientsTest, ChangesOutsideOfMeasurementsAndBeforeTheLastOneDoNotCount) {
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(next_function(false));
  next_function(true);
  next_function(true);
  clients.note_measured();
  next_function(true);
  EXPECT_FALSE(clients.contains({0}));
}

}  // namespace
}  // namespace wm::policy::test

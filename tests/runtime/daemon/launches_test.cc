// Launches as a client's messages ask for them, over a device that does what the test wants.
#include "runtime/daemon/conversation.h"

namespace wm::runtime::test {
namespace {

Launch range(std::uint64_t global, std::uint64_t local) {
  Launch launch;
  launch.dimensions = 1;
  launch.global[0] = global;
  launch.local[0] = local;
  return launch;
}

// It is refused when its turn comes; what follows in its queue runs, and nobody else notices.
TEST(Launches, OneThatTheDeviceRefusesFailsAlone) {
  for (const char* policy : {"accelos", "moving_shares"}) {
    Conversation client(fuzz::null_device(true), policy, false);
    client.make_kernel();
    for (const std::uint32_t slot : {0U, 1U, 2U}) client.queue_state(slot);
    client.user_event(0);
    client.launch(range(4096, 512), 1, 0);  // the device takes groups of 256
    client.launch(range(64, 16), 2);
    client.set_user_event(0);
    EXPECT_EQ(client.ended(1), CL_INVALID_WORK_GROUP_SIZE) << policy;
    EXPECT_EQ(client.ended(2), CL_COMPLETE) << policy;
  }
}

// Drivers divide by the local size; the device of this test ends the process.
TEST(Launches, AGroupOfNoItemsReachesNoDriver) {
  Conversation client(fuzz::null_device(true), "accelos", false);
  client.make_kernel();
  Launch flat = range(64, 16);
  flat.dimensions = 2;
  flat.global[1] = 4;
  for (const std::uint32_t slot : {0U, 1U}) client.queue_state(slot);
  client.launch(flat, 0);
  client.launch(range(64, 16), 1);
  EXPECT_EQ(client.ended(0), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(client.ended(1), CL_COMPLETE);
}

}  // namespace
}  // namespace wm::runtime::test

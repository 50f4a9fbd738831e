// Blocking transfers on threads of their own.
#include "runtime/schedule/transfer.h"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>

#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

TEST(TransferThreads, HandBackWhatTheCallReturned) {
  std::atomic<int> done{0};
  Status told = 1;
  CommandPtr which;
  const auto client = std::make_shared<FakeClient>();
  const auto command = make_command(client, make_queue(), CommandType::write);
  command->submit = [](const QueueObject&, EventHandle*) { return Status{-4}; };
  {
    TransferThreads threads(2, [&](const CommandPtr& c, Status status, EventHandle event) {
      which = c;
      told = status;
      EXPECT_EQ(event, nullptr);
      ++done;
    });
    threads.add(command);
  }
  EXPECT_EQ(done, 1) << "transfers that wait are made before the threads end";
  EXPECT_EQ(which, command);
  EXPECT_EQ(told, -4);
}

TEST(TransferThreads, OneThatWaitsDoesNotHoldUpAnother) {
  const auto client = std::make_shared<FakeClient>();
  std::latch both(2);
  std::atomic<int> done{0};
  {
    TransferThreads threads(2, [&](const CommandPtr&, Status, EventHandle) { ++done; });
    for (int i = 0; i < 2; ++i) {
      const auto command = make_command(client, make_queue(), CommandType::write);
      command->submit = [&both](const QueueObject&, EventHandle*) {
        both.arrive_and_wait();
        return status::kSuccess;
      };
      threads.add(command);
    }
  }
  EXPECT_EQ(done, 2);
}

TEST(TransferThreads, NothingIsMovedForAClientThatHasGone) {
  const auto client = std::make_shared<FakeClient>();
  client->gone = true;
  Status told = 0;
  const auto command = make_command(client, make_queue(), CommandType::write);
  command->submit = [](const QueueObject&, EventHandle*) -> Status {
    ADD_FAILURE();
    return 0;
  };
  {
    TransferThreads threads(1, [&](const CommandPtr&, Status status, EventHandle) { told = status; });
    threads.add(command);
  }
  EXPECT_EQ(told, status::kDependencyFailed);
}

}  // namespace
}  // namespace wm::runtime::test

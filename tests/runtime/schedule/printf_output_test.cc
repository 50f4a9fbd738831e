// Launches that print take turns, and each client gets its own output.
#include "runtime/schedule/printf_output.h"

#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

struct PrintfTest : testing::Test {
  CommandPtr launch(const std::shared_ptr<FakeClient>& of, std::span<std::byte> room = {}) {
    auto command = make_launch(of, make_queue(), "k", {.prints = true});
    command->launch->printed = room;
    return command;
  }
  static std::string text(std::span<const std::byte> room) {
    std::uint64_t size = 0;
    std::memcpy(&size, room.data(), sizeof size);
    return {reinterpret_cast<const char*>(room.data()) + sizeof size, size};
  }
  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>(), other = std::make_shared<FakeClient>();
  FakeBackend backend{polled_device()};
  PrintfOutput output{backend, true};
  std::vector<std::byte> room = std::vector<std::byte>(64, std::byte{});
};

TEST_F(PrintfTest, TheOutputGoesToTheClient) {
  const auto a = launch(client, room);
  ASSERT_TRUE(output.begin(a));
  std::printf("seven 7\n");
  EXPECT_EQ(output.end(a, false), nullptr);
  EXPECT_EQ(text(room), "seven 7\n");
  EXPECT_EQ(backend.finishes, 1U) << "this driver writes when the queue is finished";
}

TEST_F(PrintfTest, OneAtATimeInTheOrderOfTheirArrival) {
  const auto a = launch(client), b = launch(other), c = launch(client);
  EXPECT_TRUE(output.begin(a));
  EXPECT_FALSE(output.begin(b));
  EXPECT_FALSE(output.begin(c));
  EXPECT_EQ(b->state(), Command::State::awaiting_printf);
  EXPECT_EQ(output.end(a, false), b);
  EXPECT_TRUE(output.begin(b));
  EXPECT_TRUE(output.is_printing(b));
  EXPECT_EQ(output.end(b, false), c);
}

TEST_F(PrintfTest, MixedOutputIsDropped) {
  const auto a = launch(client, room);
  ASSERT_TRUE(output.begin(a));
  std::printf("someone's");
  output.end(a, true);
  EXPECT_EQ(text(room), "");
}

TEST_F(PrintfTest, LongOutputIsCut) {
  const auto a = launch(client, std::span(room).first(12));
  ASSERT_TRUE(output.begin(a));
  std::printf("0123456789");
  output.end(a, false);
  EXPECT_EQ(text(room), "0123");
}

TEST_F(PrintfTest, AClientThatGoesLosesItsTurn) {
  const auto a = launch(other), b = launch(client), c = launch(other);
  ASSERT_TRUE(output.begin(a));
  output.begin(b);
  output.begin(c);
  EXPECT_EQ(output.take(*client), std::vector<CommandPtr>{b});
  EXPECT_EQ(output.end(a, false), c);
}

}  // namespace
}  // namespace wm::runtime::test

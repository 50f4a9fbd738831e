// Clients that break the protocol, flood the daemon or read no answers. Other clients are not affected.
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "runtime/conformance/children.h"

namespace wm::runtime::test {
namespace {

template <Plain T>
std::span<const std::byte> packet_of(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

// Another client of the same daemon at the same time.
void others_go_on() {
  const Side s = open_side(true);
  ASSERT_NE(s.queue, nullptr);
  cl_mem memory = clCreateBuffer(s.context, CL_MEM_READ_WRITE, 4, nullptr, nullptr);
  const int value = 7;
  int back = 0;
  EXPECT_EQ(clEnqueueFillBuffer(s.queue, memory, &value, 4, 0, 4, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, 4, &back, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(back, 7);
  clReleaseMemObject(memory);
  close_side(s);
}

// Writes the message until the ring stays full, and returns how often it was accepted.
int flood(RawClient& client, std::span<const std::byte> message) {
  int count = 0;
  for (int full = 0; full < 30;) {
    if (client.ring->try_write(message)) {
      ++count;
      full = 0;
    } else {
      client.ring->wait_for_room(10);
      ++full;
    }
  }
  return count;
}

// A marker with a wait list; event 0 is a user event that is never set.
Writer marker(std::uint32_t waits) {
  Writer message(Op::command);
  message.put(CommandMessage{0, CommandType::marker, kNoEvent, waits, 0});
  const std::vector<std::uint32_t> events(waits, 0);
  message.raw(events.data(), events.size() * sizeof(std::uint32_t));
  return message;
}

void post_user_event(RawClient& client) {
  Writer message(Op::user_event);
  message.put(UserEvent{0, 0});
  ASSERT_TRUE(client.ring->try_write(message.finish()));
}

TEST(Hostile, InvalidMessagesAreCutOffAndOtherClientsContinue) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("nonsense");
  ASSERT_TRUE(daemon.started());
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    RawClient client = raw_client(daemon, "nonsense");
    ASSERT_TRUE(client.ring);
    // Valid headers with random contents.
    for (int i = 0; i < 50; ++i) {
      Writer message(static_cast<Op>(1 + random() % static_cast<unsigned>(kLastOp)));
      std::vector<std::byte> junk(random() % 300);
      for (auto& b : junk) b = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
      message.raw(junk.data(), junk.size());
      if (random() % 2 == 0) message.reply_to({0, 0, 8 * (random() % 4096), 64});
      client.ring->try_write(message.finish());
    }
    if (round % 4 == 0) {
      client.area->header().ring.written.store(~std::uint64_t{0});
      wake_all(client.area->header().ring.reader_sleeps);
    }
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
  EXPECT_TRUE(comes_to_say(daemon, R"("reason":"broke the protocol")")) << daemon.status();
}

TEST(Hostile, GarbageOnTheSocketIsRefused) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  for (const std::size_t size : {std::size_t{1}, sizeof(Hello), std::size_t{4000}}) {
    const auto socket = connect_to(the_daemon()->socket());
    ASSERT_TRUE(socket.ok());
    const std::vector<std::byte> junk(size, std::byte{0x5a});
    ASSERT_TRUE(send_packet(*socket, junk));
    const auto answer = receive_packet(*socket, 5000);
    ASSERT_TRUE(answer.has_value());
    ASSERT_EQ(answer->bytes.size(), sizeof(Welcome));
    Welcome welcome;
    std::memcpy(&welcome, answer->bytes.data(), sizeof welcome);
    EXPECT_EQ(welcome.accepted, 0U);
    EXPECT_NE(std::string(welcome.reason), "");
  }
  EXPECT_NE(the_daemon()->status(), "");
}

TEST(Hostile, ANameThatIsNotUtf8KeepsTheStatusValid) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const RawClient client = raw_client(*the_daemon(), "\xff\xfe\"\\\x01");
  ASSERT_TRUE(client.ring);
  EXPECT_TRUE(comes_to_say(*the_daemon(), "\xef\xbf\xbd")) << "what stands for bytes that are no text";
  others_go_on();
}

TEST(Hostile, AClientThatReadsNoAnswersIsCutOffWithTheReason) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  RawClient client = raw_client(*the_daemon(), "deaf");
  ASSERT_TRUE(client.ring);
  const RegionRequest request{4096};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!peer_closed(client.socket) && std::chrono::steady_clock::now() < end)
    send_packet(client.socket, packet_of(request));
  EXPECT_TRUE(peer_closed(client.socket));
  EXPECT_TRUE(comes_to_say(*the_daemon(), R"("reason":"does not read its answers")")) << the_daemon()->status();
  others_go_on();
}

TEST(Hostile, AFloodOfCommandsDelaysOnlyItsOwnClient) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  RawClient client = raw_client(*the_daemon(), "flood");
  ASSERT_TRUE(client.ring);
  post_user_event(client);
  Writer message = marker(1);
  const int count = flood(client, message.finish());
  EXPECT_GE(count, 65'536) << "a client may have that many open";
  EXPECT_LT(count, 65'536 + 20'000) << "and a ring full of them";
  others_go_on();
  client.socket = {};
  EXPECT_TRUE(stops_saying(*the_daemon(), R"("name":"flood")")) << the_daemon()->status();
  EXPECT_TRUE(comes_to_say(*the_daemon(), R"("commands":0})")) << the_daemon()->status();
}

TEST(Hostile, OutstandingMessagesAreLimitedByTheirBytes) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  RawClient client = raw_client(*the_daemon(), "heavy");
  ASSERT_TRUE(client.ring);
  post_user_event(client);
  Writer message = marker(60'000);
  const int count = flood(client, message.finish());
  EXPECT_LT(count, 100) << "messages of 240 KB";
  others_go_on();
}

TEST(Hostile, RegionsLargerThanTheClientsMemoryAreRefused) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("regions", "accelos", std::to_string(3 << 20));
  ASSERT_TRUE(daemon.started());
  RawClient client = raw_client(daemon, "regions");
  ASSERT_TRUE(client.ring);
  std::vector<bool> got;
  for (const std::uint64_t size : {std::uint64_t{1} << 40, std::uint64_t{4} << 20, std::uint64_t{2} << 20,
                                   std::uint64_t{2} << 20, std::uint64_t{1} << 20}) {
    const RegionRequest request{size};
    ASSERT_TRUE(send_packet(client.socket, packet_of(request)));
    const auto packet = receive_packet(client.socket, 5000);
    ASSERT_TRUE(packet.has_value());
    RegionAnswer answer;
    ASSERT_EQ(packet->bytes.size(), sizeof answer);
    std::memcpy(&answer, packet->bytes.data(), sizeof answer);
    got.push_back(answer.region != 0);
  }
  EXPECT_EQ(got, (std::vector<bool>{false, false, true, false, true}));
}

// In the long suite only: it creates many objects.
TEST(LongHostile, TooManyObjectsAreRefused) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  RawClient client = raw_client(*the_daemon(), "objects");
  ASSERT_TRUE(client.ring);
  const auto made = [&](std::uint64_t id) {
    auto& state = *reinterpret_cast<Word*>(client.area->staging().data());
    state = 0;
    Writer message(Op::create_sampler);
    message.put(CreateSampler{id, 0, CL_ADDRESS_NONE, CL_FILTER_NEAREST, 0});
    message.reply_to({0, 0, 0, 64});
    while (!client.ring->try_write(message.finish())) client.ring->wait_for_room(10);
    while (state == 0) std::this_thread::yield();
    Reply reply;
    std::memcpy(&reply, client.area->staging().data(), sizeof reply);
    return reply.status;
  };
  std::uint64_t id = 1;
  cl_int status = CL_SUCCESS;
  while (status == CL_SUCCESS && id < 300'000) status = made(id++);
  EXPECT_EQ(status, CL_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(id, 262'145U) << "with the queue every client has";
  others_go_on();
}

}  // namespace
}  // namespace wm::runtime::test

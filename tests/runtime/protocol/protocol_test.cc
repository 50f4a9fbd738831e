// Messages, the ring and the shared area: messages arrive unchanged, and invalid ones are detected.
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <unistd.h>

#include "runtime/protocol/monitor.h"
#include "runtime/protocol/ring.h"
#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"

namespace wm::runtime {
namespace {

class RingTest : public testing::Test {
 protected:
  RingPositions ends;
  std::vector<std::byte> bytes = std::vector<std::byte>(4096);
  RingWriter writer{&ends, bytes};
  RingReader reader{&ends, bytes};
  std::vector<std::byte> message;
};

Writer numbered(std::uint64_t number, std::size_t extra) {
  Writer w(Op::command);
  w.put(number).text(std::string(extra, 'x'));
  return w;
}

TEST_F(RingTest, MessagesArriveInOrderAroundTheEnd) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Writer w = numbered(i, i % 700);
    ASSERT_TRUE(writer.try_write(w.finish()));
    ASSERT_EQ(reader.try_read(message), RingReader::Outcome::message);
    Reader r(message);
    EXPECT_EQ(r.take<MessageHeader>().op, Op::command);
    EXPECT_EQ(r.take<std::uint64_t>(), i);
    EXPECT_EQ(r.left(), padded(i % 700));
  }
  EXPECT_EQ(reader.try_read(message), RingReader::Outcome::nothing);
}

TEST_F(RingTest, PeekLeavesTheMessageInTheRing) {
  std::byte beginning[sizeof(MessageHeader) + sizeof(std::uint64_t)];
  for (std::uint64_t i = 0; i < 200; ++i) {  // around the end
    EXPECT_FALSE(reader.peek(beginning)) << "nothing is there";
    ASSERT_TRUE(writer.try_write(numbered(i, i % 90).finish()));
    for (int again = 0; again < 2; ++again) {
      ASSERT_TRUE(reader.peek(beginning));
      Reader r(beginning);
      EXPECT_EQ(r.take<MessageHeader>().op, Op::command);
      EXPECT_EQ(r.take<std::uint64_t>(), i);
    }
    ASSERT_EQ(reader.try_read(message), RingReader::Outcome::message);
  }
  ends.written += bytes.size() + 8;
  EXPECT_FALSE(reader.peek(beginning)) << "ends that cannot be";
}

TEST_F(RingTest, AFullRingRefusesMessagesAndLosesNone) {
  std::uint64_t written = 0, read = 0;
  while (true) {
    Writer w = numbered(written, 100);
    if (!writer.try_write(w.finish())) break;
    ++written;
  }
  EXPECT_EQ(written, 4096 / (padded(sizeof(MessageHeader) + 8 + 100)));
  for (; reader.try_read(message) == RingReader::Outcome::message; ++read) {
    Reader r(message);
    (void)r.take<MessageHeader>();
    EXPECT_EQ(r.take<std::uint64_t>(), read);
  }
  EXPECT_EQ(read, written);
}

TEST_F(RingTest, TwoThreadsPassMessagesThroughASmallRing) {
  constexpr std::uint64_t kCount = 20'000;
  std::thread client([&] {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      Writer w = numbered(i, i % 300);
      const auto m = w.finish();
      while (!writer.try_write(m)) writer.wait_for_room(50);
    }
  });
  for (std::uint64_t i = 0; i < kCount;) {
    const auto outcome = reader.try_read(message);
    ASSERT_NE(outcome, RingReader::Outcome::broken);
    if (outcome == RingReader::Outcome::nothing) {
      reader.wait_for_message(50);
      continue;
    }
    Reader r(message);
    (void)r.take<MessageHeader>();
    ASSERT_EQ(r.take<std::uint64_t>(), i++);
  }
  client.join();
}

TEST_F(RingTest, ImpossiblePositionsAreDetected) {
  ends.written = 5000;  // more than the ring holds
  EXPECT_EQ(reader.try_read(message), RingReader::Outcome::broken);
  ends.written = 4;  // less than a head
  EXPECT_EQ(reader.try_read(message), RingReader::Outcome::broken);
}

TEST_F(RingTest, ImpossibleSizesAreDetected) {
  for (const std::uint32_t size : {0U, 8U, 41U, 4097U, 0xffffffffU}) {
    std::memcpy(bytes.data(), &size, sizeof size);
    ends.written = 4096;
    EXPECT_EQ(reader.try_read(message), RingReader::Outcome::broken) << size;
  }
}

TEST_F(RingTest, GarbageIsBrokenOrAMessageOfItsSizeButNeverOverrun) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    RingReader fresh{&ends, bytes};
    for (auto& b : bytes) b = static_cast<std::byte>(random());
    if (round % 2 == 0) bytes[1] = bytes[2] = bytes[3] = std::byte{0};
    ends.written = random() % 6000;
    if (fresh.try_read(message) == RingReader::Outcome::message) {
      EXPECT_LE(message.size(), ends.written);
      EXPECT_GE(message.size(), sizeof(MessageHeader));
    }
  }
}

TEST(Wire, AReaderNeverReadsPastTheEnd) {
  Writer w(Op::release);
  w.put(std::uint32_t{7}).text("word").put('\0');
  const auto bytes = w.finish();
  Reader r(bytes);
  (void)r.take<MessageHeader>();
  EXPECT_EQ(r.take<std::uint32_t>(), 7U);
  EXPECT_EQ(r.zero_terminated(), "word");
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.take<LaunchMessage>().kernel, 0U);
  EXPECT_FALSE(r.ok());
  EXPECT_TRUE(r.bytes(1).empty());
  EXPECT_TRUE(r.zero_terminated().empty());
}

TEST(Wire, AMessageContainsItsSizeAndItsReplyChunk) {
  Writer w(Op::device_info);
  w.put(Query{1, 2});
  w.reply_to({3, 0, 64, 4096});
  const auto bytes = w.finish();
  Reader r(bytes);
  const MessageHeader header = r.take<MessageHeader>();
  EXPECT_EQ(header.size, bytes.size());
  EXPECT_EQ(header.reply.region, 3U);
  EXPECT_EQ(header.reply.offset, 64U);
}

TEST(SharedAreaTest, BothSidesSeeTheSameEvents) {
  Descriptor file;
  const auto made = SharedArea::make(file);
  ASSERT_TRUE(made.ok()) << made.error().what;
  const auto attached = SharedArea::attach(file);
  ASSERT_TRUE(attached.ok()) << attached.error().what;
  std::thread waiter([&] {
    EventRecord& event = attached->events()[5];
    ++event.sleepers;
    while (event.state.load() != 7) sleep_on(event.state, event.state.load(), 50);
  });
  publish(made->header(), made->events()[5], 7);
  waiter.join();
  EXPECT_EQ(attached->header().changes.load(), 1U);
}

TEST(SharedAreaTest, ItCannotBeTruncated) {
  Descriptor file;
  ASSERT_TRUE(SharedArea::make(file).ok());
  EXPECT_NE(::ftruncate(file.get(), 4096), 0);
}

TEST(SharedAreaTest, AnotherSizeOrVersionIsRefused) {
  auto small = sealed_memory("small", 4096);
  ASSERT_TRUE(small.ok());
  EXPECT_FALSE(SharedArea::attach(*small).ok());
  auto empty = sealed_memory("empty", kAreaBytes);
  ASSERT_TRUE(empty.ok());
  EXPECT_FALSE(SharedArea::attach(*empty).ok());
}

// The message of a monitor to which a daemon answers with these bytes.
std::string answer_to(std::span<const std::byte> answer) {
  const std::string path = testing::TempDir() + "/welcome-" + std::to_string(::getpid());
  const auto listener = listen_at(path, 0600);
  if (!listener) return listener.error().what;
  std::thread daemon([&] {
    std::optional<Descriptor> socket;
    while (!socket) socket = accept_from(*listener);
    (void)receive_packet(*socket, 10'000);
    if (!answer.empty()) send_packet(*socket, answer);
  });
  const auto status = request_status(path);
  daemon.join();
  ::unlink(path.c_str());
  return status ? *status : status.error().what.substr(path.size());
}

std::string answer_to(const Welcome& welcome) { return answer_to(bytes_of(welcome)); }

TEST(MonitorTest, AnAnswerThatIsNeitherADocumentNorAWelcomeIsARefusal) {
  const std::string refused = ": the daemon refused the request";
  Welcome other;
  other.magic = kMagic + 1;
  const std::uint32_t beginning[2] = {kMagic, kVersion}, other_version[2] = {kMagic, kVersion + 1};
  EXPECT_EQ(answer_to(bytes_of('x')), refused);
  EXPECT_EQ(answer_to(other), refused);
  EXPECT_EQ(answer_to(std::as_bytes(std::span(beginning))), refused) << "it has no reason";
  EXPECT_EQ(answer_to(std::as_bytes(std::span(other_version))).substr(0, 30), ": the daemon is of another ver")
      << "of any size";
  EXPECT_EQ(answer_to(std::span<const std::byte>()), ": the daemon closed the connection");
  const std::string_view document = "{}";
  EXPECT_EQ(answer_to(std::as_bytes(std::span(document))), "{}");
}

TEST(MonitorTest, ADaemonOfAnotherVersionIsToBeRestarted) {
  Welcome welcome;
  welcome.version = kVersion + 1;
  EXPECT_EQ(answer_to(welcome), ": the daemon is of another version of warpmux (protocol " +
                                    std::to_string(kVersion + 1) + ", this program " + std::to_string(kVersion) +
                                    "): restart it with this program's wm serve");
}

TEST(MonitorTest, TheDaemonsReasonIsShown) {
  Welcome welcome;
  std::snprintf(welcome.reason, sizeof welcome.reason, "only the daemon's own user may connect");
  EXPECT_EQ(answer_to(welcome), ": only the daemon's own user may connect");
}

TEST(SocketTest, PacketsKeepTheirBoundariesAndCarryDescriptors) {
  const std::string path = testing::TempDir() + "wm-socket-" + std::to_string(::getpid());
  const auto listener = listen_at(path, 0600);
  ASSERT_TRUE(listener.ok()) << listener.error().what;
  EXPECT_FALSE(listen_at(path, 0600).ok()) << "two daemons at one place";
  const auto client = connect_to(path);
  ASSERT_TRUE(client.ok());
  (void)accept_from(*listener);  // the probe of the second daemon
  const auto server = accept_from(*listener);
  ASSERT_TRUE(server.has_value());
  EXPECT_EQ(peer_of(*server)->pid, ::getpid());
  auto memory = sealed_memory("sent", 4096);
  const char text[] = "hello";
  ASSERT_TRUE(send_packet(*client, std::as_bytes(std::span(text)), *memory));
  const auto packet = receive_packet(*server, 1000);
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->bytes.size(), sizeof text);
  EXPECT_TRUE(packet->file.open());
  EXPECT_FALSE(peer_closed(*client));
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace wm::runtime

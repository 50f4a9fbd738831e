// The connection to the daemon: what it sends, what it waits for, and how it fails.
#include "runtime/client/opencl/connection/connection.h"

#include <future>
#include <gmock/gmock.h>

#include "runtime/client/opencl/fake_daemon.h"

namespace wm::runtime::client {
namespace {

using test::FakeDaemon;

std::unique_ptr<Connection> connect(const FakeDaemon& daemon) {
  auto connection = Connection::connect(daemon.path());
  EXPECT_TRUE(connection.ok());
  return connection ? std::move(*connection) : nullptr;
}

TEST(Connection, IntroducesTheClientWithItsPriorityAndShare) {
  const FakeDaemon daemon;
  ::setenv("WARPMUX_PRIORITY", "3", 1);
  ::setenv("WARPMUX_SHARE", "2.5", 1);
  const auto connection = connect(daemon);
  ::unsetenv("WARPMUX_PRIORITY");
  ::unsetenv("WARPMUX_SHARE");
  EXPECT_EQ(daemon.hello().priority, 3);
  EXPECT_EQ(daemon.hello().share, 2500U);
  EXPECT_EQ(daemon.hello().role, Role::client);
}

TEST(Connection, ShareIsLimitedToItsRange) {
  const std::pair<const char*, std::uint32_t> cases[] = {{"0", 1}, {"-1", 1}, {"nan", 1}, {"1e9", 1'000'000}};
  for (const auto& [text, share] : cases) {
    const FakeDaemon daemon;
    ::setenv("WARPMUX_SHARE", text, 1);
    const auto connection = connect(daemon);
    ::unsetenv("WARPMUX_SHARE");
    EXPECT_EQ(daemon.hello().share, share) << text;
  }
}

TEST(Connection, ARefusalSaysTheDaemonsReason) {
  Welcome refusing;
  std::strcpy(refusing.reason, "too many clients");
  const FakeDaemon daemon(refusing);
  const auto connection = Connection::connect(daemon.path());
  ASSERT_FALSE(connection.ok());
  EXPECT_THAT(connection.error().what, testing::HasSubstr("too many clients"));
}

TEST(Connection, AnotherProtocolVersionIsRefused) {
  Welcome other = FakeDaemon::accepting();
  other.version = kVersion + 1;
  const FakeDaemon daemon(other);
  const auto connection = Connection::connect(daemon.path());
  ASSERT_FALSE(connection.ok());
  EXPECT_THAT(connection.error().what, testing::HasSubstr("version"));
}

TEST(Connection, ACallReturnsTheStatusAndTheAnswer) {
  FakeDaemon daemon;
  const auto connection = connect(daemon);
  std::vector<std::byte> answer;
  auto call = std::async(std::launch::async, [&] {
    Writer message(Op::device_info);
    message.put(Query{0, 1});
    return connection->call(message, &answer);
  });
  const auto message = daemon.next_message();
  ASSERT_TRUE(message.has_value());
  daemon.reply(*message, -7, "abc");
  EXPECT_EQ(call.get(), -7);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(answer.data()), answer.size()), "abc");
}

TEST(Connection, AnAnswerThatDoesNotFitIsRequestedAgainWithEnoughRoom) {
  FakeDaemon daemon;
  const auto connection = connect(daemon);
  const std::string text(10'000, 'x');
  std::vector<std::byte> answer;
  auto call = std::async(std::launch::async, [&] {
    Writer message(Op::device_info);
    return connection->call(message, &answer);
  });
  for (int i = 0; i < 2; ++i) {
    const auto message = daemon.next_message();
    ASSERT_TRUE(message.has_value());
    daemon.reply(*message, 0, text);
  }
  EXPECT_EQ(call.get(), 0);
  EXPECT_EQ(answer.size(), text.size());
}

TEST(Connection, AfterItIsLostCallsFailAndEventsReadAsFailed) {
  FakeDaemon daemon;
  const auto connection = connect(daemon);
  const EventId event = connection->allocate_event(3);
  daemon.disconnect();
  EXPECT_EQ(connection->wait(event), kDaemonLost);
  EXPECT_TRUE(connection->lost());
  EXPECT_EQ(connection->state(event), kDaemonLost);
  Writer message(Op::device_info);
  EXPECT_EQ(connection->call(message), kDaemonLost);
  EXPECT_FALSE(connection->post(message));
}

TEST(Connection, ReadDataIsDeliveredWhenTheCommandHasCompleted) {
  FakeDaemon daemon;
  const auto connection = connect(daemon);
  const EventId event = connection->allocate_event(3);
  const Chunk chunk = connection->allocate(4, Connection::IfFull::wait);
  std::byte host[4] = {};
  std::byte* shared = connection->address(chunk);
  connection->on_completion(event, chunk, host, [&] { std::memcpy(host, shared, 4); });
  EXPECT_TRUE(connection->has_pending_delivery(host + 3, 1));
  EXPECT_FALSE(connection->has_pending_delivery(host + 4, 1));
  std::memcpy(shared, "data", 4);
  daemon.complete(event);
  EXPECT_EQ(connection->state(event), 0);
  EXPECT_EQ(std::memcmp(host, "data", 4), 0);
  EXPECT_FALSE(connection->has_pending_delivery(host, 4));
}

TEST(Connection, DataOfAFailedCommandIsNotDelivered) {
  FakeDaemon daemon;
  const auto connection = connect(daemon);
  const EventId event = connection->allocate_event(3);
  bool delivered = false;
  connection->on_completion(event, connection->allocate(4, Connection::IfFull::wait), {}, [&] { delivered = true; });
  daemon.complete(event, -5);
  EXPECT_EQ(connection->wait(event), -5);
  EXPECT_FALSE(delivered);
}

TEST(Connection, AFullStagingAreaIsWaitedForOrReplacedByARegion) {
  FakeDaemon daemon;
  const auto connection = connect(daemon);
  const EventId event = connection->allocate_event(3);
  const Chunk all = connection->allocate(kStagingBytes, Connection::IfFull::wait);
  EXPECT_EQ(all.region, 0U);
  connection->on_completion(event, all);
  const Chunk region = connection->allocate(100, Connection::IfFull::use_region);
  EXPECT_NE(region.region, 0U);
  EXPECT_EQ(region.size, 100U);
  auto waiting = std::async(std::launch::async, [&] { return connection->allocate(100, Connection::IfFull::wait); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  daemon.complete(event);
  EXPECT_EQ(waiting.get().region, 0U);
}

TEST(Connection, OnlyLargeBuffersOfADeviceInHostMemoryGetARegion) {
  Mapping map;
  {
    const FakeDaemon daemon;
    EXPECT_EQ(connect(daemon)->request_buffer_region(1 << 20, map), 0U);
  }
  Welcome host_memory = FakeDaemon::accepting();
  host_memory.host_memory = 1;
  const FakeDaemon daemon(host_memory);
  const auto connection = connect(daemon);
  EXPECT_EQ(connection->request_buffer_region(16 * 1024 - 1, map), 0U);
  EXPECT_NE(connection->request_buffer_region(16 * 1024, map), 0U);
  EXPECT_EQ(map.bytes().size(), 16U * 1024);
}

TEST(SharedMemoryPool, AFreeRegionIsUsedAgainAndASecondOneIsReleased) {
  FakeDaemon daemon;
  auto channel = Channel::connect(daemon.path());
  ASSERT_TRUE(channel.ok());
  SharedMemoryPool pool(**channel);
  const Chunk first = pool.allocate_region(100'000), second = pool.allocate_region(100'000);
  EXPECT_NE(first.region, second.region);
  pool.free(first);
  EXPECT_EQ(pool.allocate_region(90'000).region, first.region);
  EXPECT_EQ(daemon.regions(), 2U);
  pool.free(first);
  pool.free(second);
  const auto message = daemon.next_message();
  ASSERT_TRUE(message.has_value());
  Release release;
  std::memcpy(&release, message->data() + sizeof(MessageHeader), sizeof release);
  EXPECT_EQ(release.id, first.region);
  EXPECT_EQ(release.kind, ObjectKind::region);
}

TEST(SharedMemoryPool, AMuchLargerRegionIsNotUsedForASmallChunk) {
  FakeDaemon daemon;
  auto channel = Channel::connect(daemon.path());
  ASSERT_TRUE(channel.ok());
  SharedMemoryPool pool(**channel);
  const Chunk large = pool.allocate_region(100'000);
  pool.free(large);
  EXPECT_NE(pool.allocate_region(10'000).region, large.region);
}

TEST(SharedMemoryPool, ARefusedRegionIsAChunkOfSizeZero) {
  FakeDaemon daemon;
  auto channel = Channel::connect(daemon.path());
  ASSERT_TRUE(channel.ok());
  daemon.limit_regions(0);
  SharedMemoryPool pool(**channel);
  EXPECT_EQ(pool.allocate_region(100).size, 0U);
}

TEST(EventTable, AnEventIsFreeAfterItsLastReferenceAndItsCompletion) {
  FakeDaemon daemon;
  auto channel = Channel::connect(daemon.path());
  ASSERT_TRUE(channel.ok());
  EventTable events(**channel);
  std::vector<EventId> all;
  for (EventId e = events.allocate(3); e != kNoEvent; e = events.allocate(3)) all.push_back(e);
  EXPECT_EQ(all.size(), kMaxEvents);
  events.retain(all[0]);
  daemon.complete(all[0]);
  events.release(all[0]);
  EXPECT_EQ(events.allocate(3), kNoEvent) << "one reference is left";
  events.release(all[0]);
  EXPECT_EQ(events.allocate(3), all[0]);
  events.release(all[1]);
  EXPECT_EQ(events.allocate(3), kNoEvent) << "its command has not completed";
  daemon.complete(all[1]);
  EXPECT_EQ(events.allocate(3), all[1]);
}

TEST(EventTable, WaitReturnsWhenTheStateIsReached) {
  FakeDaemon daemon;
  auto channel = Channel::connect(daemon.path());
  ASSERT_TRUE(channel.ok());
  EventTable events(**channel);
  const EventId event = events.allocate(3);
  auto running = std::async(std::launch::async, [&] { return events.wait(event, 1); });
  daemon.complete(event, 2);
  EXPECT_EQ(running.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  daemon.complete(event, 1);
  EXPECT_EQ(running.get(), 1);
}

TEST(EventTable, AChangeEndsTheWaitForChanges) {
  FakeDaemon daemon;
  auto channel = Channel::connect(daemon.path());
  ASSERT_TRUE(channel.ok());
  EventTable events(**channel);
  const EventId event = events.allocate(3);
  const std::uint32_t seen = events.changes();
  daemon.complete(event);
  EXPECT_NE(events.changes(), seen);
  events.wait_for_change(seen);  // returns at once
}

}  // namespace
}  // namespace wm::runtime::client

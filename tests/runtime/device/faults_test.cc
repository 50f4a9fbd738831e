// What goes wrong: clients killed at any moment, clients that talk nonsense, a daemon that dies.
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "runtime/device/sides.h"
#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"

namespace wm::runtime::test {
namespace {

// A client in a process of its own, working until it is killed.
[[noreturn]] void work_forever(const Daemon& daemon) {
  ::setenv("WARPMUX_SOCKET", daemon.socket().c_str(), 1);
  ::setenv("OCL_ICD_VENDORS", daemon.only_ours().c_str(), 1);
  ::setenv("OCL_ICD_FILENAMES", WM_DRIVER, 1);  // for loaders that take no folder
  ::execl(WM_CLIENT, WM_CLIENT, static_cast<char*>(nullptr));
  std::_Exit(127);
}

// Whether the daemon's document says so within ten seconds.
bool comes_to_say(const Daemon& daemon, const std::string& text) {
  for (int i = 0; i < 1000; ++i) {
    if (daemon.status().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

constexpr const char* kNothingAlive =
    R"("alive":{"memories":0,"samplers":0,"queues":0,"programs":0,"kernels":0,"events":0,"commands":0},"clients":[])";

void kill_clients(int times) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("kill");
  ASSERT_TRUE(daemon.started());
  std::mt19937 random(11);
  for (int i = 0; i < times; ++i) {
    const pid_t child = ::fork();
    if (child == 0) work_forever(daemon);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

TEST(Faults, KilledClientsLeaveNothingBehind) { kill_clients(4); }

// Two hundred times, as the acceptance asks; not in the quick suite.
TEST(LongFaults, TwoHundredKilledClientsLeaveNothingBehind) { kill_clients(200); }

// A client that shook hands properly and then writes what it likes into the ring.
TEST(Faults, NonsenseIsCutOffAndOthersGoOn) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("nonsense");
  ASSERT_TRUE(daemon.started());
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const auto socket = connect_to(daemon.socket());
    ASSERT_TRUE(socket.ok()) << socket.error().what;
    const Hello hello;
    ASSERT_TRUE(send_packet(*socket, {reinterpret_cast<const std::byte*>(&hello), sizeof hello}));
    const auto welcome = receive_packet(*socket, 5000);
    ASSERT_TRUE(welcome.has_value());
    const auto area = SharedArea::attach(welcome->file);
    ASSERT_TRUE(area.ok()) << area.error().what;
    RingWriter ring(&area->head().ring, area->ring());
    // Well-formed heads around anything at all.
    for (int i = 0; i < 50; ++i) {
      Writer message(static_cast<Op>(1 + random() % static_cast<unsigned>(kLastOp)));
      std::vector<std::byte> junk(random() % 300);
      for (auto& b : junk) b = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
      message.raw(junk.data(), junk.size());
      if (random() % 2 == 0) message.reply_to({0, 0, 8 * (random() % 4096), 64});
      ring.try_write(message.finish());
    }
    if (round % 4 == 0) {
      area->head().ring.written.store(~std::uint64_t{0});
      wake_all(area->head().ring.reader_sleeps);
    }
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

TEST(Faults, GarbageOnTheSocketIsRefused) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("garbage");
  ASSERT_TRUE(daemon.started());
  for (const std::size_t size : {std::size_t{1}, sizeof(Hello), std::size_t{4000}}) {
    const auto socket = connect_to(daemon.socket());
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
  EXPECT_NE(daemon.status(), "");
}

// The client says what its OpenCL calls return when its daemon is killed: an error, soon, and no hang.
TEST(Faults, ClientsOfADeadDaemonGetErrors) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("dies");
  ASSERT_TRUE(daemon.started());
  const pid_t child = ::fork();
  if (child == 0) work_forever(daemon);
  ASSERT_TRUE(comes_to_say(daemon, "\"kernel\":\"work\""));
  daemon.kill();
  int status = 0;
  for (int i = 0; i < 500; ++i) {
    if (::waitpid(child, &status, WNOHANG) == child) {
      EXPECT_TRUE(WIFEXITED(status));
      EXPECT_EQ(WEXITSTATUS(status), 42) << "the client ends so when a call fails";
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  FAIL() << "the client hangs";
}

TEST(Faults, AClientGetsNoMoreMemoryThanItMayHave) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("memory", "accelos", std::to_string(3 << 20));
  ASSERT_TRUE(daemon.started());
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("WM_HOARD", "1", 1);
    work_forever(daemon);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3) << "buffers of a megabyte it got";
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

}  // namespace
}  // namespace wm::runtime::test

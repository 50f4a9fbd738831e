// The daemon's side of a program's connection.
#include "runtime/simulated_server/program.h"

#include <chrono>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>

#include "gpu/load_gpu.h"
#include "tree.h"

namespace wm::runtime {
namespace {

TEST(ServedProgram, KeepsAnswersUntilTheProgramReadsThem) {
  const auto config = gpu::load_gpu("qos16", source_path("configs/gpus"));
  ASSERT_TRUE(config);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  Descriptor server(ends[0]);
  const Descriptor client(ends[1]);
  auto memory = ProgramMemory::make();
  ASSERT_TRUE(memory);
  ServedProgram program(std::move(server), {1, "a", {}}, {}, *config, *std::move(memory));
  // More calls than the socket has room for answers.
  constexpr std::uint64_t kCalls = 4000;
  for (std::uint64_t i = 1; i <= kCalls; ++i) {
    Payload payload;
    payload.put(ServedAllocate{.address = exec::kGlobalBase + (i << 18), .bytes = 16, .on_device = 1}).text("memory");
    ServedHeader header;
    header.op = ServedOp::allocate;
    header.number = i;
    ASSERT_TRUE(send_served(client, header, payload, false)) << i;
    ASSERT_TRUE(program.read(1U << 30)) << i;
  }
  EXPECT_TRUE(program.has_unsent());
  for (std::uint64_t i = 1; i <= kCalls; ++i) {
    const auto answer = receive_served(client, 0);
    ASSERT_TRUE(answer && !answer->closed) << i;
    EXPECT_EQ(answer->message.header.number, i);
    ASSERT_TRUE(program.send_rest()) << i;
  }
  EXPECT_FALSE(program.has_unsent());
}

// A busy host may delay the test itself; one attempt without a delay is enough.
TEST(ServedProgram, TimeThatTheDaemonTakesForAMessageIsNoSilence) {
  const auto config = gpu::load_gpu("qos16", source_path("configs/gpus"));
  ASSERT_TRUE(config);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor client(ends[1]);
  auto memory = ProgramMemory::make();
  ASSERT_TRUE(memory);
  ServedProgram program(Descriptor{ends[0]}, {1, "a", {}}, {}, *config, *std::move(memory));
  std::string ptx = ".version 7.5\n.target sm_75\n.address_size 64\n";
  for (int i = 0; i < 3000; ++i) ptx += ".visible .entry k" + std::to_string(i) + "()\n{\nret;\n}\n";
  bool is_silent = true;
  for (std::uint64_t i = 1; i <= 50 && is_silent; ++i) {
    ServedHeader header;
    header.op = ServedOp::load_module;
    header.number = i;
    ASSERT_TRUE(send_served(client, header, Payload().put(ServedLoadModule{.number = i}).text(ptx), false));
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(program.read(1U << 30));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    is_silent = program.is_silent(taken.count() / 2);
  }
  EXPECT_FALSE(is_silent);
}

// As above, one attempt without a delay is enough.
TEST(ServedProgram, TimeInWhichItWaitedForTheDeviceIsNoSilence) {
  const auto config = gpu::load_gpu("qos16", source_path("configs/gpus"));
  ASSERT_TRUE(config);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor client(ends[1]);
  auto memory = ProgramMemory::make();
  ASSERT_TRUE(memory);
  ServedProgram program(Descriptor{ends[0]}, {1, "a", {}}, {}, *config, *std::move(memory));
  bool is_silent = true;
  for (std::uint64_t i = 1; i <= 50 && is_silent; ++i) {
    ServedHeader header;
    header.op = ServedOp::poll;
    header.number = i;
    header.resumptions = i - 1;
    ASSERT_TRUE(send_served(client, header, Payload(), false));
    ASSERT_TRUE(program.read(1U << 30));
    EXPECT_TRUE(program.is_waiting());
    const auto start = std::chrono::steady_clock::now();
    const auto taken = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    while (taken() < 0.1) std::this_thread::yield();  // a long launch of another program
    const double waited = taken();
    ASSERT_TRUE(program.answer_poll({}, true));
    EXPECT_FALSE(program.is_waiting());
    is_silent = program.is_silent(waited / 2);
  }
  EXPECT_FALSE(is_silent);
}

}  // namespace
}  // namespace wm::runtime

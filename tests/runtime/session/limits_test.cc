// Limits of a client, and objects that it leaves when it has gone, over a device that computes nothing.
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>

#include "runtime/session/conversation.h"

namespace wm::runtime::test {
namespace {

TEST(SessionLimits, AClientWaitsWhileItHasTooMuchOutstanding) {
  constexpr std::uint64_t kCommands = Session::kMaxOutstanding, kBytes = Session::kMaxOutstandingBytes;
  constexpr std::size_t kTasks = Session::kMaxBackgroundTasks;
  struct Row {
    Op op;
    Session::Outstanding now;
    bool waits;
  };
  for (const Row& row :
       {Row{Op::command, {0, 0, 0}, false}, Row{Op::command, {kCommands, kBytes, kTasks}, false},
        Row{Op::command, {kCommands + 1, 0, 0}, true}, Row{Op::command, {0, kBytes + 1, 0}, true},
        Row{Op::build_program, {0, 0, kTasks - 1}, false}, Row{Op::build_program, {0, 0, kTasks}, true},
        Row{Op::link_program, {0, 0, kTasks}, true}, Row{Op::create_program, {0, 0, kTasks}, false}}) {
    EXPECT_EQ(Session::must_wait(row.op, row.now), row.waits)
        << row.now.commands << " " << row.now.bytes << " " << row.now.tasks;
  }
}

// The answer of a client's device as a number.
std::uint64_t told(Conversation& client, std::uint64_t name) {
  Writer message(Op::device_info);
  message.put(Query{0, name});
  EXPECT_EQ(client.call(message), status::kSuccess);
  std::uint64_t value = 0;
  std::memcpy(&value, client.answer().data(), std::min(client.answer().size(), sizeof value));
  return value;
}

TEST(SessionLimits, OnlySizesOfTheDevicesMemoryAreLimited) {
  auto native = null_opencl(true);
  static decltype(NativeCalls::GetDeviceInfo) info;
  info = native->cl.GetDeviceInfo;
  native->cl.GetDeviceInfo = [](cl_device_id d, cl_device_info name, std::size_t room, void* value,
                                std::size_t* needed) {
    if (name != CL_DEVICE_GLOBAL_MEM_SIZE && name != CL_DEVICE_MAX_MEM_ALLOC_SIZE) {
      return info(d, name, room, value, needed);
    }
    const cl_ulong size = name == CL_DEVICE_GLOBAL_MEM_SIZE ? 5000 : 700;
    if (needed != nullptr) *needed = sizeof size;
    if (value != nullptr) std::memcpy(value, &size, sizeof size);
    return cl_int{CL_SUCCESS};
  };
  Conversation client(std::make_unique<OpenClGpu>(std::move(native)), {.memory = 1000, .client_memory = 1000});
  EXPECT_EQ(told(client, CL_DEVICE_GLOBAL_MEM_SIZE), 1000U);
  EXPECT_EQ(told(client, CL_DEVICE_MAX_MEM_ALLOC_SIZE), 700U) << "less than its limit";
  EXPECT_EQ(told(client, CL_DEVICE_LOCAL_MEM_SIZE), 32'768U) << "another kind of memory";
  EXPECT_EQ(told(client, CL_DEVICE_MAX_COMPUTE_UNITS), 4U) << "a number of four bytes";
}

Writer buffer(std::uint64_t id, std::uint64_t size) {
  Writer message(Op::create_buffer);
  message.put(CreateBuffer{id, CL_MEM_READ_WRITE, size, 0, 0});
  return message;
}
Writer release_of(std::uint64_t id, ObjectKind kind) {
  Writer message(Op::release);
  message.put(Release{id, kind, 0});
  return message;
}

TEST(SessionLimits, ABufferWaitsForMemoryOfOtherClientsOnly) {
  Conversation first(null_backend(true), {.memory = 1 << 16, .client_memory = 1 << 16, .wait_for_memory = true});
  Conversation second(first);
  Writer half = buffer(1, 1 << 15), rest = buffer(2, 1 << 15), small = buffer(1, 4096);
  ASSERT_EQ(first.call(half), status::kSuccess);
  ASSERT_EQ(first.call(rest), status::kSuccess);
  // The second client waits, and its reader handles the next message meanwhile.
  auto* reply = reinterpret_cast<Reply*>(second.staging().data());
  *reply = {};
  small.reply_to({0, 0, 0, 1024});
  second.post(small);
  Writer sampler(Op::create_sampler);
  sampler.put(CreateSampler{1, 0, 0x1130, 0x1140, 0});
  sampler.reply_to({0, 0, 2048, 1024});
  second.post(sampler);
  auto* later = reinterpret_cast<Reply*>(second.staging().data() + 2048);
  ASSERT_TRUE(Conversation::eventually([&] { return std::atomic_ref(later->state).load() != 0; }));
  EXPECT_EQ(std::atomic_ref(reply->state).load(), 0U) << "it waits";
  Writer release = release_of(2, ObjectKind::memory);
  first.post(release);
  ASSERT_TRUE(Conversation::eventually([&] { return std::atomic_ref(reply->state).load() != 0; }));
  EXPECT_EQ(reply->status, status::kSuccess);
  Writer too_large = buffer(3, (1 << 16) + 1);
  EXPECT_EQ(second.call(too_large), status::kMemoryAllocationFailure) << "it could never be there";
}

TEST(SessionEnd, AClientThatWaitsForMemoryCanBeClosed) {
  Conversation first(null_backend(true), {.memory = 1 << 16, .client_memory = 1 << 16, .wait_for_memory = true});
  Conversation second(first);
  Writer all = buffer(1, 1 << 16), more = buffer(1, 4096), sampler(Op::create_sampler);
  ASSERT_EQ(first.call(all), status::kSuccess);
  second.post(more);
  sampler.put(CreateSampler{1, 0, 0x1130, 0x1140, 0});
  ASSERT_EQ(second.call(sampler), status::kSuccess) << "the buffer waits";
  second.session().close();
  EXPECT_EQ(second.session().counts().memories, 0U);
}

TEST(SessionEnd, AClosedSessionHoldsNothing) {
  Conversation client(null_backend(true), NullDaemon::Options{});
  client.make_kernel();
  client.make_queue(3);
  Writer sampler(Op::create_sampler);
  sampler.put(CreateSampler{1, 0, 0x1130, 0x1140, 0});
  ASSERT_EQ(client.call(sampler), status::kSuccess);
  const ObjectCounts& counts = client.daemon().counts;
  EXPECT_EQ(counts.samplers, 1);
  EXPECT_EQ(counts.queues, 2);
  EXPECT_EQ(counts.kernels, 1);
  EXPECT_EQ(counts.programs, 1);
  client.session().close();
  EXPECT_TRUE(Conversation::eventually([&] { return client.daemon().idle(); })) << "though the session is still there";
  EXPECT_TRUE(client.session().finished());
  EXPECT_EQ(client.session().counts().bytes, 0U);
}

TEST(SessionStatus, KernelsThatAreNotRewrittenHaveTheirReason) {
  Conversation client(null_backend(true), NullDaemon::Options{});
  client.make_kernel();
  EXPECT_TRUE(client.session().counts().unmodified_kernels.empty()) << "it was not launched";
  LaunchMessage launch;
  launch.dimensions = 1;
  launch.global[0] = 16;
  client.queue_state(7);
  client.launch(launch, 7);
  EXPECT_EQ(client.ended(7), CL_COMPLETE);
  const auto kernels = client.session().counts().unmodified_kernels;
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels.begin()->first, "k");
  EXPECT_FALSE(kernels.begin()->second.empty());
}

TEST(SessionStatus, AnEventShowsTheTimesOfItsCommand) {
  Conversation client(null_backend(true), NullDaemon::Options{});
  client.make_kernel();
  Writer queue(Op::create_queue);
  queue.put(CreateQueue{5, CL_QUEUE_PROFILING_ENABLE});
  ASSERT_EQ(client.call(queue), status::kSuccess);
  LaunchMessage launch;
  launch.dimensions = 1;
  launch.global[0] = 16;
  client.queue_state(7);
  client.launch(launch, 7, {}, 5);
  ASSERT_EQ(client.ended(7), CL_COMPLETE);
  const EventRecord& record = client.record(7);
  EXPECT_GT(record.queued, 0U);
  EXPECT_GE(record.submitted, record.queued);
  EXPECT_GE(record.started, record.submitted);
  EXPECT_GT(record.ended, record.started);
}

// --- A sandbox whose process ends at once: nothing that it is asked for may be done.

struct RefusingSandbox : testing::Test {
  // A program of the client; its text is in the staging area.
  Status create(std::uint64_t id, ProgramOrigin origin) {
    std::memcpy(client.staging().data() + 4096, kSource, std::strlen(kSource));
    Writer message(Op::create_program);
    message.put(CreateProgram{id, origin, 0, {0, 0, 4096, std::strlen(kSource)}});
    return client.call(message);
  }
  Status build(std::uint64_t id, bool compile_only) {
    Writer message(Op::build_program);
    message.put(BuildProgram{id, compile_only ? 1U : 0U, 0}).raw("", 1);
    return client.call(message);
  }
  // The answer to a question about the build.
  std::string asked(std::uint64_t id, std::uint64_t name) {
    Writer message(Op::program_build_info);
    message.put(Query{id, name});
    EXPECT_EQ(client.call(message), status::kSuccess);
    return {reinterpret_cast<const char*>(client.answer().data()), client.answer().size()};
  }
  Conversation client{null_backend(true), {.sandbox_program = "/bin/false"}};
};

TEST_F(RefusingSandbox, ABuildFailsAndItsLogSaysWhy) {
  ASSERT_EQ(create(1, ProgramOrigin::source), status::kSuccess);
  const std::string device_log = asked(1, CL_PROGRAM_BUILD_LOG);
  EXPECT_EQ(build(1, true), status::kCompileProgramFailure);
  EXPECT_EQ(build(1, false), status::kBuildProgramFailure);
  const std::string log = asked(1, CL_PROGRAM_BUILD_LOG);
  EXPECT_TRUE(log.starts_with("warpmux: ")) << log;
  EXPECT_EQ(log.find('\0'), log.size() - 1) << "with the end of a text, and nothing after it";
  EXPECT_EQ(log.substr(log.size() - 2, 1), "\n");
  std::int32_t state = 0;
  ASSERT_EQ(asked(1, CL_PROGRAM_BUILD_STATUS).size(), sizeof state);
  std::memcpy(&state, asked(1, CL_PROGRAM_BUILD_STATUS).data(), sizeof state);
  EXPECT_EQ(state, CL_BUILD_ERROR);
  EXPECT_EQ(asked(1, CL_PROGRAM_BUILD_OPTIONS), device_log) << "other questions are the device's";
}

TEST_F(RefusingSandbox, ABinaryIsInvalidAndALinkFails) {
  EXPECT_EQ(create(1, ProgramOrigin::binary), status::kInvalidBinary);
  ASSERT_EQ(create(2, ProgramOrigin::source), status::kSuccess);
  Writer message(Op::link_program);
  message.put(LinkProgram{3, 1, 0}).put(std::uint64_t{2}).raw("", 1);
  EXPECT_EQ(client.call(message), status::kLinkProgramFailure);
}

// --- Rectangles must fit their chunk exactly.

template <typename... Parts>
Status ended_with(Conversation& client, CommandType type, const Parts&... parts) {
  client.queue_state(3);
  Writer message(Op::command);
  message.put(CommandMessage{0, type, 3, 0, 0});
  (message.put(parts), ...);
  client.post(message);
  return client.ended(3);
}

TEST(SessionCommands, ARectangleNeedsAsManyBytesAsItHas) {
  for (const std::uint64_t bytes : {24U, 25U}) {
    Conversation client(null_backend(true), NullDaemon::Options{});
    Writer made = buffer(1, 4096);
    ASSERT_EQ(client.call(made), status::kSuccess);
    const RectTransfer rect{.memory = 1, .region = {4, 3, 2}, .chunk = {0, 0, 0, bytes}};
    EXPECT_EQ(ended_with(client, CommandType::read_rect, rect), CL_COMPLETE) << bytes;
  }
  Conversation client(null_backend(true), NullDaemon::Options{});
  Writer made = buffer(1, 4096), message(Op::command);
  ASSERT_EQ(client.call(made), status::kSuccess);
  const RectTransfer rect{.memory = 1, .region = {4, 3, 2}, .chunk = {0, 0, 0, 23}};
  message.put(CommandMessage{0, CommandType::read_rect, kNoEvent, 0, 0}).put(rect);
  client.post(message);
  EXPECT_TRUE(Conversation::eventually([&] { return client.session().cut_off() == "broke the protocol"; }));
}

// --- The staging area is pinned at its first use, once, whether or not the driver can.

struct PinCount {
  static std::atomic<int>& maps() {
    static std::atomic<int> count;
    return count;
  }
  // Maps of buffers of the size of the pinned part, by transfers.
  static int after_transfers(bool succeeds) {
    maps() = 0;
    auto native = null_opencl(false);
    static decltype(NativeCalls::EnqueueMapBuffer) map;
    static decltype(NativeCalls::CreateBuffer) create;
    map = native->cl.EnqueueMapBuffer;
    create = native->cl.CreateBuffer;
    static std::atomic<bool> works;
    works = succeeds;
    // The driver takes no buffers of this size; those that stand for the staging area are smaller for it.
    native->cl.CreateBuffer = [](cl_context c, cl_mem_flags flags, std::size_t size, void* host, cl_int* status) {
      const bool pins = (flags & CL_MEM_USE_HOST_PTR) != 0 && size > (1 << 20);
      return create(c, flags, pins ? 1 << 20 : size, host, status);
    };
    native->cl.EnqueueMapBuffer = [](cl_command_queue q, cl_mem m, cl_bool wait, cl_map_flags flags, std::size_t at,
                                     std::size_t size, cl_uint n, const cl_event* after, cl_event* event,
                                     cl_int* status) -> void* {
      if (size <= (1 << 20)) return map(q, m, wait, flags, at, size, n, after, event, status);
      ++maps();
      return works ? map(q, m, wait, flags, at, 1 << 20, n, after, event, status) : nullptr;
    };
    Conversation client(std::make_unique<OpenClGpu>(std::move(native)), NullDaemon::Options{});
    Writer made = buffer(1, 1 << 18);
    EXPECT_EQ(client.call(made), status::kSuccess);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(ended_with(client, CommandType::write, Transfer{1, 0, {0, 0, 4096, 1 << 18}}), CL_COMPLETE);
    }
    return maps();
  }
};

TEST(SessionStaging, IsPinnedOnce) {
  EXPECT_EQ(PinCount::after_transfers(true), 1);
  EXPECT_EQ(PinCount::after_transfers(false), 1) << "a driver that cannot is not asked again";
}

// --- Launches that wait in the ring. A driver's call holds the session's reader until the messages are there.

struct HeldReader {
  static std::mutex& gate() {
    static std::mutex mutex;
    return mutex;
  }
  static std::atomic<int>& flushes() {
    static std::atomic<int> count;
    return count;
  }
  // Flushes of a GPU's queue for a launch on queue 0 behind which `next` is in the ring.
  template <typename Next>
  static int for_launch_before(Next next) {
    auto native = null_opencl(false);
    static decltype(NativeCalls::CreateSampler) create;
    static decltype(NativeCalls::Flush) flush;
    create = native->cl.CreateSampler;
    flush = native->cl.Flush;
    native->cl.CreateSampler = [](cl_context c, cl_bool n, cl_addressing_mode a, cl_filter_mode f, cl_int* status) {
      const std::lock_guard lock(gate());
      return create(c, n, a, f, status);
    };
    native->cl.Flush = [](cl_command_queue queue) {
      ++flushes();
      return flush(queue);
    };
    Conversation client(std::make_unique<OpenClGpu>(std::move(native)), {.policy = "left_over", .pass_through = true});
    client.make_kernel();
    client.make_queue(5);
    LaunchMessage launch;
    launch.dimensions = 1;
    launch.global[0] = 16;
    client.queue_state(1);
    client.queue_state(2);
    flushes() = 0;
    {
      const std::lock_guard lock(gate());
      Writer sampler(Op::create_sampler);
      sampler.put(CreateSampler{1, 0, 0x1130, 0x1140, 0});
      sampler.reply_to({0, 0, 2048, 64});
      client.post(sampler);
      client.launch(launch, 1);
      next(client, launch);
    }
    EXPECT_EQ(client.ended(1), CL_COMPLETE);
    client.ended(2);
    // A launch may be complete before the reader flushes it; the answer to a later message comes after the flush.
    Writer later(Op::create_buffer);
    later.put(CreateBuffer{2, CL_MEM_READ_WRITE, 64, 0, 0});
    EXPECT_EQ(client.call(later), status::kSuccess);
    return flushes();
  }
};

TEST(SessionLaunches, AreFlushedTogetherWhereTheNextMessageIsALaunchOnTheSameQueue) {
  // A launch that waits for more than 50 us, as on a busy host, is flushed by itself.
  int together = 2;
  for (int i = 0; i < 100 && together != 1; ++i) {
    together = HeldReader::for_launch_before([](auto& c, const auto& launch) { c.launch(launch, 2); });
  }
  const int apart = HeldReader::for_launch_before([](auto& c, const auto& launch) { c.launch(launch, 2, {}, 5); });
  const int other = HeldReader::for_launch_before([](auto& c, const auto&) {
    Writer message(Op::command);
    message.put(CommandMessage{0, CommandType::marker, 2, 0, 0});
    c.post(message);
  });
  EXPECT_EQ(together, 1);
  EXPECT_EQ(apart, 2);
  EXPECT_EQ(other, 1) << "the launch at once, and a marker needs none";
}

}  // namespace
}  // namespace wm::runtime::test

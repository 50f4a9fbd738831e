// A client and the daemon's side of it in one process, over a device of the test's choice.
#pragma once

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

#include "runtime/device/null_opencl.h"
#include "runtime/device/opencl_gpu.h"
#include "runtime/session/null_daemon.h"

namespace wm::runtime::test {

class Conversation {
 public:
  Conversation(std::unique_ptr<Native> device, const std::string& policy, bool pass_through,
               double short_launch = 100'000)
      : side_(std::make_shared<NullDaemon>(
            std::make_unique<OpenClGpu>(std::move(device)),
            NullDaemon::Options{.policy = policy, .pass_through = pass_through, .short_launch = short_launch})) {
    begin();
  }
  // Another client of the same daemon.
  explicit Conversation(const Conversation& beside) : side_(beside.side_) { begin(); }
  ~Conversation() { session_->close(); }
  Conversation& operator=(const Conversation&) = delete;

 private:
  void begin() {
    auto session = Session::make(side_->context(), {}, Hello{}, file_);
    session_ = std::move(*session);
    area_.emplace(std::move(*SharedArea::attach(file_)));
    ring_.emplace(&area_->header().ring, area_->ring());
    session_->start();
  }

 public:
  // The answer, or 1 if there is none within ten seconds.
  cl_int call(Writer& message) {
    auto* reply = reinterpret_cast<Reply*>(area_->staging().data());
    *reply = {};
    message.reply_to({0, 0, 0, 1024});
    post(message);
    Word& state = *reinterpret_cast<Word*>(&reply->state);
    return eventually([&] { return state.load() != 0; }) ? reply->status : 1;
  }
  void post(Writer& message) { ASSERT_TRUE(ring_->try_write(message.finish())); }

  // Kernel 1 of program 1, with buffer 1 for its argument.
  void make_kernel() {
    Writer buffer(Op::create_buffer);
    buffer.put(CreateBuffer{1, CL_MEM_READ_WRITE, 4096, 0, 0});
    EXPECT_EQ(call(buffer), CL_SUCCESS);
    const std::size_t size = std::strlen(kSource);
    std::memcpy(area_->staging().data() + 4096, kSource, size);
    Writer program(Op::create_program);
    program.put(CreateProgram{1, ProgramOrigin::source, 0, {0, 0, 4096, size}});
    EXPECT_EQ(call(program), CL_SUCCESS);
    Writer build(Op::build_program);
    build.put(BuildProgram{1, 0, 0}).raw("", 1);
    EXPECT_EQ(call(build), CL_SUCCESS);
    Writer kernel(Op::create_kernel);
    kernel.put(CreateKernel{1, 1}).raw("k", 2);
    EXPECT_EQ(call(kernel), CL_SUCCESS);
  }
  void make_queue(std::uint64_t name) {
    Writer queue(Op::create_queue);
    queue.put(CreateQueue{name, 0});
    EXPECT_EQ(call(queue), CL_SUCCESS);
  }
  // `waits`: for that slot. Queue 0 is there from the start.
  void launch(const LaunchMessage& range, std::uint32_t slot, std::optional<std::uint32_t> waits = {},
              std::uint64_t queue = 0) {
    Writer message(Op::command);
    message.put(CommandMessage{queue, CommandType::launch, slot, waits ? 1U : 0U, 0});
    if (waits) message.put(*waits).pad();
    LaunchMessage launch = range;
    launch.kernel = 1;
    launch.arguments = 3;
    message.put(launch);
    message.put(Argument{ArgumentKind::memory, 8}).put(std::uint64_t{1});
    message.put(Argument{ArgumentKind::value, 8}).put(std::uint64_t{7});
    message.put(Argument{ArgumentKind::local, 64});
    post(message);
  }
  void user_event(std::uint32_t slot) {
    Writer message(Op::user_event);
    message.put(UserEvent{slot, CL_SUBMITTED});
    post(message);
  }
  void set_user_event(std::uint32_t slot) {
    Writer message(Op::set_user_event);
    message.put(UserEvent{slot, CL_COMPLETE});
    post(message);
  }
  // The state of a command, once it has ended; 1 where it has not within ten seconds.
  cl_int ended(std::uint32_t slot) {
    const auto state = [&] { return static_cast<cl_int>(area_->events()[slot].state.load()); };
    return eventually([&] { return state() <= 0; }) ? state() : 1;
  }
  void queue_state(std::uint32_t slot) { area_->events()[slot].state.store(CL_QUEUED); }

  template <typename Condition>
  static bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  }
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] Scheduler& scheduler() { return side_->scheduler; }

 private:
  std::shared_ptr<NullDaemon> side_;
  Descriptor file_;
  std::shared_ptr<Session> session_;
  std::optional<SharedArea> area_;
  std::optional<RingWriter> ring_;
};

}  // namespace wm::runtime::test

// A client and the daemon's side of its session in one process, over a device that the test chooses.
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
  Conversation(std::unique_ptr<Backend> device, const std::string& policy, bool pass_through,
               double short_launch = 100'000)
      : daemon_(std::make_shared<NullDaemon>(
            std::move(device),
            NullDaemon::Options{.policy = policy, .pass_through = pass_through, .short_launch = short_launch})) {
    begin();
  }
  // Over a driver of a GPU.
  Conversation(std::unique_ptr<Native> driver, const std::string& policy, bool pass_through,
               double short_launch = 100'000)
      : Conversation(std::make_unique<OpenClGpu>(std::move(driver)), policy, pass_through, short_launch) {}
  Conversation(std::unique_ptr<Backend> device, const NullDaemon::Options& options)
      : daemon_(std::make_shared<NullDaemon>(std::move(device), options)) {
    begin();
  }
  // Another client of the same daemon.
  explicit Conversation(const Conversation& other) : daemon_(other.daemon_) { begin(); }
  ~Conversation() { session_->close(); }
  Conversation& operator=(const Conversation&) = delete;

 private:
  void begin() {
    auto session = Session::make(daemon_->context(), {}, Hello{}, file_);
    session_ = std::move(*session);
    area_.emplace(std::move(*SharedArea::attach(file_)));
    ring_.emplace(&area_->header().ring, area_->ring());
    session_->start();
  }

 public:
  // The status of the answer; 1: there is none within ten seconds.
  Status call(Writer& message) {
    auto* reply = reinterpret_cast<Reply*>(area_->staging().data());
    *reply = {};
    message.reply_to({0, 0, 0, 1024});
    post(message);
    Word& state = *reinterpret_cast<Word*>(&reply->state);
    return eventually([&] { return state.load() != 0; }) ? reply->status : 1;
  }
  // The bytes of the latest answer.
  [[nodiscard]] std::span<const std::byte> answer() const {
    const auto* reply = reinterpret_cast<const Reply*>(area_->staging().data());
    return area_->staging().subspan(sizeof *reply, std::min<std::size_t>(reply->size, 1024 - sizeof *reply));
  }
  // A message as bytes, which need not be a right one.
  void send(std::span<const std::byte> message) { ASSERT_TRUE(ring_->try_write(message)); }
  void post_if_possible(Writer& message) { (void)ring_->try_write(message.finish()); }
  [[nodiscard]] bool has_read_all() const { return area_->header().ring.read == area_->header().ring.written; }
  [[nodiscard]] std::span<std::byte> staging() const { return area_->staging(); }
  void post(Writer& message) { ASSERT_TRUE(ring_->try_write(message.finish())); }

  // Kernel 1 of program 1, with buffer 1 for its argument.
  void make_kernel() {
    Writer buffer(Op::create_buffer);
    buffer.put(CreateBuffer{1, CL_MEM_READ_WRITE, 4096, 0, 0});
    EXPECT_EQ(call(buffer), status::kSuccess);
    const std::size_t size = std::strlen(kSource);
    std::memcpy(area_->staging().data() + 4096, kSource, size);
    Writer program(Op::create_program);
    program.put(CreateProgram{1, ProgramOrigin::source, 0, {0, 0, 4096, size}});
    EXPECT_EQ(call(program), status::kSuccess);
    Writer build(Op::build_program);
    build.put(BuildProgram{1, 0, 0}).raw("", 1);
    EXPECT_EQ(call(build), status::kSuccess);
    Writer kernel(Op::create_kernel);
    kernel.put(CreateKernel{1, 1}).raw("k", 2);
    EXPECT_EQ(call(kernel), status::kSuccess);
  }
  void make_queue(std::uint64_t name) {
    Writer queue(Op::create_queue);
    queue.put(CreateQueue{name, 0});
    EXPECT_EQ(call(queue), status::kSuccess);
  }
  // Waits for the event `wait_for`. Queue 0 exists from the start.
  void launch(const LaunchMessage& range, EventId event, std::optional<EventId> wait_for = {},
              std::uint64_t queue = 0) {
    Writer message(Op::command);
    message.put(CommandMessage{queue, CommandType::launch, event, wait_for ? 1U : 0U, 0});
    if (wait_for) message.put(*wait_for).pad();
    LaunchMessage launch = range;
    launch.kernel = 1;
    launch.arguments = 3;
    message.put(launch);
    message.put(Argument{ArgumentKind::memory, 8}).put(std::uint64_t{1});
    message.put(Argument{ArgumentKind::value, 8}).put(std::uint64_t{7});
    message.put(Argument{ArgumentKind::local, 64});
    post(message);
  }
  void user_event(EventId event) {
    Writer message(Op::user_event);
    message.put(UserEvent{event, status::kSubmitted});
    post(message);
  }
  void set_user_event(EventId event) {
    Writer message(Op::set_user_event);
    message.put(UserEvent{event, status::kComplete});
    post(message);
  }
  // The final state of a command; 1: it has not completed within ten seconds.
  Status ended(EventId event) {
    return eventually([&] { return state(event) <= 0; }) ? state(event) : 1;
  }
  [[nodiscard]] const EventRecord& record(EventId event) const { return area_->events()[event]; }
  [[nodiscard]] Status state(EventId event) const { return static_cast<Status>(area_->events()[event].state.load()); }
  void queue_state(EventId event) { area_->events()[event].state.store(status::kQueued); }

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
  [[nodiscard]] Scheduler& scheduler() { return daemon_->scheduler; }
  [[nodiscard]] NullDaemon& daemon() { return *daemon_; }

 private:
  std::shared_ptr<NullDaemon> daemon_;
  Descriptor file_;
  std::shared_ptr<Session> session_;
  std::optional<SharedArea> area_;
  std::optional<RingWriter> ring_;
};

}  // namespace wm::runtime::test

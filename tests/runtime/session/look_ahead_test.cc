// The session's reader tells the scheduler whether work of the same queue is behind a command.
#include <algorithm>
#include <iterator>

#include "runtime/session/conversation.h"

namespace wm::runtime::test {
namespace {

// Counts fills by whether the driver was asked for an event.
struct Fills {
  std::atomic<int> with_event = 0, without_event = 0;
  static Fills& the() {
    static Fills fills;
    return fills;
  }
  static std::unique_ptr<Native> device() {
    the().with_event = the().without_event = 0;
    auto native = null_opencl(false);
    static decltype(native->cl.EnqueueFillBuffer) fill = native->cl.EnqueueFillBuffer;
    native->cl.EnqueueFillBuffer = [](cl_command_queue queue, cl_mem memory, const void* pattern, std::size_t bytes,
                                      std::size_t offset, std::size_t size, cl_uint waits, const cl_event* list,
                                      cl_event* event) {
      ++(event != nullptr ? the().with_event : the().without_event);
      return fill(queue, memory, pattern, bytes, offset, size, waits, list, event);
    };
    return native;
  }
};

Writer command(CommandType type, EventId event, std::uint64_t queue) {
  Writer message(Op::command);
  message.put(CommandMessage{queue, type, event, 0, 0});
  return message;
}
Writer fill_of(EventId event, std::uint64_t queue) {
  Writer message = command(CommandType::fill, event, queue);
  Fill fill;
  fill.memory = 1;
  fill.size = fill.pattern_size = 4;
  message.put(fill);
  return message;
}

struct LookAheadTest : testing::Test {
  LookAheadTest() {
    client.make_kernel();
    client.make_queue(2);
  }
  // The reader finds both messages at once.
  void send_together(Writer first, Writer second) {
    std::vector<std::byte> bytes;
    for (Writer* message : {&first, &second}) std::ranges::copy(message->finish(), std::back_inserter(bytes));
    client.queue_state(kLast);
    client.send(bytes);
    EXPECT_EQ(client.ended(kLast), CL_COMPLETE);
  }
  static constexpr EventId kLast = 7;
  Conversation client{Fills::device(), "left_over", true};
};

TEST_F(LookAheadTest, AFillBehindWhichWorkOfItsQueueIsNeedsNoEvent) {
  send_together(fill_of(kNoEvent, 0), fill_of(kLast, 0));
  EXPECT_EQ(Fills::the().without_event, 1);
  EXPECT_EQ(Fills::the().with_event, 1) << "the client has its event";
}

TEST_F(LookAheadTest, AFillBehindWhichAnotherQueueHasWorkHasAnEvent) {
  send_together(fill_of(kNoEvent, 0), fill_of(kLast, 2));
  EXPECT_EQ(Fills::the().with_event, 2);
}

TEST_F(LookAheadTest, AFillBehindWhichAMarkerWaitsHasAnEvent) {
  send_together(fill_of(kNoEvent, 0), command(CommandType::marker, kLast, 0));
  EXPECT_EQ(Fills::the().with_event, 1);
}

}  // namespace
}  // namespace wm::runtime::test

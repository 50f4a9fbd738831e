// Kernels and commands of a client as messages, over a device that computes nothing.
#include <gtest/gtest.h>

#include "runtime/session/conversation.h"

namespace wm::runtime::test {
namespace {

Conversation on_gpu(std::unique_ptr<Native> driver) {
  return {std::make_unique<OpenClGpu>(std::move(driver)), NullDaemon::Options{}};
}

// A command on queue 0 with an event and a list of events that it waits for.
template <typename... Parts>
void post_command(Conversation& c, CommandType type, EventId event, std::vector<EventId> waits, const Parts&... parts) {
  Writer message(Op::command);
  message.put(CommandMessage{0, type, event, static_cast<std::uint32_t>(waits.size()), 0});
  for (const EventId wait : waits) message.put(wait);
  message.pad();
  (message.put(parts), ...);
  if (event != kNoEvent) c.queue_state(event);
  c.post(message);
}
bool is_cut_off(Conversation& c) {
  return Conversation::eventually([&] { return c.session().cut_off() == "broke the protocol"; });
}

TEST(SessionKernels, AClientIsToldTheSizesAndParametersOfAKernel) {
  auto native = null_opencl(false);
  native->cl.GetKernelWorkGroupInfo = [](cl_kernel, cl_device_id, cl_kernel_work_group_info name, std::size_t,
                                         void* value, std::size_t*) -> cl_int {
    const std::size_t compiled[3] = {8, 4, 2}, items = 200;
    const cl_ulong local = 96;
    if (name == CL_KERNEL_COMPILE_WORK_GROUP_SIZE) std::memcpy(value, compiled, sizeof compiled);
    if (name == CL_KERNEL_WORK_GROUP_SIZE) std::memcpy(value, &items, sizeof items);
    if (name == CL_KERNEL_LOCAL_MEM_SIZE) std::memcpy(value, &local, sizeof local);
    return CL_SUCCESS;
  };
  Conversation c = on_gpu(std::move(native));
  c.make_kernel();
  KernelProperties properties;
  ASSERT_EQ(c.answer().size(), sizeof properties + 3 * sizeof(ParameterKind));
  std::memcpy(&properties, c.answer().data(), sizeof properties);
  EXPECT_EQ(properties.accepted_work_group_size, 200U);
  EXPECT_EQ(properties.required_local_size[0], 8U);
  EXPECT_EQ(properties.required_local_size[1], 4U);
  EXPECT_EQ(properties.required_local_size[2], 2U);
  EXPECT_EQ(properties.parameters, 3U);
  EXPECT_EQ(properties.uses_printf, 0U);
  ParameterKind kinds[3] = {};
  std::memcpy(kinds, c.answer().data() + sizeof properties, sizeof kinds);
  EXPECT_EQ(kinds[0], ParameterKind::memory);
  EXPECT_EQ(kinds[1], ParameterKind::value);
  EXPECT_EQ(kinds[2], ParameterKind::local);
}

TEST(SessionCommands, WaitForTheEventsOfTheirListAndNoOthers) {
  Conversation c = on_gpu(null_opencl(false));
  for (const EventId event : {0U, 4U, 5U}) {
    c.queue_state(event);
    c.user_event(event);
  }
  post_command(c, CommandType::marker, 7, {4, 5});
  EXPECT_TRUE(Conversation::eventually([&] { return c.session().outstanding_bytes != 0; })) << "its message counts";
  c.set_user_event(4);
  c.set_user_event(5);
  EXPECT_EQ(c.ended(7), CL_COMPLETE) << "event 0 is still open";
  EXPECT_TRUE(Conversation::eventually([&] { return c.session().outstanding_bytes == 0; }));
  c.set_user_event(0);
}

TEST(SessionCommands, TheEndOfAUserEventIsNotShownInARecordThatAnotherCommandMayHave) {
  Conversation c = on_gpu(null_opencl(false));
  c.queue_state(5);
  c.user_event(5);
  c.set_user_event(5);
  post_command(c, CommandType::marker, 7, {});
  EXPECT_EQ(c.ended(7), CL_COMPLETE);
  EXPECT_EQ(c.state(5), CL_QUEUED);
}

TEST(SessionCommands, ABufferIsNoImage) {
  Conversation c = on_gpu(null_opencl(false));
  Writer buffer(Op::create_buffer);
  buffer.put(CreateBuffer{1, CL_MEM_READ_WRITE, 4096, 0, 0});
  ASSERT_EQ(c.call(buffer), status::kSuccess);
  const RectTransfer rect{.memory = 1, .region = {1, 1, 1}, .chunk = {0, 0, 4096, 64}};
  post_command(c, CommandType::read_image, 7, {}, rect);
  EXPECT_EQ(c.ended(7), status::kInvalidMemoryObject);
  post_command(c, CommandType::marker, 8, {});
  EXPECT_EQ(c.ended(8), CL_COMPLETE) << "the session continues";
}

TEST(SessionProtocol, NumbersThatCannotBeBreakIt) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  const RectTransfer overflow{.memory = 1, .region = {kHuge, kHuge, 1}, .chunk = {0, 0, 4096, 64}};
  const LaunchMessage launch{.kernel = 1, .dimensions = 1, .arguments = 1, .global = {16, 0, 0}, .printf_output = {}};
  const Argument unknown{static_cast<ArgumentKind>(5), 0};
  using Post = std::function<void(Conversation&)>;
  for (const Post& post :
       {Post([&](Conversation& c) { post_command(c, CommandType::read_rect, kNoEvent, {}, overflow); }),
        Post([&](Conversation& c) { post_command(c, CommandType::launch, kNoEvent, {}, launch, unknown); }),
        Post([&](Conversation& c) {
          const auto beyond = static_cast<std::uint32_t>(kLastCommandType) + 1;
          post_command(c, static_cast<CommandType>(beyond), kNoEvent, {});
        }),
        Post([&](Conversation& c) {
          Writer message(Op::check_argument);
          message.put(CheckArgument{1, 0, 0}).put(unknown);
          c.post(message);
        })}) {
    Conversation c = on_gpu(null_opencl(false));
    c.make_kernel();
    post(c);
    EXPECT_TRUE(is_cut_off(c));
  }
}

}  // namespace
}  // namespace wm::runtime::test

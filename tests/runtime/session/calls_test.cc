// The results of a client's calls and commands, and the messages that break the protocol, over a device that computes
// nothing.
#include <gtest/gtest.h>

#include "runtime/session/conversation.h"

namespace wm::runtime::test {
namespace {

Conversation client() { return {null_backend(true), "accelos", false}; }

template <typename Body>
Status result(Conversation& client, Op op, const Body& body) {
  Writer message(op);
  message.put(body);
  return client.call(message);
}

TEST(SessionCalls, AnUnknownObjectHasTheErrorOfItsKind) {
  Conversation c = client();
  EXPECT_EQ(result(c, Op::create_sub_buffer, CreateSubBuffer{2, 99, 0, 0, 16}), status::kInvalidMemoryObject);
  EXPECT_EQ(result(c, Op::image_info, Query{99, 0}), status::kInvalidMemoryObject);
  EXPECT_EQ(result(c, Op::program_info, Query{99, 0}), status::kInvalidProgram);
  EXPECT_EQ(result(c, Op::program_build_info, Query{99, 0}), status::kInvalidProgram);
  EXPECT_EQ(result(c, Op::kernel_info, Query{99, 0}), status::kInvalidKernel);
  EXPECT_EQ(result(c, Op::kernel_group_info, KernelQuery{99, 0, 0}), status::kInvalidKernel);
  EXPECT_EQ(result(c, Op::kernel_arg_info, KernelQuery{99, 0, 0}), status::kInvalidKernel);
  Writer build(Op::build_program);
  build.put(BuildProgram{99, 0, 0}).raw("", 1);
  EXPECT_EQ(c.call(build), status::kInvalidProgram);
  Writer link(Op::link_program);
  link.put(LinkProgram{2, 1, 0}).put(std::uint64_t{99}).raw("", 1);
  EXPECT_EQ(c.call(link), status::kInvalidProgram);
  Writer kernel(Op::create_kernel);
  kernel.put(CreateKernel{2, 99}).raw("k", 2);
  EXPECT_EQ(c.call(kernel), status::kInvalidProgram);
}

TEST(SessionCalls, AnIdIsUsedOnce) {
  Conversation c = client();
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{5, 1, 64, 0, 0}), status::kSuccess);
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{5, 1, 64, 0, 0}), status::kInvalidValue);
  EXPECT_EQ(result(c, Op::create_queue, CreateQueue{0, 0}), status::kInvalidValue) << "queue 0 exists from the start";
}

TEST(SessionCalls, ABufferBeyondTheClientsMemoryFails) {
  Conversation c = client();
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{1, 1, (64 << 20) + 1, 0, 0}), status::kMemoryAllocationFailure);
  for (std::uint64_t id = 1; id <= 64; ++id) {
    ASSERT_EQ(result(c, Op::create_buffer, CreateBuffer{id, 1, 1 << 20, 0, 0}), status::kSuccess) << id;
  }
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{65, 1, 1, 0, 0}), status::kMemoryAllocationFailure);
  EXPECT_EQ(c.session().counts().bytes, 64U << 20);
}

TEST(SessionCalls, ABufferInARegionNeedsALargeEnoughRegion) {
  Conversation c = client();
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{1, 1, 4096, 7, 0}), status::kInvalidValue);
  Descriptor file;
  const std::uint32_t region = c.session().add_region(4096, file);
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{1, 1, 4097, region, 0}), status::kInvalidValue);
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{1, 1, 4096, region, 0}), status::kSuccess);
  EXPECT_EQ(result(c, Op::create_buffer, CreateBuffer{2, 1, 4096, region, 0}), status::kInvalidValue)
      << "the region belongs to the first buffer";
}

TEST(SessionCalls, ASubBufferBeginsInsideItsParent) {
  Conversation c = client();
  ASSERT_EQ(result(c, Op::create_buffer, CreateBuffer{1, 1, 4096, 0, 0}), status::kSuccess);
  EXPECT_EQ(result(c, Op::create_sub_buffer, CreateSubBuffer{2, 1, 0, 4096, 16}), status::kInvalidValue);
  EXPECT_EQ(result(c, Op::create_sub_buffer, CreateSubBuffer{2, 1, 0, 2048, 16}), status::kSuccess);
}

TEST(SessionCalls, AnImageWhoseSizeOverflowsFails) {
  Conversation c = client();
  CreateImage image;
  image.id = 1;
  image.object_type = 0x10F1;  // CL_MEM_OBJECT_IMAGE2D
  image.width = image.height = std::uint64_t{1} << 40;
  EXPECT_EQ(result(c, Op::create_image, image), status::kInvalidImageSize);
  image.buffer = 99;
  EXPECT_EQ(result(c, Op::create_image, image), status::kInvalidImageDescriptor);
}

TEST(SessionCalls, AProgramNeedsTextInsideTheSharedMemory) {
  Conversation c = client();
  const Chunk outside{0, 0, kStagingBytes, 16};
  EXPECT_EQ(result(c, Op::create_program, CreateProgram{1, ProgramOrigin::source, 0, outside}), status::kInvalidValue);
  EXPECT_EQ(result(c, Op::create_program, CreateProgram{1, ProgramOrigin::binary, 0, outside}), status::kInvalidBinary);
  const Chunk inside{0, 0, 4096, 16};
  EXPECT_EQ(result(c, Op::create_program, CreateProgram{1, ProgramOrigin::built_in, 0, inside}), status::kInvalidValue);
}

TEST(SessionCalls, BytesAreNeverTakenForAnObject) {
  Conversation c = client();
  c.make_kernel();
  const auto check = [&](ArgumentKind kind, std::uint32_t size) {
    Writer message(Op::check_argument);
    message.put(CheckArgument{1, 0, 0}).put(Argument{kind, size});
    if (kind == ArgumentKind::value) message.raw("12345678", size);
    message.pad();
    return c.call(message);
  };
  EXPECT_EQ(check(ArgumentKind::value, 8), status::kInvalidMemoryObject);
  EXPECT_EQ(check(ArgumentKind::value, 4), status::kInvalidArgumentSize);
  EXPECT_EQ(check(ArgumentKind::no_memory, 0), status::kInvalidKernel) << "only values and local memory are checked";
}

// The status of a command that is sent with event 3.
template <typename... Parts>
Status outcome(Conversation& c, CommandType type, const Parts&... parts) {
  constexpr EventId kEvent = 3;
  c.queue_state(kEvent);
  Writer message(Op::command);
  message.put(CommandMessage{0, type, kEvent, 0, 0, 1});
  (message.put(parts), ...);
  c.post(message);
  return c.ended(kEvent);
}

TEST(SessionCommands, AnUnknownMemoryObjectFailsTheCommandOnly) {
  Conversation c = client();
  const Chunk chunk{0, 0, 0, 64};
  EXPECT_EQ(outcome(c, CommandType::read, Transfer{99, 0, chunk}), status::kInvalidMemoryObject);
  EXPECT_EQ(outcome(c, CommandType::copy, Copy{}), status::kInvalidMemoryObject);
  EXPECT_EQ(outcome(c, CommandType::copy_rect, RectCopy{}), status::kInvalidMemoryObject);
  EXPECT_EQ(outcome(c, CommandType::fill, Fill{}), status::kInvalidMemoryObject);
  EXPECT_EQ(outcome(c, CommandType::marker), status::kComplete) << "the session continues";
  EXPECT_EQ(c.session().cut_off(), "");
}

LaunchMessage launch_of(std::uint32_t dimensions, std::uint32_t arguments) {
  LaunchMessage launch;
  launch.kernel = 1;
  launch.dimensions = dimensions;
  launch.arguments = arguments;
  for (std::uint32_t i = 0; i < dimensions; ++i) launch.global[i] = 16;
  return launch;
}

TEST(SessionCommands, ALaunchNeedsAllArgumentsAndAllLocalSizes) {
  Conversation c = client();
  c.make_kernel();
  EXPECT_EQ(outcome(c, CommandType::launch, launch_of(1, 0)), status::kInvalidKernelArguments);
  EXPECT_EQ(outcome(c, CommandType::launch, launch_of(1, 1), Argument{ArgumentKind::local, 8}),
            status::kInvalidKernelArguments);
  LaunchMessage uneven = launch_of(2, 0);
  uneven.local[0] = 4;
  EXPECT_EQ(outcome(c, CommandType::launch, uneven), status::kInvalidWorkGroupSize);
}

// Whether the session is cut off after a message.
bool breaks(Writer& message) {
  Conversation c = client();
  c.post(message);
  return Conversation::eventually([&] { return c.session().cut_off() == "broke the protocol"; });
}

template <typename... Parts>
bool command_breaks(const CommandMessage& command, const Parts&... parts) {
  Writer message(Op::command);
  message.put(command);
  (message.put(parts), ...);
  return breaks(message);
}

TEST(SessionProtocol, AMessageOfAnUnknownKindIsBroken) {
  Writer none(static_cast<Op>(0)), beyond(static_cast<Op>(static_cast<std::uint32_t>(kLastOp) + 1));
  EXPECT_TRUE(breaks(none));
  EXPECT_TRUE(breaks(beyond));
  Writer unaligned(Op::device_info);
  unaligned.put(Query{0, 0});
  unaligned.reply_to({0, 0, 4, 64});
  EXPECT_TRUE(breaks(unaligned)) << "the reply is not aligned";
}

TEST(SessionProtocol, ACommandMustNameAQueueAndEventsThatExist) {
  EXPECT_TRUE(command_breaks({99, CommandType::marker, kNoEvent, 0, 0})) << "unknown queue";
  EXPECT_TRUE(command_breaks({0, CommandType::marker, kMaxEvents, 0, 0})) << "event beyond the table";
  EXPECT_TRUE(command_breaks({0, CommandType::marker, kNoEvent, CommandReader::kMaxWaits + 1, 0}));
  EXPECT_TRUE(command_breaks({0, CommandType::marker, kNoEvent, 5, 0})) << "the wait list is missing";
  EXPECT_TRUE(command_breaks({0, CommandType::host_access, kNoEvent, 0, 0})) << "it could never be completed";
}

TEST(SessionProtocol, TransfersMustStayInsideTheirChunk) {
  const CommandMessage read{0, CommandType::read, kNoEvent, 0, 0};
  EXPECT_TRUE(command_breaks(read, Transfer{1, 0, {0, 0, kStagingBytes, 64}}));
  EXPECT_TRUE(command_breaks(read, Transfer{1, 0, {3, 0, 0, 64}})) << "unknown region";
  Fill fill;
  fill.pattern_size = sizeof fill.pattern + 1;
  EXPECT_TRUE(command_breaks({0, CommandType::fill, kNoEvent, 0, 0}, fill));
}

TEST(SessionProtocol, ALaunchHasOneToThreeDimensionsAndAGlobalSize) {
  const CommandMessage launch{0, CommandType::launch, kNoEvent, 0, 0};
  EXPECT_TRUE(command_breaks(launch, launch_of(0, 0)));
  LaunchMessage four = launch_of(3, 0);
  four.dimensions = 4;
  EXPECT_TRUE(command_breaks(launch, four));
  LaunchMessage empty = launch_of(2, 0);
  empty.global[1] = 0;
  EXPECT_TRUE(command_breaks(launch, empty));
  EXPECT_TRUE(command_breaks(launch, launch_of(1, LaunchReader::kMaxArguments + 1)));
  EXPECT_TRUE(command_breaks(launch, launch_of(1, 2))) << "the arguments are missing";
  EXPECT_TRUE(command_breaks(launch, launch_of(1, 1), Argument{ArgumentKind::memory, 4}, std::uint64_t{1}))
      << "the number of an object has eight bytes";
}

TEST(SessionProtocol, AUserEventMustExist) {
  Writer message(Op::user_event);
  message.put(UserEvent{kMaxEvents, 2});
  EXPECT_TRUE(breaks(message));
}

TEST(Session, QueueZeroCannotBeReleased) {
  Conversation c = client();
  Writer release(Op::release);
  release.put(Release{0, ObjectKind::queue, 0});
  c.post(release);
  EXPECT_EQ(outcome(c, CommandType::marker), status::kComplete);
}

TEST(Session, ObjectsOfAllKindsAreReleasedWhetherOrNotTheyExist) {
  Conversation c = client();
  c.make_kernel();
  c.make_queue(4);
  ASSERT_EQ(result(c, Op::create_sampler, CreateSampler{1, 0, 0x1130, 0x1140, 0}), status::kSuccess);
  for (int again = 0; again < 2; ++again) {
    for (const auto& [id, kind] : {std::pair{1U, ObjectKind::memory},
                                   {1U, ObjectKind::sampler},
                                   {4U, ObjectKind::queue},
                                   {1U, ObjectKind::program},
                                   {1U, ObjectKind::kernel},
                                   {1U, ObjectKind::region}}) {
      Writer release(Op::release);
      release.put(Release{id, kind, 0});
      c.post(release);
    }
    EXPECT_EQ(outcome(c, CommandType::marker), status::kComplete);
    const Session::Counts counts = c.session().counts();
    EXPECT_EQ(counts.memories + counts.programs + counts.kernels, 0U);
    EXPECT_EQ(counts.queues, 1U);
  }
  EXPECT_TRUE(Conversation::eventually([&] { return c.daemon().counts.samplers == 0; }));
  EXPECT_EQ(c.session().cut_off(), "");
  Writer other(Op::release);
  other.put(Release{1, static_cast<ObjectKind>(6), 0});
  c.post(other);
  EXPECT_TRUE(Conversation::eventually([&] { return c.session().cut_off() == "broke the protocol"; }));
}

TEST(Session, AReleasedMemoryObjectCompletesItsEvent) {
  Conversation c = client();
  ASSERT_EQ(result(c, Op::create_buffer, CreateBuffer{1, 1, 4096, 0, 0}), status::kSuccess);
  c.queue_state(9);
  Writer release(Op::release);
  release.put(Release{1, ObjectKind::memory, 9 + 1});
  c.post(release);
  EXPECT_EQ(c.ended(9), status::kComplete);
  EXPECT_EQ(c.session().counts().memories, 0U);
}

TEST(Session, CountsItsObjects) {
  Conversation c = client();
  c.make_kernel();
  c.make_queue(4);
  const Session::Counts counts = c.session().counts();
  EXPECT_EQ(counts.memories, 1U);
  EXPECT_EQ(counts.programs, 1U);
  EXPECT_EQ(counts.kernels, 1U);
  EXPECT_EQ(counts.queues, 2U);
  EXPECT_EQ(counts.bytes, 4096U);
}

}  // namespace
}  // namespace wm::runtime::test

// A client that sends every kind of message, right and wrong: the answers, the states of its commands, and the calls of
// the device's driver are as written down in golden_schedule.csv. A message that is cut short ends the session.
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <regex>

#include "runtime/device/opencl_cpu.h"
#include "runtime/device/recorded_opencl.h"
#include "runtime/schedule/golden_run.h"
#include "runtime/session/conversation.h"

namespace wm::runtime::test {
namespace {

constexpr EventId kEvent = 3;

// The calls of other threads come when they come, so the transcript is sorted, and calls that depend on the time are
// left out.
std::string digest_of(std::vector<std::string> lines) {
  static const std::regex left_out("^(Release|GetEvent|Flush|Finish|SetEventCallback).*"), event("event[0-9]+");
  std::erase_if(lines, [](const std::string& line) { return std::regex_match(line, left_out); });
  for (std::string& line : lines) line = std::regex_replace(line, event, "event");
  std::sort(lines.begin(), lines.end());
  Digest digest;
  for (const std::string& line : lines) digest.add(line);
  return fmt::format("{} lines,{}", lines.size(), digest.text());
}

class Transcript {
 public:
  explicit Transcript(bool cpu) : talk(backend(cpu), cpu ? "accelos" : "moving_shares", false) {}

  void call(const std::string& what, Writer& message) {
    const Status status = talk.call(message);
    std::string bytes;
    for (const std::byte b : talk.answer()) bytes += fmt::format("{:02x}", std::to_integer<int>(b));
    record.say(fmt::format("{}: {} {}", what, status, bytes));
  }
  template <typename... Parts>
  void call(const std::string& what, Op op, const Parts&... parts) {
    Writer message(op);
    (message.put(parts), ...);
    call(what, message);
  }
  template <typename... Parts>
  void command(const std::string& what, CommandType type, const Parts&... parts) {
    talk.queue_state(kEvent);
    Writer message(Op::command);
    message.put(CommandMessage{0, type, kEvent, 0, 0});
    (message.put(parts), ...);
    talk.post(message);
    record.say(fmt::format("{}: {}", what, talk.ended(kEvent)));
  }
  template <typename Body>
  void post(Op op, const Body& body) {
    Writer message(op);
    message.put(body);
    talk.post(message);
  }
  void program(std::uint64_t id, const std::string& text, ProgramOrigin origin = ProgramOrigin::source) {
    std::memcpy(talk.staging().data() + 4096, text.data(), text.size());
    call("program " + text, Op::create_program, CreateProgram{id, origin, 0, {0, 0, 4096, text.size()}});
  }
  void build(std::uint64_t id, std::uint32_t compile_only, const std::vector<std::uint64_t>& headers,
             const std::string& options) {
    Writer message(Op::build_program);
    message.put(BuildProgram{id, compile_only, static_cast<std::uint32_t>(headers.size())});
    for (const std::uint64_t header : headers) message.put(header);
    message.raw(options.c_str(), options.size() + 1);
    for (std::size_t i = 0; i < headers.size(); ++i) message.raw("h", 2);
    call(fmt::format("build {} {}", id, options), message);
  }
  void kernel(std::uint64_t id, std::uint64_t of, const std::string& name) {
    Writer message(Op::create_kernel);
    message.put(CreateKernel{id, of}).raw(name.c_str(), name.size() + 1);
    call(fmt::format("kernel {} {}", of, name), message);
  }

  OpenClRecord record{0};
  Conversation talk;

 private:
  std::unique_ptr<Backend> backend(bool cpu) {
    record.numbers = {{CL_IMAGE_ELEMENT_SIZE, 4}, {CL_IMAGE_HEIGHT, 5}, {CL_PROGRAM_BUILD_STATUS, 0}};
    record.numbers[CL_DEVICE_GLOBAL_MEM_SIZE] = record.numbers[CL_DEVICE_MAX_MEM_ALLOC_SIZE] = 128 << 20;
    if (cpu) return std::make_unique<OpenClCpu>(record.driver(true));
    return std::make_unique<OpenClGpu>(record.driver(false));
  }
};

void objects(Transcript& t) {
  for (const std::uint64_t name : {0x1010, 0x101f, 0x102b, 0x1000, 0x1001}) {
    t.call("device information", Op::device_info, Query{0, name});
  }
  t.call("formats", Op::image_formats, ImageFormats{1, 0x10f1});
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{65} << 20}) {
    t.call("buffer", Op::create_buffer, CreateBuffer{1, 4, size, 0, 0});
  }
  t.call("read-only buffer", Op::create_buffer, CreateBuffer{2, 2, 512, 0, 0});
  for (const auto& [origin, size] : {std::pair{0, 64}, {4095, 64}, {4096, 1}, {4000, 0}}) {
    t.call("part", Op::create_sub_buffer,
           CreateSubBuffer{static_cast<std::uint64_t>(10 + origin), 1, 4, static_cast<std::uint64_t>(origin),
                           static_cast<std::uint64_t>(size)});
  }
  for (const std::uint32_t type : {0x10f0U, 0x10f1U, 0x10f2U, 0x10f3U, 0x10f4U, 0x10f5U, 0x10f6U}) {
    for (const std::uint64_t buffer : {0, 1}) {
      CreateImage image{100 + type + buffer * 50, 1, buffer, 0x10b5, 0x10d2, type, 0, 6, 5, 3, 2, 0, 0};
      t.call("image", Op::create_image, image);
    }
  }
  for (const std::uint64_t name : {0x1111, 0x1118})
    t.call("image information", Op::image_info, Query{100 + 0x10f1, name});
  t.call("sampler", Op::create_sampler, CreateSampler{1, 1, 0x1130, 0x1140, 0});
  t.call("sampler again", Op::create_sampler, CreateSampler{1, 0, 0x1130, 0x1140, 0});
  t.call("unknown sampler", Op::create_sampler, CreateSampler{2, 0, 0x9999, 0x1140, 0});
  for (const std::uint64_t properties : {0, 1, 2, 3}) {
    t.call("queue", Op::create_queue, CreateQueue{1 + properties, properties});
  }
  const Session::Counts before = t.talk.session().counts();
  for (const ObjectKind kind : {ObjectKind::memory, ObjectKind::sampler, ObjectKind::queue}) {
    t.post(Op::release, Release{1, kind, 0});
    t.post(Op::release, Release{77, kind, 0});
  }
  t.call("after releases", Op::device_info, Query{0, 0x1000});
  const Session::Counts after = t.talk.session().counts();
  t.record.say(fmt::format("{} {} {}; {} {} {}", before.memories, before.queues, before.bytes, after.memories,
                           after.queues, after.bytes));
}

void programs(Transcript& t) {
  t.program(1, "kernel void k() {}");
  t.program(2, "kernel void k() { printf(); }");
  t.program(3, "bin", ProgramOrigin::binary);
  t.program(4, std::string(1, '\0'), ProgramOrigin::binary);
  t.program(1, "again");
  t.build(1, 0, {}, "-O2");
  t.build(2, 0, {}, "! fails");
  t.build(3, 0, {}, "");
  t.build(1, 1, {2}, "-Iheaders");
  t.build(1, 1, {2, 1}, "-Itwo");
  t.build(1, 1, {3}, "a binary is no header");
  t.build(1, 1, {99}, "unknown");
  for (const std::vector<std::uint64_t>& inputs : {std::vector<std::uint64_t>{}, {1}, {1, 2}, {1, 99}}) {
    Writer message(Op::link_program);
    message.put(LinkProgram{20 + inputs.size(), static_cast<std::uint32_t>(inputs.size()), 0});
    for (const std::uint64_t input : inputs) message.put(input);
    message.raw("-x", 3);
    t.call("link", message);
  }
  for (const std::uint64_t id : {1, 2, 3, 21, 22}) {
    for (const std::uint64_t name : {0x1160, 0x1161, 0x1163, 0x1165, 0x1166, 0x1167}) {
      t.call("program information", Op::program_info, Query{id, name});
    }
    for (const std::uint64_t name : {0x1181, 0x1182, 0x1183}) {
      t.call("build information", Op::program_build_info, Query{id, name});
    }
    t.kernel(id, id, "k");
    t.kernel(id + 50, id, "nosuch");
  }
  t.build(22, 0, {}, "a linked program whose binary was asked for");
  t.kernel(1, 1, "k");
  for (const std::uint64_t name : {0x1190, 0x1191, 0x1193, 0x1194})
    t.call("kernel information", Op::kernel_info, Query{1, name});
  for (const std::uint64_t id : {1, 3}) {
    for (const std::uint32_t index : {0U, 2U, 3U}) {
      t.call("parameter", Op::kernel_arg_info, KernelQuery{id, index, 0x1196});
      t.call("group", Op::kernel_group_info, KernelQuery{id, index, 0x11b0});
    }
  }
  for (const std::uint32_t index : {0U, 1U, 2U, 3U}) {
    for (const ArgumentKind kind : {ArgumentKind::value, ArgumentKind::local, ArgumentKind::no_memory}) {
      t.call("argument", Op::check_argument, CheckArgument{1, index, 0}, Argument{kind, 8}, std::uint64_t{7});
    }
  }
  for (const ObjectKind kind : {ObjectKind::program, ObjectKind::kernel}) t.post(Op::release, Release{1, kind, 0});
  t.call("after releases", Op::kernel_info, Query{1, 0x1190});
}

void commands(Transcript& t) {
  t.call("buffer", Op::create_buffer, CreateBuffer{1, 4, 4096, 0, 0});
  t.call("buffer", Op::create_buffer, CreateBuffer{2, 4, 4096, 0, 0});
  t.call("image", Op::create_image, CreateImage{3, 1, 0, 0x10b5, 0x10d2, 0x10f1, 0, 6, 5, 0, 0, 0, 0});
  const Chunk chunk{0, 0, 8192, 256};
  for (const std::uint64_t memory : {1, 9}) {
    t.command("read", CommandType::read, Transfer{memory, 16, chunk});
    t.command("write", CommandType::write, Transfer{memory, 32, chunk});
    t.command("large", CommandType::write, Transfer{memory, 0, {0, 0, 1 << 20, 64 << 10}});
    const RectTransfer rectangle{memory, {1, 2, 3}, {4, 3, 2}, 16, 64, chunk};
    t.command("read a rectangle", CommandType::read_rect, rectangle);
    t.command("write a rectangle", CommandType::write_rect, rectangle);
    t.command("copy", CommandType::copy, Copy{memory, 2, 8, 24, 40, {}, {}});
    t.command("copy back", CommandType::copy, Copy{2, memory, 8, 24, 40, {}, {}});
    t.command("copy a rectangle", CommandType::copy_rect,
              RectCopy{memory, 2, {1, 2, 3}, {4, 5, 6}, {7, 2, 1}, 16, 64, 32, 128});
    Fill fill{memory, 16, 64, {}, {}, 4, {1, 2, 3, 4}};
    t.command("fill", CommandType::fill, fill);
    fill.pattern_size = 128;
    fill.size = 256;
    t.command("fill with the longest pattern", CommandType::fill, fill);
  }
  for (const std::uint64_t image : {3, 1, 9}) {
    const RectTransfer part{image, {1, 2, 0}, {4, 2, 1}, 0, 0, {0, 0, 8192, 32}};
    t.command("read an image", CommandType::read_image, part);
    t.command("write an image", CommandType::write_image, part);
    t.command("copy an image", CommandType::copy_image,
              RectCopy{image, 3, {1, 0, 0}, {2, 0, 0}, {3, 1, 1}, 0, 0, 0, 0});
    t.command("to a buffer", CommandType::image_to_buffer, Copy{image, 1, 0, 48, 0, {1, 0, 0}, {3, 1, 1}});
    t.command("to an image", CommandType::buffer_to_image, Copy{1, image, 56, 0, 0, {2, 0, 0}, {3, 1, 1}});
    t.command("fill an image", CommandType::fill_image, Fill{image, 0, 0, {1, 1, 0}, {2, 2, 1}, 0, {9}});
  }
  t.command("marker", CommandType::marker);
  t.command("barrier", CommandType::barrier);
  // A command whose dependency has failed already fails too.
  t.talk.queue_state(kEvent);
  Writer failed(Op::command);
  failed.put(CommandMessage{0, CommandType::marker, kEvent, 0, 1});
  t.talk.post(failed);
  t.record.say(fmt::format("dependency failed: {}", t.talk.ended(kEvent)));
  // One that waits for a user event has the status of it.
  for (const Status status : {status::kComplete, Status{-14}}) {
    t.talk.queue_state(kEvent);
    t.talk.user_event(5);
    Writer waits(Op::command);
    waits.put(CommandMessage{0, CommandType::marker, kEvent, 1, 0}).put(EventId{5}).pad();
    t.talk.post(waits);
    t.post(Op::set_user_event, UserEvent{5, status});
    t.record.say(fmt::format("user event {}: {}", status, t.talk.ended(kEvent)));
  }
  t.talk.queue_state(kEvent);
  Writer access(Op::command);
  access.put(CommandMessage{0, CommandType::host_access, kEvent, 0, 0});
  t.talk.post(access);
  t.post(Op::host_access_done, UserEvent{kEvent, 0});
  t.record.say(fmt::format("host access: {}", t.talk.ended(kEvent)));
}

void launches(Transcript& t) {
  t.talk.make_kernel();
  t.call("sampler", Op::create_sampler, CreateSampler{7, 1, 0x1130, 0x1140, 0});
  struct Shape {
    std::uint32_t dimensions;
    std::array<std::uint64_t, 3> offset, global, local;
  };
  const Shape shapes[] = {
      {1, {}, {64, 0, 0}, {}},         {2, {1, 2, 0}, {64, 32, 0}, {8, 4, 0}}, {3, {0, 0, 5}, {8, 8, 8}, {4, 4, 4}},
      {2, {}, {64, 32, 0}, {8, 0, 0}}, {2, {}, {64, 32, 0}, {0, 4, 0}},        {1, {}, {512, 0, 0}, {257, 0, 0}}};
  const auto launch = [&](const Shape& shape, std::uint64_t kernel, std::uint32_t count, ArgumentKind first,
                          std::uint64_t object) {
    LaunchMessage m;
    m.kernel = kernel;
    m.dimensions = shape.dimensions;
    m.arguments = count;
    std::copy(shape.offset.begin(), shape.offset.end(), m.offset);
    std::copy(shape.global.begin(), shape.global.end(), m.global);
    std::copy(shape.local.begin(), shape.local.end(), m.local);
    t.talk.queue_state(kEvent);
    Writer message(Op::command);
    // The client waits for the start of each, so that one that is refused does not fail those behind it.
    message.put(CommandMessage{0, CommandType::launch, kEvent, 0, 0, 1}).put(m);
    if (count > 0) message.put(Argument{first, 8});
    if (count > 0 && first != ArgumentKind::local && first != ArgumentKind::no_memory) message.put(object);
    if (count > 1) message.put(Argument{ArgumentKind::value, 8}).put(std::uint64_t{7});
    if (count > 2) message.put(Argument{ArgumentKind::local, 64});
    t.talk.post(message);
    t.record.say(fmt::format("launch {} {} {}: {}", kernel, count, static_cast<int>(first), t.talk.ended(kEvent)));
  };
  for (const Shape& shape : shapes) launch(shape, 1, 3, ArgumentKind::memory, 1);
  for (const std::uint64_t object : {1, 7, 99}) {
    for (const ArgumentKind kind : {ArgumentKind::value, ArgumentKind::memory, ArgumentKind::no_memory,
                                    ArgumentKind::sampler, ArgumentKind::local}) {
      launch(shapes[1], 1, 3, kind, object);
    }
  }
  for (const std::uint32_t count : {0U, 1U, 2U}) launch(shapes[0], 1, count, ArgumentKind::memory, 1);
  launch(shapes[0], 99, 3, ArgumentKind::memory, 1);
}

struct SessionScenario {
  const char* name;
  void (*run)(Transcript&);

  friend void PrintTo(const SessionScenario& scenario, std::ostream* out) { *out << scenario.name; }
};
class SessionTranscript : public testing::TestWithParam<std::tuple<SessionScenario, bool>> {};

TEST_P(SessionTranscript, IsAsWrittenDown) {
  const auto& [scenario, cpu] = GetParam();
  Transcript transcript(cpu);
  scenario.run(transcript);
  EXPECT_EQ(transcript.talk.session().cut_off(), "");
  show(transcript.record.lines());
  expect_golden(fmt::format("session {} {}", cpu ? "cpu" : "gpu", scenario.name), digest_of(transcript.record.lines()));
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, SessionTranscript,
    testing::Combine(testing::Values(SessionScenario{"objects", objects}, SessionScenario{"programs", programs},
                                     SessionScenario{"commands", commands}, SessionScenario{"launches", launches}),
                     testing::Bool()),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "_cpu" : "_gpu");
    });

// A message with the fixed part of its kind and nothing behind it.
std::vector<std::byte> shortest(Op op, std::optional<CommandType> command) {
  const std::uint64_t zeros[64] = {};
  Writer message(op);
  if (command) {
    message.put(CommandMessage{0, *command, kEvent, 0, 0});
    if (*command == CommandType::launch) {
      LaunchMessage launch;
      launch.dimensions = 1;
      launch.global[0] = 1;
      message.put(launch);
    } else {
      message.raw(zeros, sizeof(Fill));
    }
  } else {
    message.raw(zeros, sizeof zeros);
  }
  const auto bytes = message.finish();
  return {bytes.begin(), bytes.end()};
}

TEST(SessionProtocol, AMessageThatIsCutShortEndsTheSession) {
  // The bytes that each kind of message has behind its header.
  const std::map<Op, std::size_t> sizes = {{Op::device_info, sizeof(Query)},
                                           {Op::image_formats, sizeof(ImageFormats)},
                                           {Op::create_buffer, sizeof(CreateBuffer)},
                                           {Op::create_sub_buffer, sizeof(CreateSubBuffer)},
                                           {Op::create_image, sizeof(CreateImage)},
                                           {Op::image_info, sizeof(Query)},
                                           {Op::create_sampler, sizeof(CreateSampler)},
                                           {Op::create_queue, sizeof(CreateQueue)},
                                           {Op::create_program, sizeof(CreateProgram)},
                                           {Op::build_program, sizeof(BuildProgram) + 1},
                                           {Op::link_program, sizeof(LinkProgram) + 1},
                                           {Op::program_info, sizeof(Query)},
                                           {Op::program_build_info, sizeof(Query)},
                                           {Op::create_kernel, sizeof(CreateKernel) + 1},
                                           {Op::kernel_info, sizeof(Query)},
                                           {Op::kernel_arg_info, sizeof(KernelQuery)},
                                           {Op::kernel_group_info, sizeof(KernelQuery)},
                                           {Op::check_argument, sizeof(CheckArgument) + sizeof(Argument)},
                                           {Op::release, sizeof(Release)},
                                           {Op::user_event, sizeof(UserEvent)},
                                           {Op::set_user_event, sizeof(UserEvent)},
                                           {Op::host_access_done, sizeof(UserEvent)}};
  const auto cut_off = [](std::vector<std::byte> bytes, std::size_t size) {
    bytes.resize(sizeof(MessageHeader) + padded(size));
    const auto all = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data() + offsetof(MessageHeader, size), &all, sizeof all);
    Conversation talk(null_backend(true), "accelos", false);
    talk.send(bytes);
    Writer next(Op::device_info);
    next.put(Query{0, 0x1000});
    talk.post_if_possible(next);
    Conversation::eventually([&] { return talk.session().finished() || talk.has_read_all(); });
    return talk.session().cut_off() != "";
  };
  for (const auto& [op, size] : sizes) {
    EXPECT_FALSE(cut_off(shortest(op, std::nullopt), size)) << static_cast<int>(op);
    EXPECT_TRUE(cut_off(shortest(op, std::nullopt), padded(size) - 8)) << static_cast<int>(op);
  }
  for (auto type = CommandType::read; type <= CommandType::launch;
       type = static_cast<CommandType>(static_cast<int>(type) + 1)) {
    EXPECT_TRUE(cut_off(shortest(Op::command, type), sizeof(CommandMessage) + 8)) << static_cast<int>(type);
  }
}

}  // namespace
}  // namespace wm::runtime::test

// The calls that the OpenCL backends make for a client's commands, written down, and what happens when one of them
// fails: the failure is reported and nothing leaks.
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>

#include "runtime/device/completion_flags.h"
#include "runtime/device/control_word_pool.h"
#include "runtime/device/opencl_cpu.h"
#include "runtime/device/opencl_gpu.h"
#include "runtime/device/recorded_opencl.h"
#include "runtime/schedule/golden_run.h"

namespace wm::runtime::test {
namespace {

class Steps {
 public:
  explicit Steps(OpenClRecord& of, bool cpu) : record(of), is_cpu(cpu) {
    if (cpu) {
      backend = std::make_unique<OpenClCpu>(of.driver(true));
    } else {
      backend = std::make_unique<OpenClGpu>(of.driver(false));
    }
    queue = made(backend->allocation().create_queue(true, true));
    buffer = made(backend->allocation().create_buffer({CL_MEM_READ_WRITE, 512, {}}));
    other = made(backend->allocation().create_buffer({CL_MEM_READ_ONLY, 256, {}}));
  }
  // The object, of which the status is written down.
  template <typename Handle>
  Handle made(const Made<Handle>& result) {
    record.say(fmt::format("status {} {}", result.status, result.object ? "made" : "none"));
    return result.object;
  }
  void status(Status s) { record.say(fmt::format("status {}", s)); }
  template <typename Work>
  void submit(const Work& work) {
    EventHandle event = nullptr;
    status(backend->submission().submit(*queue, work, &event));
    status(backend->submission().submit(*queue, work, nullptr));
    end(event);
  }
  void end(EventHandle event) {
    if (event == nullptr) return;
    Submission& s = backend->submission();
    status(s.state(event));
    const DeviceTimes all = s.times(event, true), some = s.times(event, false);
    record.say(fmt::format("{} {} {}", all.queued != 0, all.ended >= all.started, some.queued));
    s.release(event);
  }
  MemoryHandle image(std::uint32_t type, const MemoryHandle& of = nullptr) {
    ImageRequest request;
    request.flags = CL_MEM_READ_WRITE;
    request.channel_order = CL_RGBA;
    request.channel_type = CL_UNORM_INT8;
    request.object_type = type;
    request.width = 6;
    request.height = 5;
    request.depth = 3;
    request.array_size = 2;
    request.buffer = of;
    request.buffer_extent = of ? 512 : 0;
    request.bytes = 4UL * 6 * 5 * 3;
    return made(backend->allocation().create_image(request));
  }
  void info(Status s, const std::vector<std::byte>& answer) {
    record.say(fmt::format("status {} with {} bytes", s, answer.size()));
  }

  OpenClRecord& record;
  const bool is_cpu;
  std::unique_ptr<OpenClBackend> backend;
  QueueHandle queue;
  MemoryHandle buffer, other;
};

void memory(Steps& s) {
  Allocation& a = s.backend->allocation();
  for (const bool in_order : {false, true}) {
    for (const bool timed : {false, true}) s.made(a.create_queue(in_order, timed));
  }
  std::vector<std::byte> place(64);
  const MemoryHandle placed = s.made(a.create_buffer({CL_MEM_WRITE_ONLY, 64, place}));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, (std::size_t{1} << 20) + 1}) {
    s.made(a.create_buffer({0, bytes, {}}));
  }
  for (const MemoryHandle& parent : {s.buffer, placed}) {
    if (!parent) continue;
    const MemoryHandle part = s.made(a.create_sub_buffer(parent, CL_MEM_READ_ONLY, 16, 32));
    s.made(a.create_sub_buffer(parent, 0, 500, 100));
    if (part) s.record.say(static_cast<OpenClMemory&>(*part).address == place.data() + 16 ? "placed" : "anywhere");
  }
  for (const bool normalized : {false, true}) {
    for (const std::uint32_t mode : {0x1130U, 0x9999U}) s.made(a.create_sampler(normalized, mode, 0x1140));
  }
  if (!s.queue || !s.buffer) return;
  s.record.say(a.pin(*s.queue, place) ? "pinned" : "not pinned");
  a.wipe(*s.queue, *s.buffer);
  if (placed) a.wipe(*s.queue, *placed);
  const MemoryHandle odd = s.made(a.create_buffer({0, 100, {}}));
  if (odd) a.wipe(*s.queue, *odd);
}

// Images of every type, and those whose pitches do not fit.
void images(Steps& s) {
  Allocation& a = s.backend->allocation();
  s.record.numbers = {{CL_IMAGE_ELEMENT_SIZE, 4},
                      {CL_IMAGE_WIDTH, 6},
                      {CL_IMAGE_HEIGHT, 5},
                      {CL_IMAGE_DEPTH, 3},
                      {CL_IMAGE_ARRAY_SIZE, 4}};
  for (const std::uint32_t type : {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                   CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D}) {
    s.record.numbers[CL_MEM_TYPE] = type;
    const MemoryHandle own = s.image(type), shown = s.buffer ? s.image(type, s.buffer) : nullptr;
    if (!own || !s.queue) continue;
    a.wipe(*s.queue, *own);
    std::vector<std::byte> answer;
    s.info(a.image_info(*own, CL_IMAGE_WIDTH, answer), answer);
    s.info(a.image_formats(CL_MEM_READ_ONLY, type, answer), answer);
    s.record.say(fmt::format("{} bytes", a.element_bytes(*own)));
  }
  struct Pitches {
    std::uint32_t type;
    std::size_t row, slice, extent, height;
  };
  for (const Pitches& p :
       {Pitches{CL_MEM_OBJECT_IMAGE2D, 24, 0, 120, 5}, Pitches{CL_MEM_OBJECT_IMAGE2D, 24, 10, 120, 5},
        Pitches{CL_MEM_OBJECT_IMAGE1D, 24, 10, 120, 5}, Pitches{CL_MEM_OBJECT_IMAGE2D, 24, 0, 119, 5},
        Pitches{CL_MEM_OBJECT_IMAGE2D, 23, 0, 512, 5}, Pitches{CL_MEM_OBJECT_IMAGE2D, 32, 0, 152, 5},
        Pitches{CL_MEM_OBJECT_IMAGE2D, 32, 0, 151, 5}, Pitches{CL_MEM_OBJECT_IMAGE2D, 0, 0, 120, 5},
        Pitches{CL_MEM_OBJECT_IMAGE3D, 24, 120, 512, 5}, Pitches{CL_MEM_OBJECT_IMAGE3D, 24, 119, 512, 5},
        Pitches{CL_MEM_OBJECT_IMAGE2D_ARRAY, 24, 119, 512, 5}, Pitches{CL_MEM_OBJECT_IMAGE1D_ARRAY, 24, 24, 512, 5},
        Pitches{CL_MEM_OBJECT_IMAGE1D_ARRAY, 24, 23, 512, 5}, Pitches{CL_MEM_OBJECT_IMAGE1D_BUFFER, 0, 0, 24, 1},
        Pitches{CL_MEM_OBJECT_IMAGE1D_BUFFER, 0, 0, 23, 1}, Pitches{CL_MEM_OBJECT_IMAGE1D_BUFFER, 0, 0, 0, 1}}) {
    ImageRequest request;
    request.object_type = p.type;
    request.width = 6;
    request.height = p.height;
    request.depth = request.array_size = 2;
    request.row_pitch = p.row;
    request.slice_pitch = p.slice;
    request.buffer = s.buffer;
    request.buffer_extent = p.extent;
    request.bytes = std::size_t{2} << 20;
    s.made(a.create_image(request));
    request.buffer = nullptr;
    s.made(a.create_image(request));
  }
}

void commands(Steps& s) {
  if (!s.queue || !s.buffer || !s.other) return;
  std::vector<std::byte> bytes(128);
  for (const bool to_device : {true, false}) {
    for (const bool blocking : {true, false}) s.submit(BufferTransfer{to_device, s.buffer, 8, bytes, blocking});
    s.submit(RectBufferTransfer{to_device, s.buffer, {1, 2, 3}, {4, 5, 6}, 7, 70, bytes});
  }
  s.submit(BufferCopy{s.buffer, s.other, 4, 8, 16});
  const RectBufferCopy rectangle{s.buffer, s.other, {1, 2, 3}, {4, 5, 6}, {2, 3, 4}, 8, 64, 9, 72};
  s.submit(rectangle);
  s.record.numbers[CL_MEM_OFFSET] = 16;
  const MemoryHandle part = s.made(s.backend->allocation().create_sub_buffer(s.buffer, 0, 16, 64));
  RectBufferCopy of_part = rectangle;
  of_part.to = part;
  if (part) s.submit(of_part);
  s.submit(BufferFill{s.buffer, std::span<const std::byte>(bytes).first(4), 8, 32});
  EventHandle marker = nullptr;
  s.status(s.backend->submission().submit_marker(*s.queue, &marker));
  s.end(marker);
  s.backend->submission().flush(*s.queue);
  s.backend->submission().finish(*s.queue);
}

void image_commands(Steps& s) {
  s.record.numbers = {{CL_IMAGE_ELEMENT_SIZE, 4}, {CL_IMAGE_HEIGHT, 5}};
  std::vector<std::byte> bytes(256);
  if (!s.queue || !s.buffer || !s.other) return;
  const MemoryHandle plain = s.image(CL_MEM_OBJECT_IMAGE2D), more = s.image(CL_MEM_OBJECT_IMAGE2D);
  const MemoryHandle shown = s.image(CL_MEM_OBJECT_IMAGE1D_BUFFER, s.buffer);
  const MemoryHandle second = s.image(CL_MEM_OBJECT_IMAGE1D_BUFFER, s.other);
  if (!plain || !more || !shown || !second) return;
  for (const bool to_device : {true, false}) {
    s.submit(ImageTransfer{to_device, plain, {1, 2, 0}, {3, 2, 1}, bytes});
  }
  // An image that shows a buffer is as high as its buffer is said to be: only one of no height is a row of it.
  for (const std::uint64_t height : {0, 5}) {
    s.record.numbers[CL_IMAGE_HEIGHT] = height;
    for (const MemoryHandle& from : {plain, shown}) {
      for (const MemoryHandle& to : {more, second}) s.submit(ImageCopy{from, to, {1, 0, 0}, {2, 0, 0}, {3, 1, 1}});
      s.submit(ImageToBufferCopy{from, s.other, {1, 0, 0}, {3, 1, 1}, 20});
      s.submit(BufferToImageCopy{s.other, from, 24, {2, 0, 0}, {3, 1, 1}});
      s.submit(ImageFill{from, std::span<const std::byte>(bytes).first(16), {1, 0, 0}, {3, 1, 1}});
    }
  }
}

void programs(Steps& s) {
  Compilation& c = s.backend->compilation();
  const ProgramHandle program = s.made(c.program_from_source("kernel void k() {}"));
  s.made(c.program_from_binary("bin"));
  s.made(c.program_from_binary(std::string_view("\0", 1)));
  if (!program) return;
  for (const char* options : {"-O2", "!", "! -cl-kernel-arg-info -g -cl-kernel-arg-info"}) {
    s.status(c.build(*program, options));
  }
  for (const std::uint64_t state : {0U, 0xfffffffeU, 0xffffffffU}) {
    s.record.numbers[CL_PROGRAM_BUILD_STATUS] = state;
    s.record.say(c.build_failed(*program) ? "failed" : "did not fail");
  }
  for (const std::uint64_t type : {0, 1, 2, 4, 9}) {
    s.record.numbers[CL_PROGRAM_BINARY_TYPE] = type;
    s.record.say(fmt::format("type {}", static_cast<int>(c.binary_type(*program))));
  }
  const Compilation::Header headers[] = {{"a.h", program}, {"b.h", program}};
  s.status(c.compile(*program, "-g", headers));
  s.status(c.compile(*program, "-g", {}));
  const ProgramHandle inputs[] = {program, program};
  s.made(c.link(inputs, "-x"));
  s.made(c.link({}, "-x"));
  std::string binary;
  s.status(c.binary(*program, binary));
  s.record.texts[CL_PROGRAM_KERNEL_NAMES] = "k;l";
  // Calls have statements of their own here and below: arguments are evaluated in any order, and calls are recorded.
  const std::string log = c.build_log(*program);
  const std::string names = c.kernel_names(*program).value_or("none");
  s.record.say(fmt::format("{} {} {}", binary, log.c_str(), names.c_str()));
  std::vector<std::byte> answer;
  s.info(c.program_info(*program, 0x1161, answer), answer);
  s.info(c.build_info(*program, 0x1182, answer), answer);
  s.made(c.create_kernel(*program, "nosuch"));
  const KernelHandle kernel = s.made(c.create_kernel(*program, "k"));
  if (!kernel) return;
  for (const char* type : {"uint*", "image2d_t", "image", "sampler_t"}) {
    s.record.texts[CL_KERNEL_ARG_TYPE_NAME] = type;
    const KernelInfo info = c.properties(*kernel);
    std::string kinds;
    for (const ParameterKind kind : info.parameters) kinds += std::to_string(static_cast<int>(kind));
    s.record.say(fmt::format("{} items {} bytes, kinds {}", info.max_items, info.local_bytes, kinds));
  }
  s.record.numbers[CL_KERNEL_ARG_ADDRESS_QUALIFIER] = CL_KERNEL_ARG_ADDRESS_CONSTANT;
  s.record.texts.clear();
  for (const ParameterKind kind : c.properties(*kernel).parameters)
    s.record.say(std::to_string(static_cast<int>(kind)));
  s.info(c.kernel_info(*kernel, CL_KERNEL_NUM_ARGS, answer), answer);
  s.info(c.argument_info(*kernel, 1, CL_KERNEL_ARG_NAME, answer), answer);
  s.info(c.argument_info(*kernel, 3, CL_KERNEL_ARG_NAME, answer), answer);
  s.info(c.group_info(*kernel, CL_KERNEL_WORK_GROUP_SIZE, answer), answer);
}

void launches(Steps& s) {
  Compilation& c = s.backend->compilation();
  const ProgramHandle program = s.made(c.program_from_source("kernel void k() {}"));
  const KernelHandle kernel = program ? s.made(c.create_kernel(*program, "k")) : nullptr;
  const SamplerHandle sampler = s.made(s.backend->allocation().create_sampler(true, 0x1130, 0x1140));
  if (!kernel || !sampler || !s.queue || !s.buffer) return;
  Submission& on = s.backend->submission();
  const std::uint64_t number = 7;
  const KernelArgument arguments[] = {{ArgumentKind::memory, 8, nullptr, s.buffer.get(), nullptr},
                                      {ArgumentKind::value, 8, &number, nullptr, nullptr},
                                      {ArgumentKind::local, 64, nullptr, nullptr, nullptr}};
  for (const std::uint32_t index : {0U, 1U, 2U}) s.status(on.check_argument(*kernel, index, arguments[index]));
  s.status(on.check_argument(*kernel, 0, {ArgumentKind::no_memory, 8, nullptr, nullptr, nullptr}));
  s.status(on.check_argument(*kernel, 2, {ArgumentKind::sampler, 8, nullptr, nullptr, sampler.get()}));
  s.status(on.check_argument(*kernel, 3, arguments[0]));
  KernelLaunch launch;
  launch.kernel = kernel.get();
  launch.arguments = arguments;
  launch.dimensions = 2;
  launch.offset = {1, 2, 3};
  launch.global = {64, 32, 1};
  for (const std::optional<Size3> local : {std::optional<Size3>{}, {Size3{8, 4, 1}}, {Size3{257, 1, 1}}}) {
    launch.local = local;
    EventHandle event = nullptr, second = nullptr;
    s.status(on.launch(*s.queue, launch, &event));
    s.status(on.launch(*s.queue, launch, nullptr));
    if (event != nullptr) {
      KernelLaunch after = launch;
      after.after = std::span(&event, 1);
      s.status(on.launch(*s.queue, after, &second));
      struct Called : Submission::CompletionCallback {
        Status status = 77;
      } called;
      called.completed = [](Submission::CompletionCallback& of, EventHandle, Status status) {
        static_cast<Called&>(of).status = status;
      };
      on.call_when_complete(event, called);
      s.status(called.status);
    }
    s.end(event);
    s.end(second);
  }
}

void words(Steps& s) {
  const auto pool = s.backend->make_control_words();
  std::vector<std::shared_ptr<ControlWord>> taken;
  for (const auto kind : {ControlWordPool::Kind::queue, ControlWordPool::Kind::control}) {
    for (int i = 0; i < 65; ++i) taken.push_back(pool->take(kind));
    for (const std::size_t i : {std::size_t{0}, taken.size() - 1}) {
      if (!taken[i]) continue;
      const auto value = taken[i]->get();
      s.record.say(fmt::format("{} {}", value, taken[i]->ready_event() == nullptr));
      s.status(taken[i]->set(5));
      s.record.say(std::to_string(taken[i]->get()));
    }
    taken.clear();
    const auto again = pool->take(kind);
    s.record.say(again ? fmt::format("{}", again->get()) : "none");
  }
}

void flags(Steps& s) {
  const auto all = s.backend->make_completion_flags();
  if (!all || !s.queue) return;
  const auto first = all->enqueue(*s.queue, nullptr), second = all->enqueue(*s.queue, nullptr);
  if (!first || !second) return;
  s.record.say(fmt::format("{} {} {} {}", first->place, first->number, second->place, second->number));
  s.record.say(all->is_set(*first) ? "set" : "not set");
  s.record.say(all->is_set({first->place, first->number + 1}) ? "set" : "not set");
  all->release(*first);
  all->release({second->place, second->number + 1});  // it is still to be set
  int found = 0;
  for (int i = 0; i < 1030; ++i) found += all->enqueue(*s.queue, nullptr).has_value() ? 1 : 0;
  s.record.say(fmt::format("{} more", found));
}

void device(Steps& s) {
  s.backend->probe_compiler();
  s.record.say(s.backend->is_alive() ? "alive" : "not alive");
  const Capabilities& c = s.backend->capabilities();
  s.record.say(fmt::format("{}{}{}{}{}{}{}{}{}{}{}{}{}", c.buffers_in_host_memory, c.completion_callbacks,
                           c.free_timestamps, c.costly_events, c.single_worker_batches, c.queues_excess_groups,
                           c.transfers_occupy_compute_units, c.prefers_blocking_transfers, c.release_waits_for_kernels,
                           c.printf_needs_finish, c.always_argument_info, c.reports_registers, c.compiles_at_launch));
  s.record.numbers[CL_DEVICE_GLOBAL_MEM_SIZE] = 12345;
  s.record.texts[CL_DRIVER_VERSION] = "1.2";
  s.record.texts[CL_DEVICE_VERSION] = "OpenCL 3.0";
  const std::string version = s.backend->driver_version();
  const auto memory = s.backend->memory_bytes();
  s.record.say(fmt::format("{} {} {}", version, memory, s.backend->device_name()));
  std::vector<std::byte> answer;
  s.info(s.backend->device_info(CL_DEVICE_NAME, answer), answer);
  constexpr std::pair<std::uint64_t, std::uint64_t> kVersions[] = {{0, 0}, {6, 1}, {7, 0}, {7, 5}, {8, 0},
                                                                   {8, 6}, {8, 9}, {9, 0}, {10, 0}};
  for (const auto& [major, minor] : kVersions) {
    s.record.numbers[0x4000] = major;
    s.record.numbers[0x4001] = minor;
    const gpu::SmLimits l = s.backend->limits();
    s.record.say(fmt::format("{} {} {} {}; {} {} {}; {}", l.total.threads, l.total.registers, l.total.shared_bytes,
                             l.total.blocks, l.warp_threads, l.register_unit, l.shared_unit,
                             s.backend->reserved_local_bytes()));
  }
}

struct Scenario {
  const char* name;
  void (*run)(Steps&);

  friend void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }
};
class OpenClCalls : public testing::TestWithParam<std::tuple<Scenario, bool>> {};

TEST_P(OpenClCalls, AreAsWrittenDownAlsoWhenOneFails) {
  const auto& [scenario, cpu] = GetParam();
  Digest digest;
  int calls = 1;
  for (int failing = 0; failing <= calls; failing += calls > 300 ? 17 : 1) {  // many calls of one kind
    OpenClRecord record(failing);
    {
      Steps steps(record, cpu);
      scenario.run(steps);
    }
    if (failing == 0) calls = record.count(), show(record.lines());
    EXPECT_EQ(record.leaked(), std::vector<std::string>()) << "call " << failing << " fails";
    for (const std::string& line : record.lines()) digest.add(line);
  }
  expect_golden(fmt::format("opencl {} {}", cpu ? "cpu" : "gpu", scenario.name),
                fmt::format("{} calls,{}", calls, digest.text()));
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, OpenClCalls,
    testing::Combine(testing::Values(Scenario{"memory", memory}, Scenario{"images", images},
                                     Scenario{"commands", commands}, Scenario{"image_commands", image_commands},
                                     Scenario{"programs", programs}, Scenario{"launches", launches},
                                     Scenario{"words", words}, Scenario{"flags", flags}, Scenario{"device", device}),
                     testing::Bool()),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "_cpu" : "_gpu");
    });

}  // namespace
}  // namespace wm::runtime::test

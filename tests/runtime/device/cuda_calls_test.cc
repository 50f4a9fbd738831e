// The calls that the CUDA backend makes for a client's commands, written down, and what happens when one of them fails:
// the failure is reported, nothing leaks, and every call also works on a thread that has not used the device before.
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

#include "rewrite/ptx/persistent.h"
#include "runtime/device/cuda/backend.h"
#include "runtime/device/ptx_front_end.h"
#include "runtime/device/recorded_cuda.h"
#include "runtime/device/worker_tables.h"
#include "runtime/schedule/golden_run.h"

namespace wm::runtime::cuda {
namespace {

using runtime::test::Digest;

// A backend on the recorded driver. Every step may run on a thread of its own.
class Steps {
 public:
  Steps(RecordedCuda& driver, bool on_threads) : driver(driver), on_threads_(on_threads) {}

  // `work` returns what the record says about it.
  void step(const std::string& what, const std::function<std::string()>& work) {
    std::string outcome;
    if (on_threads_) {
      std::thread([&] { outcome = work(); }).join();
    } else {
      outcome = work();
    }
    driver.say(what + ": " + outcome);
  }
  void status(const std::string& what, const std::function<Status()>& work) {
    step(what, [&] { return std::to_string(work()); });
  }
  // The command, with an event that is asked, read and released.
  void command(const std::string& what, const std::function<Status(EventHandle*)>& submit) {
    EventHandle event = nullptr;
    status(what, [&] { return submit(&event); });
    if (event == nullptr) return;
    Submission& s = backend->submission();
    status("state", [&] { return s.state(event); });
    step("times", [&] {
      const DeviceTimes t = s.times(event, true), short_times = s.times(event, false);
      return fmt::format("{} {} {} {}", t.queued != 0, t.started >= t.queued, t.ended >= t.started, short_times.queued);
    });
    step("release", [&] { return s.release(event), ""; });
  }

  // False: the device does not open.
  bool open() {
    step("open", [&] {
      auto device = Device::open(driver.calls());
      if (!device) return device.error().what;
      backend = std::make_unique<CudaBackend>(std::move(*device), std::make_unique<PtxFrontEnd>());
      return std::string("open");
    });
    return backend != nullptr;
  }
  void close() {
    step("close", [&] { return queue.reset(), memory.clear(), kernel.reset(), program.reset(), backend.reset(), ""; });
  }
  void make_queue(bool timed) {
    step("queue", [&] {
      auto made = backend->allocation().create_queue(true, timed);
      queue = made.object;
      return std::to_string(made.status);
    });
  }
  void make_buffer(std::size_t bytes) {
    step("buffer", [&] {
      auto made = backend->allocation().create_buffer({0, bytes, {}});
      if (made.object) memory.push_back(made.object);
      return std::to_string(made.status);
    });
  }
  void make_kernel(const char* parameters, const std::string& body) {
    step("program", [&] {
      backend->make_workers();
      Compilation& compiler = backend->compilation();
      program = compiler.program_from_source(opencl_ptx(ptx_kernel("k", parameters, body))).object;
      const Status built = compiler.build(*program, "");
      const bool failed = compiler.build_failed(*program);
      return fmt::format("{} {} {}", built, failed, compiler.build_log(*program).c_str());
    });
    step("kernel", [&] {
      auto made = backend->compilation().create_kernel(*program, "k");
      kernel = made.object;
      return std::to_string(made.status);
    });
  }

  RecordedCuda& driver;
  std::unique_ptr<CudaBackend> backend;
  QueueHandle queue;
  std::vector<MemoryHandle> memory;
  ProgramHandle program;
  KernelHandle kernel;

 private:
  const bool on_threads_;
};

// A kernel with a loop, parameters of every kind, and the environment of its launch.
constexpr const char* kParameters =
    ".param .u64 .ptr .global .align 4 out, .param .u64 .ptr .shared .align 32 scratch, .param .u32 factor, "
    ".param .u64 wide";
constexpr const char* kLoop = R"(
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [scratch]; ld.param.u32 %r3, [factor]; ld.param.u64 %d3, [wide];
mov.b32 %r4, %envreg3; mov.u32 %r1, 0; st.shared.u32 [%d2], %r3;
again: add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra again; st.global.u32 [%d1], %r4; ret;)";

void transfers(Steps& s) {
  s.make_queue(true);
  s.make_buffer(256);
  s.make_buffer(0);
  s.make_buffer(128);
  if (!s.queue || s.memory.size() < 3) return;
  Submission& on = s.backend->submission();
  const QueueObject& q = *s.queue;
  const MemoryHandle a = s.memory[0], b = s.memory[2];
  std::vector<std::byte> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const auto with = [&](const auto& work) { return [&, work](EventHandle* e) { return on.submit(q, work, e); }; };
  const auto without = [&](const auto& work) { return [&, work] { return on.submit(q, work, nullptr); }; };
  for (const bool to_device : {true, false}) {
    for (const bool blocking : {false, true}) {
      const BufferTransfer t{to_device, a, 8, std::span(bytes).first(40), blocking};
      s.command("transfer", with(t));
      s.status("transfer without an event", without(t));
    }
    const RectBufferTransfer rect{to_device, a, {3, 1, 1}, {4, 3, 2}, 8, 40, std::span(bytes).first(24)};
    const RectBufferTransfer dense{to_device, a, {}, {4, 3, 2}, 0, 0, std::span(bytes).first(24)};
    s.command("rectangle", with(rect));
    s.status("dense rectangle", without(dense));
  }
  MemoryHandle pinned;
  s.step("pin", [&] { return pinned = s.backend->allocation().pin(q, bytes), pinned ? "pinned" : "not pinned"; });
  s.command("from pinned memory", with(BufferTransfer{true, a, 0, std::span(bytes).subspan(4, 60), false}));
  s.step("unpin", [&] { return pinned.reset(), ""; });
  s.command("copy", with(BufferCopy{a, b, 16, 8, 32}));
  s.command("copy of a rectangle", with(RectBufferCopy{a, b, {1, 2, 0}, {2, 0, 1}, {3, 3, 2}, 8, 48, 6, 30}));
  s.status("copy of a dense rectangle", without(RectBufferCopy{a, b, {}, {}, {3, 4, 2}, 0, 0, 0, 0}));
  for (const std::size_t size : {1, 2, 4, 8, 16}) {
    s.command("fill", with(BufferFill{a, std::span<const std::byte>(bytes).subspan(1, size), 16, 2 * size}));
  }
  s.command("marker", [&](EventHandle* e) { return on.submit_marker(q, e); });
  s.step("finish", [&] { return on.finish(q), on.flush(q), ""; });
  s.step("wipe", [&] { return s.backend->allocation().wipe(q, *b), ""; });
  for (const auto& [origin, size] : {std::pair{64, 32}, {250, 6}, {250, 7}, {257, 0}, {256, 0}}) {
    s.step("part", [&] {
      const auto part = s.backend->allocation().create_sub_buffer(a, 0, static_cast<std::size_t>(origin),
                                                                  static_cast<std::size_t>(size));
      if (!part.object) return fmt::format("{}", part.status);
      return fmt::format("{} at {} of {}", part.status, of(*part.object).address - of(*a).address,
                         of(*part.object).bytes);
    });
  }
  EventHandle event = nullptr;
  s.status("marker", [&] { return on.submit_marker(q, &event); });
  if (event == nullptr) return;
  struct Called : Submission::CompletionCallback {
    Status status = 77;
  } called;
  called.completed = [](Submission::CompletionCallback& c, EventHandle, Status status) {
    static_cast<Called&>(c).status = status;
  };
  s.status("call when complete", [&] { return on.call_when_complete(event, called), called.status; });
  s.step("release", [&] { return on.release(event), ""; });
}

void launches(Steps& s) {
  s.make_queue(false);
  s.make_buffer(256);
  s.make_kernel(kParameters, kLoop);
  if (!s.queue || s.memory.empty() || !s.kernel) return;
  Submission& on = s.backend->submission();
  const std::uint32_t factor = 100;
  const std::uint64_t wide = 7;
  KernelArgument arguments[] = {{ArgumentKind::memory, 8, nullptr, s.memory[0].get(), nullptr},
                                {ArgumentKind::local, 40, nullptr, nullptr, nullptr},
                                {ArgumentKind::value, 4, &factor, nullptr, nullptr},
                                {ArgumentKind::value, 8, &wide, nullptr, nullptr}};
  for (std::uint32_t index = 0; index < 5; ++index) {
    for (const ArgumentKind kind : {ArgumentKind::value, ArgumentKind::memory, ArgumentKind::no_memory,
                                    ArgumentKind::sampler, ArgumentKind::local}) {
      for (const std::size_t size : {4U, 8U}) {
        s.status("argument", [&] {
          return on.check_argument(*s.kernel, index, {kind, size, nullptr, nullptr, nullptr});
        });
      }
    }
  }
  s.driver.fake().on_launch = [&](const std::string& name, void** parameters) {
    std::string line = name + " with";
    std::uint64_t words[2] = {};
    for (int i = 0; i < 2; ++i) std::memcpy(&words[i], parameters[i], 8);
    line += fmt::format(" {} {}", s.driver.name(reinterpret_cast<void*>(words[0])), words[1]);
    std::uint32_t environment[10] = {};
    std::memcpy(environment, parameters[4], sizeof environment);
    for (const std::uint32_t word : environment) line += fmt::format(" {}", word);
    std::uint64_t address = 0;
    if (name != "k") std::memcpy(&address, parameters[5], 8);
    line += " " + s.driver.name(reinterpret_cast<void*>(address));
    if (name.starts_with("wm_workers_")) {
      rewrite::PersistentGrid g;
      std::memcpy(&g, parameters[6], sizeof g);
      line += fmt::format(" {}x{}x{} {} {} {} {} {} {} {}", g.x, g.y, g.z, g.chunk, g.total, g.beside,
                          s.driver.name(reinterpret_cast<void*>(g.queue)), g.complete != 0,
                          s.driver.name(reinterpret_cast<void*>(g.before)), g.before_total);
    }
    s.driver.say(line);
  };
  const auto launch = [&](const std::string& what, const std::function<void(KernelLaunch&)>& change) {
    KernelLaunch l;
    l.kernel = s.kernel.get();
    l.arguments = arguments;
    l.offset = {1, 2, 3};
    l.dimensions = 3;
    l.global = {24, 6, 4};
    l.local = Size3{8, 2, 1};
    change(l);
    s.command(what, [&](EventHandle* e) { return on.launch(*s.queue, l, e); });
    s.status(what, [&] { return on.launch(*s.queue, l, nullptr); });
  };
  launch("plain", [](KernelLaunch&) {});
  launch("without a group size", [](KernelLaunch& l) { l.local.reset(), l.global = {600, 1, 1}, l.dimensions = 1; });
  launch("without a divisor", [](KernelLaunch& l) { l.local.reset(), l.global = {601, 1, 1}, l.dimensions = 1; });
  launch("of two items", [](KernelLaunch& l) { l.local.reset(), l.global = {2, 1, 1}, l.dimensions = 1; });
  launch("rows", [](KernelLaunch& l) { l.local.reset(), l.global = {4, 6, 1}, l.dimensions = 2; });
  arguments[0].kind = ArgumentKind::no_memory;
  launch("no memory", [](KernelLaunch&) {});
  arguments[0].kind = ArgumentKind::memory;
  launch("two dimensions", [](KernelLaunch& l) { l.dimensions = 2; });
  launch("deep groups", [](KernelLaunch& l) {
    l.global = {24, 6, 12};
    l.local = Size3{8, 2, 4};
    l.sharing.unit_share = 0.5;
  });
  launch("no arguments", [](KernelLaunch& l) { l.arguments = {}; });
  for (const std::size_t bytes : {(227U << 10) - 2048U, (227U << 10) - 2047U}) {
    arguments[1].size = bytes;
    launch("all local memory", [](KernelLaunch&) {});
    launch("all local memory, shared", [](KernelLaunch& l) { l.sharing.unit_share = 0.5; });
  }
  arguments[1].size = 40;
  for (const int fit : {0, 1, 2}) {
    s.driver.fake().fit = fit;
    launch("few fit", [](KernelLaunch& l) { l.sharing.unit_share = 0.5; });
  }
  s.driver.fake().fit = 8;
  launch("a group of no items", [](KernelLaunch& l) { l.local = Size3{8, 0, 1}; });
  launch("uneven groups", [](KernelLaunch& l) { l.local = Size3{8, 4, 1}; });
  launch("1024 items", [](KernelLaunch& l) { l.global = l.local.emplace(Size3{256, 4, 1}); });
  launch("1028 items", [](KernelLaunch& l) { l.global = l.local.emplace(Size3{257, 4, 1}); });
  launch("most groups", [](KernelLaunch& l) { l.global = {8, 2, 0xffff}; });
  launch("too many groups", [](KernelLaunch& l) { l.global = {8, 2, 0x10000}; });
  for (const double share : {0.1, 0.5, 0.9, 1.0}) {
    launch("share", [&](KernelLaunch& l) { l.sharing.unit_share = share; });
  }
  for (const std::uint32_t groups : {1U, 7U, 8U}) {
    launch("limit", [&](KernelLaunch& l) { l.sharing.max_groups_per_unit = groups; });
  }
  for (const int priority : {0, 1, 2, -1, 9})
    launch("priority", [&](KernelLaunch& l) { l.sharing.priority = priority; });
  launch("yields", [](KernelLaunch& l) { l.sharing.yields = true; });
  launch("yields and shares", [](KernelLaunch& l) { l.sharing = {.unit_share = 0.4, .yields = true}; });
  launch("holds gates", [](KernelLaunch& l) { l.sharing.holds_gates = true; });
  const auto tables = s.backend->make_worker_tables();
  const auto table = tables->take();
  const auto first = tables->take_counters(), second = tables->take_counters();
  if (table && first && second) {
    const WorkerLaunch workers{.table = &table->memory(), .counters = first.get(), .workers = 5, .chunk = 2};
    launch("workers", [&](KernelLaunch& l) { l.workers = workers; });
    WorkerLaunch behind{.table = &table->memory(), .counters = second.get(), .workers = 3, .beside_queue = true};
    behind.before = first.get();
    behind.groups_before = 36;
    launch("workers behind others", [&](KernelLaunch& l) { l.workers = behind; });
    EventHandle event = nullptr;
    s.status("marker", [&] { return on.submit_marker(*s.queue, &event); });
    if (event != nullptr) {
      launch("after a marker", [&](KernelLaunch& l) { l.after = std::span(&event, 1); });
      s.step("release", [&] { return on.release(event), ""; });
    }
  }
  s.step("information", [&] {
    const KernelInfo info = s.backend->compilation().properties(*s.kernel);
    std::string kinds;
    for (const ParameterKind kind : info.parameters) kinds += std::to_string(static_cast<int>(kind));
    return fmt::format("{} items {} bytes {} kinds; workers {} {} {} {} {} {}", info.max_items, info.local_bytes, kinds,
                       info.workers->refusal, info.workers->chunk, info.workers->max_chunk, info.workers->registers,
                       info.workers->local_bytes, info.workers->max_items);
  });
}

void words(Steps& s) {
  std::unique_ptr<ControlWordPool> pool;
  s.step("pool", [&] { return pool = s.backend->make_control_words(), ""; });
  std::vector<std::shared_ptr<ControlWord>> taken;
  for (const int count : {1, 64}) {
    for (int i = 0; i < count; ++i) {
      s.step("take", [&] {
        taken.push_back(pool->take(i == 0 ? ControlWordPool::Kind::queue : ControlWordPool::Kind::control));
        return taken.back() ? fmt::format("{}", taken.back()->get()) : "none";
      });
    }
  }
  if (taken[0]) s.status("set", [&] { return taken[0]->set(5); });
  s.step("give back", [&] { return taken.clear(), ""; });
  s.step("take again", [&] { return pool->take(ControlWordPool::Kind::queue) ? "taken" : "none"; });
  s.step("destroy", [&] { return pool.reset(), ""; });
}

void tables(Steps& s) {
  std::unique_ptr<WorkerTables> all;
  s.step("tables", [&] { return all = s.backend->make_worker_tables(), ""; });
  std::shared_ptr<WorkerTable> table, other;
  std::shared_ptr<LaunchCounters> counters;
  s.step("table", [&] { return table = all->take(), table ? "taken" : "none"; });
  s.step("counters", [&] { return counters = all->take_counters(), counters ? "taken" : "none"; });
  if (table && counters) {
    const std::vector<std::uint32_t> limits{4, 3, 2, 1}, quotas{0, 7, 0, 9};
    s.status("begin", [&] { return table->begin({limits, quotas}); });
    s.step("ready", [&] { return table->ready_event() == nullptr ? "written" : "not yet"; });
    s.status("change", [&] { return table->change({quotas, limits}); });
    s.step("not yet ready", [&] {
      s.driver.fake().complete = false;
      const bool waits = table->ready_event() != nullptr;
      s.driver.fake().finish();
      return waits ? "not yet" : "written";
    });
    WorkerTable::Counts counts;
    s.step("not asked", [&] { return table->answered(counts) ? "answered" : "no answer"; });
    s.step("ask", [&] { return table->ask(*counters), table->ask(*counters), ""; });
    s.step("answered", [&] {
      if (!table->answered(counts)) return std::string("no answer");
      return fmt::format("{} {} {} {} {} {}", counts.workers.size(), counts.groups.size(), counts.begun.size(),
                         counts.launch == counters.get(), counts.taken, counts.started);
    });
    s.step("asked once", [&] { return table->answered(counts) ? "answered" : "no answer"; });
  }
  s.step("another table", [&] { return other = all->take(), other && other != table ? "another" : "none"; });
  const WorkerTable* const before = table.get();
  s.step("give back", [&] { return table.reset(), counters.reset(), ""; });
  s.step("take again", [&] { return table = all->take(), table.get() == before ? "the same" : "another"; });
  s.step("destroy", [&] { return table.reset(), other.reset(), all.reset(), ""; });
}

void whole_device(Steps& s) {
  s.step("device", [&] {
    const gpu::SmLimits all = s.backend->limits(), unit = s.backend->unit_limits();
    return fmt::format("{} units of {} {} {} {}; {} {} {} {}; {} {} {}; {}; {} bytes", s.backend->compute_units(),
                       unit.total.threads, unit.total.registers, unit.total.shared_bytes, unit.total.blocks,
                       all.total.threads, all.total.registers, all.total.shared_bytes, all.total.blocks,
                       unit.warp_threads, unit.register_unit, unit.shared_unit, s.backend->driver_version(),
                       s.backend->memory_bytes());
  });
  s.step("capabilities", [&] {
    s.backend->probe_compiler();
    const Capabilities& c = s.backend->capabilities();
    return fmt::format("{}{}{}{}{}{}{}{}", c.queues_excess_groups, c.prefers_blocking_transfers, c.printf_needs_finish,
                       c.shares_launches, c.limits_workers_by_unit, c.reports_registers, c.gates,
                       c.always_argument_info);
  });
  s.step("images", [&] {
    std::vector<std::byte> answer;
    std::vector<std::byte> other_answer;
    answer.assign(4, std::byte{9});
    const Status known = s.backend->device_info(0x1016, answer), other = s.backend->device_info(0x1017, other_answer);
    return fmt::format("{} {} {} {} {}", known, other, answer.size(), std::to_integer<int>(answer.at(0)),
                       other_answer.size());
  });
  s.step("pool", [&] { return std::to_string(s.driver.fake().pool_threshold); });
  s.step("alive", [&] { return s.backend->is_alive() ? "yes" : "no"; });
}

// Differences of more than half a second are measured from a new base.
void long_times(Steps& s) {
  s.make_queue(true);
  if (!s.queue) return;
  for (const float milliseconds : {0.5F, 250.0F, 251.0F}) {
    s.driver.fake().milliseconds = milliseconds;
    s.command("marker", [&](EventHandle* e) { return s.backend->submission().submit_marker(*s.queue, e); });
  }
}

struct Scenario {
  const char* name;
  void (*run)(Steps&);

  friend void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }
};
class CudaCalls : public testing::TestWithParam<Scenario> {};

// The record, with the number of calls that may fail.
std::pair<std::vector<std::string>, int> record_of(const Scenario& scenario, int failing, bool on_threads) {
  RecordedCuda driver(failing);
  driver.fake().static_shared = 2048;
  driver.fake().registers = 24;
  std::thread([&] {
    Steps steps(driver, on_threads);
    if (steps.open()) {
      scenario.run(steps);
      steps.close();
    }
  }).join();
  EXPECT_EQ(driver.leaked(), std::vector<std::string>()) << "call " << failing << " fails";
  return {driver.record(), driver.count()};
}

TEST_P(CudaCalls, AreAsWrittenDownAlsoWhenOneFails) {
  Digest digest;
  const auto [lines, calls] = record_of(GetParam(), 0, false);
  runtime::test::show(lines);
  for (int failing = 0; failing <= calls; ++failing) {
    for (const std::string& line : record_of(GetParam(), failing, false).first) digest.add(line);
  }
  runtime::test::expect_golden(fmt::format("cuda {}", GetParam().name),
                               fmt::format("{} calls,{}", calls, digest.text()));
}

TEST(CudaDevice, NeedsADeviceOfComputeCapability7) {
  struct Case {
    int devices, major;
    bool opens;
  };
  for (const Case& c : {Case{1, 9, true}, Case{1, 7, true}, Case{1, 6, false}, Case{0, 9, false}}) {
    RecordedCuda driver(0);
    driver.fake().devices = c.devices;
    driver.fake().compute_major = c.major;
    std::thread([&] { EXPECT_EQ(Device::open(driver.calls()).ok(), c.opens) << c.devices << " " << c.major; }).join();
  }
}

TEST_P(CudaCalls, NeedNoThreadThatHasUsedTheDevice) {
  const auto lines = record_of(GetParam(), 0, true).first;
  for (const std::string& line : lines) EXPECT_EQ(line.find("without a context"), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, CudaCalls,
                         testing::Values(Scenario{"transfers", transfers}, Scenario{"launches", launches},
                                         Scenario{"words", words}, Scenario{"tables", tables},
                                         Scenario{"device", whole_device}, Scenario{"times", long_times}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace wm::runtime::cuda

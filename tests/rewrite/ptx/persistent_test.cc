// Kernels as persistent workers leave the same memory with any number of workers and any chunk, or are refused.
#include "rewrite/ptx/persistent.h"

#include "exec/run.h"
#include "ptx/print.h"
#include "rewrite/ptx/rewritten.h"
#include "rewrite/ptx/worker_step.h"

namespace wm::rewrite {
namespace {

// The executor has one SM.
struct OneSm {
  std::uint32_t limit = 0xffffffffU, resident = 0, quota = 0;
  // The launch before has so many virtual blocks, and this word `completed`.
  std::uint32_t before_total = 0, before_completed = 0;
  std::uint32_t beside = 0;
  bool completes_itself = false;
};

// Every launch of a rewritten kernel starts so many workers.
gpu::Application as_workers(gpu::Application app, const std::set<std::string>& rewritten, std::uint32_t workers,
                            std::uint32_t chunk, const OneSm& sm = {}) {
  gpu::Application made;
  made.buffers = app.buffers;
  for (gpu::Step& step : app.steps) {
    auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch == nullptr || !rewritten.contains(launch->kernel)) {
      made.steps.push_back(step);
      continue;
    }
    WorkerStep start{.workers = workers, .chunk = chunk};
    start.control.limit[0] = sm.limit;
    start.control.resident[0] = sm.resident;
    start.control.quota[0] = sm.quota;
    start.before.completed = sm.before_completed;
    start.before_total = sm.before_total;
    start.beside = sm.beside;
    start.completes_itself = sm.completes_itself;
    add_workers(made, *launch, start);
  }
  return made;
}

class PersistentZoo : public testing::TestWithParam<const zoo::Entry*> {};

TEST_P(PersistentZoo, LeavesTheSameBuffersOrIsRefused) {
  const ptx::Module original = parsed(std::string(GetParam()->ptx));
  ptx::Module module = original, complete = original;
  std::set<std::string> rewritten;
  for (const ptx::Function& f : original.functions) {
    if (!f.entry) continue;
    const auto result = make_persistent(module, f.name);
    EXPECT_EQ(result.ok(), make_persistent(complete, f.name, Completion::launch).ok());
    if (result) rewritten.insert(f.name);
    // A loop around a compare-and-swap, and an exit that is not seen to be uniform.
    const bool may_refuse = f.name == "atomics_cas" || f.name == "mri_gridding_gridding";
    EXPECT_TRUE(result.ok() || may_refuse) << f.name << ": " << result.error().what;
  }
  const zoo::Case c = GetParam()->benchmark.make(zoo::Size::small);
  const auto expected = exec::run_application(original, c.application);
  ASSERT_TRUE(expected.ok());
  for (const auto& [workers, chunk] : {std::pair{1U, 1U}, std::pair{3U, 2U}, std::pair{2U, 5U}}) {
    // The second time no SM may have workers, and the last one completes every launch.
    const OneSm sm = workers == 3 ? OneSm{.limit = 0, .completes_itself = true} : OneSm{};
    const auto app = as_workers(c.application, rewritten, workers, chunk, sm);
    const auto again = exec::run_application(sm.completes_itself ? complete : module, app);
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    if (c.check) {  // an order that may differ
      EXPECT_TRUE(zoo::verify(c, zoo::contents_of(again->buffers)).ok());
    } else {
      EXPECT_EQ(difference(c.application, expected->buffers, again->buffers), "") << workers << " workers";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, PersistentZoo, testing::ValuesIn(zoo::all_benchmarks()), zoo::benchmark_name);

constexpr const char* kHead = ".version 7.8\n.target sm_75\n.address_size 64\n";

std::string refusal(const std::string& text) {
  ptx::Module module = parsed(kHead + text);
  const auto result = make_persistent(module, "k");
  return result ? "" : result.error().what;
}

TEST(Persistent, RefusesThreadsThatEndBeforeOthersWaitForTheirWarp) {
  const auto ends_before = [](const std::string& instruction, const std::string& index = "%tid.x") {
    return refusal(".entry k() { .reg .pred %p<3>; .reg .b32 %r<4>; mov.u32 %r1, " + index +
                   "; setp.gt.u32 %p1, %r1, 3;\n@%p1 ret; " + instruction + " ret; }");
  };
  const std::string why = "some threads of a warp may end before others wait for the warp";
  EXPECT_EQ(ends_before("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;"), why);
  EXPECT_EQ(ends_before("vote.sync.ballot.b32 %r2, %p1, -1;"), why);
  EXPECT_EQ(ends_before("match.any.sync.b32 %r2, %r1, -1;"), why);
  EXPECT_EQ(ends_before("bar.warp.sync -1;"), why);
  EXPECT_EQ(ends_before("activemask.b32 %r2;"), "") << "nothing waits";
  EXPECT_EQ(ends_before("bar.warp.sync -1;", "%ctaid.x"), "") << "all threads end or none does";
}

// The form that nvcc gives to a return at the top of a kernel.
TEST(Persistent, RefusesThreadsThatGoAroundABarrierToTheEnd) {
  const auto goes_around = [](const std::string& instruction, const std::string& end = "ret;") {
    return refusal(
        ".func f() { bar.sync 0; ret; } .entry k() { .reg .pred %p<3>; .reg .b32 %r<4>; mov.u32 %r1, %tid.x;\n"
        "setp.gt.u32 %p1, %r1, 3; @%p1 bra END; " +
        instruction + " END: " + end + " }");
  };
  const std::string block = "some threads of a block may end before a barrier that others reach";
  EXPECT_EQ(goes_around("bar.sync 0;"), block);
  EXPECT_EQ(goes_around("bar.sync 0;", "mov.u32 %r1, 5;"), block) << "the end of the text is that of the kernel";
  EXPECT_EQ(goes_around("call f, ();"), block);
  EXPECT_EQ(goes_around("bar.warp.sync -1;"), "some threads of a warp may end before others wait for the warp");
  EXPECT_EQ(goes_around("mov.u32 %r1, 5;"), "") << "nothing waits";
  EXPECT_EQ(goes_around("mov.u32 %r1, 5;", "bar.sync 0; ret;"), "") << "all threads meet before the barrier";
}

TEST(Persistent, RefusesLoopsThatReadWhatOtherBlocksWrite) {
  const auto loops = [](const std::string& reading) {
    return refusal(
        ".func (.reg .b32 %r1) reads(.reg .b64 %rd1) { ld.volatile.global.u32 %r1, [%rd1]; ret; }\n"
        ".entry k(.param .u64 x) { .reg .pred %p<2>; .reg .b32 %r<3>; .reg .f32 %f<2>; .reg .b64 %rd<2>;\n"
        "ld.param.u64 %rd1, [x]; W: " +
        reading + " setp.eq.u32 %p1, %r1, 0; @%p1 bra W; ret; }");
  };
  const std::string why = "a loop of it may wait for another block";
  EXPECT_EQ(loops("ld.volatile.global.u32 %r1, [%rd1];"), why);
  EXPECT_EQ(loops("ld.global.cv.u32 %r1, [%rd1];"), why);
  EXPECT_EQ(loops("atom.global.add.u32 %r1, [%rd1], 0;"), why);
  EXPECT_EQ(loops("atom.global.or.b32 %r1, [%rd1], 0;"), why);
  EXPECT_EQ(loops("atom.global.and.b32 %r1, [%rd1], -1;"), why);
  EXPECT_EQ(loops("atom.global.min.u32 %r1, [%rd1], -1;"), why);
  EXPECT_EQ(loops("atom.global.max.s32 %r1, [%rd1], -2147483648;"), why);
  EXPECT_EQ(loops("atom.global.min.s32 %r1, [%rd1], 2147483647;"), why);
  EXPECT_EQ(loops("atom.global.add.f32 %f1, [%rd1], 0f00000000; mov.b32 %r1, %f1;"), why);
  EXPECT_EQ(loops("mov.u32 %r2, 0; atom.global.add.u32 %r1, [%rd1], %r2;"), why) << "the zero is in a register";
  EXPECT_EQ(loops("ld.global.cg.u32 %r1, [%rd1];"), why);
  EXPECT_EQ(loops("call (%r1), reads, (%rd1);"), why) << "a function reads it";
  EXPECT_EQ(loops("atom.global.add.u32 %r1, [%rd1], 1;"), "") << "a queue, whose head moves on";
  EXPECT_EQ(loops("atom.global.max.u32 %r1, [%rd1], 1;"), "");
  EXPECT_EQ(loops("ld.global.cg.u32 %r1, [%rd1]; add.u64 %rd1, %rd1, 4;"), "") << "it reads on";
}

TEST(Persistent, RefusesRecursionThatReadsWhatOtherBlocksWrite) {
  EXPECT_EQ(refusal(".func f(.param .u64 x) { .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [x];\n"
                    "ld.volatile.global.u32 %r1, [%rd1]; call f, (%rd1); ret; }\n"
                    ".entry k(.param .u64 x) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [x]; call f, (%rd1); ret; }"),
            "a loop of it may wait for another block");
}

TEST(Persistent, FunctionsOfOtherKernelsKeepTheirParameters) {
  ptx::Module module = parsed(std::string(kHead) +
                              ".func f() { .reg .b32 %r<2>; mov.u32 %r1, %ctaid.x; ret; }\n"
                              ".entry a() { call f, (); ret; } .entry k() { ret; }");
  EXPECT_FALSE(make_persistent(module, "a").ok());
  ASSERT_TRUE(make_persistent(module, "k").ok());
  EXPECT_TRUE(module.functions[0].parameters.empty()) << "'a' calls it as it was";
  (void)parsed(ptx::print(module));
}

TEST(Persistent, WorkersOfAModuleWithLinesOfTheSourceAreReadAgain) {
  ptx::Module module = parsed(std::string(kHead) + ".file 1 \"k.cu\"\n.entry k() { .loc 1 7 3\nbar.sync 0; ret; }");
  ASSERT_TRUE(make_persistent(module, "k").ok());
  const ptx::Module again = parsed(ptx::print(module));
  EXPECT_FALSE(again.functions[0].refusal.has_value());
}

TEST(Persistent, RefusesWithAReason) {
  EXPECT_EQ(refusal(".entry k() { .reg .pred %p<2>; .reg .b32 %r<2>; mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 3;\n"
                    "@%p1 ret; bar.sync 0; ret; }"),
            "some threads of a block may end before a barrier that others reach");
  EXPECT_EQ(refusal(".entry k(.param .u32 n) { .reg .pred %p<2>; .reg .b32 %r<2>; ld.param.u32 %r1, [n];\n"
                    "setp.gt.u32 %p1, %r1, 3; @%p1 ret; bar.sync 0; ret; }"),
            "")
      << "all threads end or none does";
  EXPECT_EQ(refusal(".entry k() { .reg .b32 %r<2>; mov.u32 %r1, %cluster_ctarank; ret; }"), "it uses clusters");
  EXPECT_EQ(refusal(".entry k() { .reg .b32 %r<2>; mov.u32 %r1, %envreg1; ret; }"),
            "it synchronises its grid (%envreg)");
  EXPECT_EQ(refusal(".entry k() { griddepcontrol.wait; ret; }"), "it waits for another grid");
}

// Each thread adds 1 to the word of its block, at the number that its coordinates give.
constexpr const char* kVisit =
    ".entry k(.param .u64 x) { .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r4, %r2, %r3;\n"
    "ld.param.u64 %rd1, [x]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n";

TEST(Persistent, ChunksGoOnOverTheEdgesOfAGrid) {
  for (const std::string barrier : {"", "bar.sync 0; "}) {
    ptx::Module module = parsed(kHead + (kVisit + barrier + "red.global.add.u32 [%rd3], 1; ret; }"));
    ASSERT_TRUE(make_persistent(module, "k").ok());
    for (const auto& [x, y, z] : {std::array{30U, 1U, 1U}, std::array{3U, 2U, 5U}, std::array{1U, 1U, 30U}}) {
      for (const std::uint32_t chunk : {1U, 4U, 7U, 64U}) {
        gpu::Application app;
        const auto visits = app.add("visits", std::vector<std::uint32_t>(30));
        app.upload(visits);
        app.launch({.kernel = "k", .grid = {x, y, z}, .block = {40}, .arguments = {gpu::buffer(visits)}});
        const auto run = exec::run_application(module, as_workers(app, {"k"}, 3, chunk));
        ASSERT_TRUE(run.ok()) << run.error().to_string();
        std::vector<std::uint32_t> counts(30);
        std::memcpy(counts.data(), run->buffers[0].data(), run->buffers[0].size());
        EXPECT_EQ(counts, std::vector<std::uint32_t>(30, 40)) << x << " x " << y << " x " << z << ", " << chunk;
      }
    }
  }
}

// The number of barriers that a block of the rewritten kernel holds: all up to the highest that it uses.
std::uint64_t barriers_held(const std::string& body) {
  ptx::Module module = parsed(kHead + (".entry k() { " + body + " ret; }"));
  EXPECT_TRUE(make_persistent(module, "k").ok());
  std::uint64_t held = 0;
  for (const ptx::Instruction& i : module.functions[0].body) {
    if (i.opcode == ptx::Opcode::bar || i.opcode == ptx::Opcode::barrier) held = std::max(held, i.operands[0].bits + 1);
  }
  return held;
}

TEST(Persistent, WorkersTakeTheLowestBarrierThatTheKernelLeaves) {
  EXPECT_EQ(barriers_held(""), 1U);
  EXPECT_EQ(barriers_held("bar.sync 0;"), 2U);
  EXPECT_EQ(barriers_held("bar.sync 0; bar.sync 1; bar.sync 3;"), 4U);
  std::string all;
  for (int i = 0; i < 16; ++i) all += "bar.sync " + std::to_string(i) + "; ";
  EXPECT_EQ(refusal(".entry k() { " + all + "ret; }"), "it uses all barriers of a block");
}

// The words after four workers have run vecadd.
struct Outcome {
  PersistentControl control;
  LaunchWords launch;
};
Outcome run_vecadd(const OneSm& initial) {
  const zoo::Entry& entry = **zoo::find("vecadd");
  ptx::Module module = parsed(std::string(entry.ptx));
  EXPECT_TRUE(
      make_persistent(module, "vecadd", initial.completes_itself ? Completion::launch : Completion::process).ok());
  const zoo::Case c = entry.benchmark.make(zoo::Size::small);
  const auto result = exec::run_application(module, as_workers(c.application, {"vecadd"}, 4, 1, initial));
  EXPECT_TRUE(result.ok());
  Outcome outcome;
  std::memcpy(&outcome.control, result->buffers.back().data(), sizeof outcome.control);
  std::memcpy(&outcome.launch, result->buffers[result->buffers.size() - 2].data(), sizeof outcome.launch);
  return outcome;
}

TEST(Persistent, WorkersCountThemselvesAndTheirBlocks) {
  const gpu::Launch* launch = nullptr;
  const zoo::Case c = (*zoo::find("vecadd"))->benchmark.make(zoo::Size::small);
  for (const gpu::Step& step : c.application.steps) {
    if (std::holds_alternative<gpu::Launch>(step)) launch = &std::get<gpu::Launch>(step);
  }
  const Outcome outcome = run_vecadd({});
  EXPECT_EQ(outcome.control.done[0], launch->grid.x);
  EXPECT_EQ(outcome.control.resident[0], 0U);
  EXPECT_GE(outcome.launch.queue.next, launch->grid.x);
  EXPECT_EQ(outcome.launch.queue.completed, launch->grid.x);
  EXPECT_EQ(outcome.launch.complete, 1U);
}

TEST(Persistent, WorkersLeaveAtOnceWhereTheirSmHasEnough) {
  const Outcome none = run_vecadd({.limit = 0});
  EXPECT_EQ(none.launch.queue.next, 0U);
  EXPECT_EQ(none.launch.complete, 0U);
  EXPECT_EQ(none.control.resident[0], 0U);
  const Outcome full = run_vecadd({.limit = 2, .resident = 2});
  EXPECT_EQ(full.launch.queue.next, 0U);
  EXPECT_EQ(full.control.resident[0], 2U);
  EXPECT_GT(run_vecadd({.limit = 3, .resident = 2}).launch.queue.next, 0U);
}

TEST(Persistent, WorkersLeaveAtOnceWhereTheLaunchBeforeIsNotComplete) {
  const Outcome too_soon = run_vecadd({.before_total = 8, .before_completed = 7});
  EXPECT_EQ(too_soon.launch.queue.next, 0U);
  EXPECT_EQ(too_soon.launch.complete, 0U);
  EXPECT_EQ(too_soon.control.resident[0], 0U);
  EXPECT_EQ(run_vecadd({.before_total = 8, .before_completed = 8}).launch.complete, 1U);
}

TEST(Persistent, WorkersBesideTheStreamKeepTheNextLaunchBack) {
  const Outcome beside = run_vecadd({.beside = kBesideStream});
  EXPECT_EQ(beside.launch.complete, 1U);
  EXPECT_EQ(beside.launch.queue.completed, beside.control.done[0] | kBesideStream);
  const Outcome next = run_vecadd({.before_total = 8, .before_completed = 8 | kBesideStream});
  EXPECT_EQ(next.launch.queue.next, 0U) << "what was written beside the stream may not be visible to it";
}

void expect_complete(const Outcome& outcome, std::uint32_t blocks) {
  EXPECT_EQ(outcome.control.done[0], blocks);
  EXPECT_EQ(outcome.launch.queue.completed, blocks);
  EXPECT_EQ(outcome.launch.queue.left, 4U);
  EXPECT_EQ(outcome.launch.queue.begun, 1U);
  EXPECT_EQ(outcome.launch.complete, 1U);
  EXPECT_EQ(outcome.control.resident[0], 0U);
}

TEST(Persistent, ALaunchCompletesByItselfWhereverItMayRun) {
  const std::uint32_t blocks = run_vecadd({}).control.done[0];
  expect_complete(run_vecadd({.completes_itself = true}), blocks);
  expect_complete(run_vecadd({.limit = 0, .completes_itself = true}), blocks);  // the last worker stays
  expect_complete(run_vecadd({.quota = 1 + blocks / 2, .completes_itself = true}), blocks);
}

TEST(Persistent, AQuotaThatSufficesHoldsNobody) {
  const std::uint32_t blocks = run_vecadd({}).control.done[0];
  EXPECT_EQ(run_vecadd({}).control.begun[0], 0U) << "counted under a quota only";
  const PersistentControl enough = run_vecadd({.quota = 1 + blocks}).control;
  EXPECT_EQ(enough.done[0], blocks);
  EXPECT_EQ(enough.begun[0], blocks) << "each block once, although workers looked again";
}

}  // namespace
}  // namespace wm::rewrite

// Same kernel, same cycles and counters: runs of small kernels on every GPU and beside each other are written down.
//
// golden_timing.csv holds a row per run: cycles, and a digest of every counter. Where the model is changed on purpose,
// test_sim_cycle prints the new rows with WM_GOLDEN_TIMING=print in its environment. The runs of tests/lab use kernels
// that a compiler makes; these have their PTX here, so they hold wherever the project builds.
#include <fmt/format.h>
#include <map>

#include "sim/cycle/golden_run.h"

namespace wm::sim {
namespace {

// Each thread does a little of everything that has a part of the machine to itself.
const std::map<std::string, std::string>& bodies() {
  static const std::map<std::string, std::string> all = {
      {"stream",
       "mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd3];\n"
       "add.u32 %r5, %r5, %r8;\nst.global.v2.u32 [%rd3+262144], {%r5, %r6};\nst.global.u8 [%rd3+8], %r7;\n"
       "ld.global.nc.u32 %r9, [%rd3+524288];\nst.global.u32 [%rd3+4], %r9;\n"},
      {"gather",
       "mov.u32 %r5, %r1;\nmov.u32 %r6, 0;\nLOOP:\nmad.lo.u32 %r5, %r5, 1664525, 1013904223;\nshr.u32 %r7, %r5, 14;\n"
       "mul.wide.u32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r8, [%rd3];\nadd.u32 %r5, %r5, %r8;\n"
       "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 6;\n@%p1 bra LOOP;\nst.global.u32 [%rd3], %r5;\n"},
      {"shared",
       ".shared .align 16 .b32 tile[1056];\nshl.b32 %r5, %r4, 4;\nand.b32 %r5, %r5, 4092;\nmov.u32 %r6, tile;\n"
       "add.u32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r1;\nbar.sync 0;\nand.b32 %r7, %r4, 7;\nshl.b32 %r7, %r7, 2;\n"
       "add.u32 %r7, %r7, %r6;\natom.shared.add.u32 %r8, [%r7], %r1;\nbar.sync 0;\nld.shared.v2.u32 {%r9, %r10}, "
       "[tile+64];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nadd.u32 %r9, %r9, %r8;\n"
       "st.global.u32 [%rd3], %r9;\n"},
      {"units",
       ".reg .f64 %d<4>;\ncvt.rn.f32.u32 %f1, %r1;\ncvt.rn.f64.u32 %d1, %r1;\nmov.u32 %r5, 0;\nLOOP:\n"
       "fma.rn.f32 %f1, %f1, %f1, %f1;\nsin.approx.f32 %f2, %f1;\nrsqrt.approx.f32 %f3, %f2;\nadd.f32 %f1, %f1, %f3;\n"
       "fma.rn.f64 %d1, %d1, %d1, %d1;\nmul.lo.u32 %r6, %r1, %r5;\nshf.l.wrap.b32 %r7, %r6, %r5, 7;\n"
       "popc.b32 %r8, %r7;\ndiv.u32 %r9, %r7, 7;\nadd.u32 %r1, %r8, %r9;\nshfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;\n"
       "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 9;\n@%p1 bra LOOP;\ndiv.rn.f32 %f4, %f1, %f3;\n"
       "cvt.rzi.u32.f32 %r11, %f4;\nst.global.u32 [%rd1], %r11;\nst.global.f64 [%rd1+8], %d1;\n"},
      {"diverge",
       "and.b32 %r5, %r4, 7;\nmov.u32 %r6, 0;\nLOOP:\nsetp.ge.u32 %p1, %r6, %r5;\n@%p1 bra DONE;\n"
       "mad.lo.u32 %r7, %r6, %r5, %r7;\nsetp.eq.u32 %p2, %r6, 3;\n@%p2 bra ODD;\nadd.u32 %r7, %r7, 5;\nbra.uni NEXT;\n"
       "ODD:\nmul.lo.u32 %r7, %r7, %r7;\nNEXT:\nadd.u32 %r6, %r6, 1;\nbra LOOP;\nDONE:\nbar.warp.sync -1;\n"
       "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r7;\n"},
      {"atomics",
       "and.b32 %r5, %r1, 31;\nmul.wide.u32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, %rd2;\nred.global.add.u32 [%rd3], 1;\n"
       "atom.global.max.u32 %r6, [%rd3+4096], %r1;\nred.global.add.u32 [%rd1+8192], %r6;\nmembar.gl;\n"
       "ld.volatile.global.u32 %r7, [%rd3];\nst.global.u32 [%rd3+16384], %r7;\n"}};
  return all;
}

ClientSpec client(const std::string& name, std::uint32_t blocks, std::uint32_t launches) {
  return golden_client(name, bodies().at(name), blocks, launches);
}

class GoldenTiming : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTiming, OfSmallKernelsIsAsWrittenDown) {
  for (const auto& [name, body] : bodies()) {
    const auto machine = *CycleMachine::make(test_gpu(GetParam()), 1, 1);
    ASSERT_TRUE(machine->add(client(name, 40, 2)).ok());
    expect_golden(GetParam() + " " + name, outcome(*machine, "left_over", 1'000'000));
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, GoldenTiming,
                         testing::Values("a100", "h200", "k20c", "qos16", "qos16-free-switch", "qos56", "slicer16",
                                         "slicer16-large", "slicer16-lrr", "smqos24", "v100"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

struct CoRun {
  const char* gpu;
  const char* policy;
  const char* first;
  const char* second;

  friend void PrintTo(const CoRun& run, std::ostream* out) {
    *out << run.gpu << ' ' << run.policy << ' ' << run.first << '+' << run.second;
  }
};
class GoldenCoRun : public testing::TestWithParam<CoRun> {};

TEST_P(GoldenCoRun, IsAsWrittenDown) {
  const CoRun& run = GetParam();
  const auto machine = *CycleMachine::make(test_gpu(run.gpu), 1, 1);
  ClientSpec first = client(run.first, 300, 0);
  first.goal = 40;
  first.isolated_ipc = 100;
  ClientSpec second = client(run.second, 200, 0);
  second.arrive = {700};
  second.priority = 1;
  ASSERT_TRUE(machine->add(first).ok());
  ASSERT_TRUE(machine->add(second).ok());
  expect_golden(fmt::format("{} {} {}+{}", run.gpu, run.policy, run.first, run.second),
                outcome(*machine, run.policy, 20'000));
}

INSTANTIATE_TEST_SUITE_P(
    Policies, GoldenCoRun,
    testing::Values(CoRun{"qos16", "quota:epoch=1000", "units", "stream"},
                    CoRun{"qos16-free-switch", "quota:epoch=1000:scheme=elastic", "gather", "units"},
                    CoRun{"k20c", "ppq:preemption=switch", "shared", "units"},
                    CoRun{"k20c", "dss", "diverge", "atomics"},
                    CoRun{"smqos24", "smqos:epoch=1000", "stream", "shared"},
                    CoRun{"slicer16", "warped_slicer:warmup=500:sample=500", "units", "gather"},
                    CoRun{"v100", "smk:epoch=1000", "gather", "shared"}, CoRun{"h200", "spatial", "stream", "atomics"},
                    CoRun{"a100", "even", "gather", "stream"}),
    [](const auto& info) { return fmt::format("Run{}", info.index); });

}  // namespace
}  // namespace wm::sim

// Kernels for the parts of an SM and of the memory system that golden_timing_test.cc leaves out, on machines that
// differ in them: cycles and counters are as written down in golden_timing.csv.
#include <fmt/format.h>
#include <map>

#include "sim/cycle/golden_run.h"

namespace wm::sim {
namespace {

// The address of the thread's word, %rd3, for a stride of `bytes`.
std::string strided(unsigned bytes) {
  return fmt::format("mul.wide.u32 %rd2, %r1, {};\nadd.s64 %rd3, %rd1, %rd2;\n", bytes);
}

std::string loop(int count, const std::string& body) {
  return fmt::format("mov.u32 %r60, 0;\nLOOP:\n{}add.u32 %r60, %r60, 1;\nsetp.lt.u32 %p7, %r60, {};\n@%p7 bra LOOP;\n",
                     body, count);
}

const std::map<std::string, std::string>& path_bodies() {
  static const std::map<std::string, std::string> all = {
      {"strides", strided(4) + "ld.global.u32 %r5, [%rd3];\n" + strided(8) + "ld.global.u32 %r6, [%rd3+4];\n" +
                      strided(36) + "ld.global.u32 %r7, [%rd3];\n" + strided(128) +
                      "ld.global.u8 %r8, [%rd3+1];\nst.global.u16 [%rd3+2], %r8;\nadd.u32 %r5, %r5, %r6;\n"
                      "add.u32 %r5, %r5, %r7;\nst.global.u32 [%rd3+4], %r5;\n"},
      {"one address",
       "ld.global.u32 %r5, [%rd1+64];\nld.volatile.global.u32 %r6, [%rd1+68];\nadd.u32 %r5, %r5, %r6;\n"
       "st.global.u32 [%rd1+72], %r5;\nld.global.v2.u32 {%r7, %r8}, [%rd1+80];\nst.global.u32 [%rd1+76], %r8;\n"},
      {"wide", strided(32) +
                   "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd3];\nld.global.v4.u32 {%r9,%r10,%r11,%r12}, [%rd3+16];\n"
                   "add.u32 %r5, %r5, %r9;\nadd.u32 %r6, %r6, %r12;\nst.global.v4.u32 [%rd3], {%r5,%r6,%r7,%r8};\n"},
      {"local",
       ".local .align 8 .b8 own[64];\nmov.u32 %r5, 0;\n" +
           loop(5,
                "and.b32 %r6, %r60, 3;\nmul.wide.u32 %rd4, %r6, 8;\nmov.u64 %rd5, own;\nadd.s64 %rd5, %rd5, %rd4;\n"
                "st.local.u32 [%rd5], %r1;\nld.local.u32 %r7, [%rd5+8];\nadd.u32 %r5, %r5, %r7;\n") +
           strided(4) + "st.global.u32 [%rd3], %r5;\n"},
      {"bank conflicts",
       ".shared .align 16 .b8 tile[16384];\nmov.u32 %r6, tile;\nmov.u32 %r5, 0;\n" +
           loop(4,
                "shl.b32 %r7, %r4, %r60;\nand.b32 %r7, %r7, 1023;\nshl.b32 %r7, %r7, 2;\nadd.u32 %r7, %r7, %r6;\n"
                "st.shared.u32 [%r7], %r1;\nld.shared.u32 %r8, [%r7+128];\nadd.u32 %r5, %r5, %r8;\n") +
           "and.b32 %r9, %r4, 15;\nshl.b32 %r9, %r9, 5;\nadd.u32 %r9, %r9, %r6;\nld.shared.v4.u32 "
           "{%r10,%r11,%r12,%r13}, "
           "[%r9];\nld.shared.v2.u32 {%r14,%r15}, [%r9+512];\nld.shared.u64 %rd8, [%r9+1024];\nld.shared.u8 %r16, "
           "[%r9+3];\n"
           "add.u32 %r5, %r5, %r13;\nadd.u32 %r5, %r5, %r15;\nadd.u32 %r5, %r5, %r16;\n" +
           strided(4) + "st.global.u32 [%rd3], %r5;\n"},
      {"shared atomics",
       ".shared .align 16 .b8 tile[4096];\nmov.u32 %r6, tile;\nand.b32 %r7, %r4, 12;\nadd.u32 %r7, %r7, %r6;\n"
       "red.shared.add.u32 [%r7], 1;\natom.shared.cas.b32 %r8, [%r7], %r1, 7;\nred.shared.add.f32 [%r7+256], "
       "0f3F800000;\n"
       "atom.shared.add.u64 %rd4, [tile+512], 3;\natom.shared.exch.b32 %r9, [%r7+1024], %r1;\nbar.sync 0;\n"
       "atom.shared.inc.u32 %r10, [tile+768], 5;\nadd.u32 %r8, %r8, %r9;\nadd.u32 %r8, %r8, %r10;\n" +
           strided(4) + "st.global.u32 [%rd3], %r8;\n"},
      {"global atomics",
       strided(4) +
           "atom.global.add.f32 %f1, [%rd3], 0f3F800000;\natom.global.cas.b32 %r5, [%rd1+64], %r1, 9;\n"
           "red.global.add.u64 [%rd1+128], 1;\nand.b32 %r6, %r1, 7;\nmul.wide.u32 %rd4, %r6, 512;\n"
           "add.s64 %rd4, %rd4, %rd1;\nred.global.max.s32 [%rd4], %r1;\natom.global.exch.b32 %r7, [%rd4+4], %r1;\n"
           "fence.acq_rel.gpu;\nadd.u32 %r5, %r5, %r7;\nst.global.u32 [%rd3+65536], %r5;\n"},
      {"copies",
       ".shared .align 16 .b8 tile[4096];\nmov.u32 %r6, tile;\nmad.lo.u32 %r6, %r4, 16, %r6;\n" + strided(16) +
           "cp.async.cg.shared.global [%r6], [%rd3], 16;\ncp.async.commit_group;\n"
           "cp.async.ca.shared.global [%r6+2048], [%rd3+65536], 8;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
           "bar.sync 0;\nld.shared.u32 %r7, [%r6];\ncp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r8, [%r6+2048];\n"
           "add.u32 %r7, %r7, %r8;\nst.global.u32 [%rd3], %r7;\n"},
      {"constants", "mov.u32 %r5, 0;\n" +
                        loop(3,
                             "ld.param.u64 %rd4, [p];\nld.global.nc.u32 %r6, [%rd4+16];\nadd.u32 %r5, %r5, %r6;\n"
                             "and.b32 %r7, %r60, 1;\n") +
                        strided(64) +
                        "ld.global.nc.v4.u32 {%r8,%r9,%r10,%r11}, [%rd3];\nadd.u32 %r5, %r5, %r11;\n"
                        "prefetch.global.L2 [%rd3+4096];\nst.global.u32 [%rd3], %r5;\n"},
      {"exits and barriers",
       "and.b32 %r5, %r4, 3;\nsetp.eq.u32 %p1, %r5, 3;\n@%p1 exit;\nbar.sync 0;\nsetp.lt.u32 %p2, %r4, 32;\n@%p2 bra "
       "A;\n"
       "bar.arrive 1, 96;\nbra B;\nA:\nbar.sync 1, 96;\nB:\nbar.red.popc.u32 %r6, 0, %p2;\nbar.warp.sync -1;\n" +
           strided(4) + "st.global.u32 [%rd3], %r6;\n"},
      {"integers",
       "mov.u32 %r5, %r1;\ncvt.u64.u32 %rd4, %r1;\n" +
           loop(6,
                "mul.wide.u32 %rd5, %r5, %r5;\nmul.hi.u32 %r6, %r5, 77;\nmad.lo.u32 %r5, %r5, %r6, 3;\n"
                "add.u64 %rd4, %rd4, %rd5;\nbfe.u32 %r7, %r5, 3, 7;\nprmt.b32 %r8, %r7, %r5, 0x3210;\n"
                "lop3.b32 %r5, %r5, %r7, %r8, 0x96;\nvote.sync.any.pred %p1, %p7, -1;\nselp.b32 %r5, %r5, %r6, %p1;\n"
                "shr.u64 %rd4, %rd4, 3;\nmin.s32 %r5, %r5, %r8;\ndp4a.u32.u32 %r5, %r5, %r6, %r7;\n") +
           strided(8) + "st.global.u64 [%rd3], %rd4;\nst.global.u32 [%rd3], %r5;\n"},
      {"halves",
       ".reg .b16 %h<8>;\n.reg .f64 %d<4>;\ncvt.rn.f16.u32 %h1, %r4;\nmov.b32 %r5, {%h1, %h1};\ncvt.rn.f64.u32 %d1, "
       "%r4;\n" +
           loop(5,
                "fma.rn.f16x2 %r5, %r5, %r5, %r5;\nadd.f16 %h1, %h1, %h1;\nmul.f64 %d1, %d1, %d1;\nadd.f64 %d1, %d1, "
                "%d1;\n"
                "sqrt.rn.f32 %f1, %f1;\nex2.approx.f32 %f2, %f1;\nlg2.approx.f32 %f3, %f2;\nadd.f32 %f1, %f3, %f2;\n") +
           strided(4) + "st.global.u32 [%rd3], %r5;\nst.global.f64 [%rd1], %d1;\n"},
      {"products of matrices",
       "mov.u32 %r5, %r1;\nmov.u32 %r6, %r4;\n" +
           loop(4,
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r5,%r6}, {%r5}, "
                "{%f1,%f2,%f3,%f4};\n") +
           strided(4) + "st.global.f32 [%rd3], %f1;\n"},
  };
  return all;
}

class GoldenPaths : public testing::TestWithParam<std::string> {};

TEST_P(GoldenPaths, OfAnSmAndItsMemoryAreAsWrittenDown) {
  for (const auto& [name, body] : path_bodies()) {
    const auto machine = *CycleMachine::make(test_gpu(GetParam()), 1, 1);
    ASSERT_TRUE(machine->add(golden_client(name, body, 24, 2)).ok()) << name;
    expect_golden(GetParam() + " " + name, outcome(*machine, "left_over", 1'000'000));
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, GoldenPaths,
                         testing::Values("a100", "h200", "k20c", "qos16", "slicer16", "smqos24", "v100"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace wm::sim

// The exact messages of faulting kernels.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

std::string error_of(const std::string& body, Snippet s = {}) {
  s.text = kernel(body, "", static_cast<int>(s.inputs.size()));
  return run(s).error;
}

// The first instruction of a body stands on line 22.
TEST(Fault, AStorePastTheEndNamesThreadAddressAndNearestAllocation) {
  Snippet s;
  s.grid = {2, 1, 1};
  s.out_words = 30;
  EXPECT_EQ(
      error_of("st.global.u32 [%at], %lane;\nret;", s),
      "kernel 'k': global store of 4 bytes at 0x700000010078 is out of bounds, at k.ptx:21, block (0,0,0) thread "
      "(30,0,0)\n"
      "  nearest allocation: 'out' [0x700000010000, 0x700000010078) of 120 bytes, the address is 0 bytes past its "
      "end");
}

TEST(Fault, ThreeDimensionalThreadsAreNamedAsTheyAre) {
  Snippet s;
  s.grid = {1, 2, 3};
  s.block = {4, 4, 4};
  EXPECT_EQ(error_of(R"(mov.u32 %r0, %ctaid.z;
    setp.ne.u32 %p0, %r0, 2;
    @%p0 ret;
    mov.u32 %r1, %tid.z;
    setp.ne.u32 %p0, %r1, 3;
    @%p0 ret;
    ld.global.u32 %r0, [4];)",
                     s),
            "kernel 'k': global load of 4 bytes at 0x4 is out of bounds, at k.ptx:27, block (0,0,2) thread (0,0,3)\n"
            "  nearest allocation: 'out' [0x700000010000, 0x700000010080) of 128 bytes, the address is 123145302376444 "
            "bytes before it");
}

TEST(Fault, AMisalignedAccessIsAFault) {
  EXPECT_EQ(error_of("ld.global.u32 %r0, [%out+2];\nret;").substr(0, 76),
            "kernel 'k': global load of 4 bytes at 0x700000010002 is not aligned, at k.pt");
  EXPECT_NE(
      error_of("ld.global.v4.u32 {%r0,%r1,%r2,%r3}, [%out+8];\nret;").find("16 bytes at 0x700000010008 is not aligned"),
      std::string::npos);
}

TEST(Fault, EveryMisalignmentIsAFault) {
  for (const std::string space : {"global", "shared"}) {
    for (int off = 1; off < 8; ++off) {
      const std::string base = space == "global" ? "%out" : "s";
      const std::string load =
          ".shared .align 8 .b8 s[64];\nld." + space + ".u64 %d0, [" + base + "+" + std::to_string(off) + "];\nret;";
      EXPECT_NE(error_of(load).find("is not aligned"), std::string::npos) << load;
    }
  }
}

TEST(Fault, SharedMemoryHasAnEnd) {
  Snippet s;
  s.shared = 64;
  EXPECT_EQ(error_of("st.shared.u32 [64], %lane;\nret;", s),
            "kernel 'k': shared store of 4 bytes at 0x40 is out of bounds, at k.ptx:21, block (0,0,0) thread (0,0,0)\n"
            "  the block has 64 bytes of shared memory");
}

TEST(Fault, AGenericAddressIsReportedInItsSpace) {
  EXPECT_EQ(error_of("mov.u64 %d0, 100;\ncvta.shared.u64 %d0, %d0;\nld.u32 %r0, [%d0];\nret;"),
            "kernel 'k': shared load of 4 bytes at 0x64 is out of bounds, at k.ptx:23, block (0,0,0) thread (0,0,0)\n"
            "  the block has 0 bytes of shared memory");
}

TEST(Fault, AnAccessAcrossTheEndIsOutside) {
  Snippet s;
  s.out_words = 3;
  s.block = {1, 1, 1};
  EXPECT_NE(error_of("ld.global.u64 %d0, [%out+8];\nret;", s).find("8 bytes at 0x700000010008 is out of bounds"),
            std::string::npos);
}

TEST(Fault, OnlyLanesThatExecuteCanFault) {
  EXPECT_EQ(error_of("setp.eq.u32 %p0, %lane, 40;\n@%p0 ld.global.u32 %r0, [0];\nret;"), "");
}

TEST(Fault, ConstantsAndParametersCannotBeWritten) {
  Snippet s;
  s.text = kernel("mov.u64 %d0, c;\ncvta.const.u64 %d0, %d0;\nst.u32 [%d0], 1;\nret;", ".const .b32 c = 1;");
  EXPECT_NE(run(s).error.find("writes memory that is read only"), std::string::npos) << run(s).error;
}

TEST(Fault, ATrapSaysWhere) {
  EXPECT_EQ(error_of("setp.eq.u32 %p0, %lane, 9;\n@%p0 trap;\nret;"),
            "kernel 'k': trap, at k.ptx:22, block (0,0,0) thread (9,0,0)");
}

TEST(Fault, TheSourceLineIsGivenWhereThePtxKnowsIt) {
  Snippet s;
  s.text = kernel(".loc 1 7 3\nst.global.u32 [0], %lane;\nret;") + "\n.file 1 \"mine.cl\"\n";
  EXPECT_NE(run(s).error.find("at mine.cl:7 (k.ptx:22), block (0,0,0) thread (0,0,0)"), std::string::npos)
      << run(s).error;
}

TEST(Fault, AKernelPastItsLimitShowsWhereItsWarpsAre) {
  Snippet s;
  s.block = {64, 1, 1};
  s.limit = 1000;
  const std::string error = error_of("LOOP:\nadd.u32 %r0, %r0, 1;\nbra LOOP;", s);
  EXPECT_NE(error.find("kernel 'k': not done after 1000 warp instructions"), std::string::npos) << error;
  EXPECT_NE(error.find("block (0,0,0) warp 0 lanes ffffffff at k.ptx:2"), std::string::npos) << error;
  EXPECT_NE(error.find("warp 1 lanes ffffffff at k.ptx:"), std::string::npos) << error;
}

TEST(Fault, AFaultStopsItsLaunchAndLeavesTheMemoryForTheNext) {
  auto module = ptx::parse(kernel("st.global.u32 [%at], 1;\nst.global.u32 [0], 1;\nret;"));
  ASSERT_TRUE(module.ok());
  AddressSpace memory;
  const auto out = memory.allocate(128, "out");
  ASSERT_TRUE(out.ok());
  auto image = Image::load(*module, memory);
  auto program = decode(*module, "k");
  ASSERT_TRUE(image.ok() && program.ok());
  auto constants = image->link(**program);
  ASSERT_TRUE(constants.ok());
  const std::uint64_t buffers[] = {*out};
  gpu::Launch launch{"k", {8, 1, 1}, {32, 1, 1}, {gpu::buffer({0})}, 0};
  auto grid = make_grid(*program, *constants, memory, launch, buffers);
  ASSERT_TRUE(grid.ok()) << grid.error().to_string();
  const LaunchResult result = run_launch(*grid);
  ASSERT_TRUE(result.fault.has_value());
  EXPECT_EQ(result.fault->kind, Fault::Kind::out_of_bounds);
  EXPECT_EQ(result.fault->address, 0U);
  EXPECT_EQ(result.fault->bytes, 4U);
  EXPECT_EQ(result.statistics.blocks, 1U);
  std::uint32_t word = 0;
  ASSERT_TRUE(memory.read(*out, reinterpret_cast<std::byte*>(&word), 4).ok());
  EXPECT_EQ(word, 1U);
}

}  // namespace
}  // namespace wm::exec

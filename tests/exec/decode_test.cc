// Decoding: refused instructions and their places, how registers share rows, the registers reported to a scoreboard.
#include <algorithm>
#include <set>

#include "exec/snippet.h"

namespace wm::exec {
namespace {

Result<std::shared_ptr<const Program>> decoded(const std::string& text) {
  auto module = ptx::parse(text, "k.ptx");
  if (!module) return module.error();
  return decode(*module, "k", "k.ptx");
}

TEST(Decode, AnUnknownKernelIsNamedWithThoseThereAre) {
  auto module = ptx::parse(kernel("ret;"), "k.ptx");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(decode(*module, "other", "k.ptx").error().to_string(), "k.ptx: no kernel 'other'; there is 'k'");
}

TEST(Decode, AnInstructionThatCannotBeExecutedIsRefusedAtItsLine) {
  const auto program = decoded(kernel("barrier.cluster.arrive;\nret;"));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().to_string(), "k.ptx:21:1: 'barrier.cluster.arrive' cannot be executed");
}

TEST(Decode, AVariableOfAnotherSpaceIsRefused) {
  const auto program = decoded(kernel("ld.shared.u32 %r0, [g];\nret;", ".global .b32 g;"));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().to_string(), "k.ptx:21:1: 'ld.shared.u32' accesses 'g', which is in another state space");
}

TEST(Decode, TooMuchSharedOrLocalMemoryIsRefused) {
  EXPECT_FALSE(decoded(kernel("st.shared.u8 [s], %h0;\nret;", ".shared .b8 s[16777217];")).ok());
  EXPECT_FALSE(decoded(kernel(".local .b8 l[524289];\nret;")).ok());
  EXPECT_TRUE(decoded(kernel(".local .b8 l[524288];\nret;")).ok());
}

TEST(Decode, ADirectiveOfFewerDimensionsLeavesTheOthersOne) {
  const auto block = [](const std::string& directive) {
    const auto program =
        decoded(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() " + directive + " { ret; }\n");
    EXPECT_TRUE(program.ok()) << program.error().to_string();
    return std::pair{(*program)->required_block, (*program)->largest_block};
  };
  using Extents = std::array<std::uint32_t, 3>;
  EXPECT_EQ(block(".reqntid 32"), std::pair(Extents{32, 1, 1}, Extents{}));
  EXPECT_EQ(block(".maxntid 8, 4"), std::pair(Extents{}, Extents{8, 4, 1}));
  EXPECT_EQ(block(".reqntid 8, 4, 2 .maxntid 64"), std::pair(Extents{8, 4, 2}, Extents{64, 1, 1}));
}

TEST(Decode, RegistersThatAreNeverAliveTogetherShareARow) {
  std::string body = "mov.u32 %r0, 0;\n";
  std::string registers;
  for (int i = 0; i < 500; ++i) {
    registers += ".reg .b32 %x" + std::to_string(i) + ";\n";
    body += "add.u32 %x" + std::to_string(i) + ", %r0, 1;\nadd.u32 %r0, %x" + std::to_string(i) + ", 1;\n";
  }
  const auto program = decoded(kernel(registers + body + "st.global.u32 [%at], %r0;\nret;"));
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  EXPECT_LT((*program)->functions[0].row_bytes, 20U * 256);
}

TEST(Decode, SharingRowsDoesNotMixValues) {
  // Many values alive at once across a loop and a branch, read back in the other order.
  std::string body;
  std::string registers = ".reg .b32 %v<40>;\n";
  for (int i = 0; i < 40; ++i) body += "mad.lo.u32 %v" + std::to_string(i) + ", %lane, " + std::to_string(i) + ", 1;\n";
  body += "mov.u32 %r1, 0;\nLOOP:\nand.b32 %r2, %lane, 1;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra SKIP;\n";
  for (int i = 0; i < 40; i += 2) body += "add.u32 %v" + std::to_string(i) + ", %v" + std::to_string(i) + ", 1;\n";
  body += "SKIP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra LOOP;\nmov.u32 %r0, 0;\n";
  for (int i = 39; i >= 0; --i) body += "mad.lo.u32 %r0, %r0, 31, %v" + std::to_string(i) + ";\n";
  const auto out = words(registers + body + "st.global.u32 [%at], %r0;\nret;");
  EXPECT_EQ(out, table(32, [](auto lane) {
              std::uint32_t r = 0;
              for (std::uint32_t i = 40; i-- > 0;) r = r * 31 + lane * i + 1 + (lane % 2 != 0 && i % 2 == 0 ? 3 : 0);
              return r;
            }));
}

TEST(Decode, ReadsAndWritesNameTheRegisters) {
  const auto program = decoded(
      kernel("setp.lt.u32 %p0, %lane, 3;\n@%p0 mad.lo.u32 %r3, %r0, %r1, %r2;\nst.global.u32 [%at], %r3;\nret;"));
  ASSERT_TRUE(program.ok());
  const Program& p = **program;
  const auto at = [&](std::string_view text) {
    for (std::uint32_t pc = 0; pc < p.info.size(); ++pc)
      if (p.info[pc].text == text) return pc;
    return 0U;
  };
  const std::uint32_t mad = at("mad.lo.u32"), store = at("st.global.u32"), set = at("setp.lt.u32");
  EXPECT_EQ(p.reads(mad).size(), 4U);
  ASSERT_EQ(p.writes(mad).size(), 1U);
  EXPECT_EQ(p.reads(store).size(), 2U);
  EXPECT_TRUE(p.writes(store).empty());
  EXPECT_NE(std::find(p.reads(store).begin(), p.reads(store).end(), p.writes(mad)[0]), p.reads(store).end());
  EXPECT_NE(std::find(p.reads(mad).begin(), p.reads(mad).end(), p.writes(set)[0]), p.reads(mad).end());
  for (const std::uint32_t r : p.registers) EXPECT_LT(r, p.register_count);
}

TEST(Decode, InstructionsAreCountedByClass) {
  Snippet s;
  s.text = kernel(R"(
    .shared .b32 w;
    add.f32 %f0, %f1, %f2;
    fma.rn.f64 %fd0, %fd1, %fd2, %fd3;
    rcp.approx.f32 %f0, %f0;
    cvt.rn.f32.u32 %f1, %r0;
    mov.u32 %r1, %r2;
    ld.global.u32 %r0, [%at];
    st.global.u32 [%at], %r0;
    red.global.add.u32 [%out], 1;
    bar.sync 0;
    shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;
    membar.gl;
    ret;)");
  const Outcome o = run(s);
  EXPECT_EQ(o.error, "");
  const LaunchStatistics& st = o.launches[0].statistics;
  const auto count = [&](Class c) { return st.by_class[static_cast<std::size_t>(c)]; };
  EXPECT_EQ(count(Class::fp32), 1U);
  EXPECT_EQ(count(Class::fp64), 1U);
  EXPECT_EQ(count(Class::special_function), 1U);
  EXPECT_EQ(count(Class::conversion), 1U);
  EXPECT_EQ(count(Class::move), 3U);
  EXPECT_EQ(count(Class::load), 2U);
  EXPECT_EQ(count(Class::store), 1U);
  EXPECT_EQ(count(Class::atomic), 1U);
  EXPECT_EQ(count(Class::barrier), 1U);
  EXPECT_EQ(count(Class::exchange), 1U);
  EXPECT_EQ(count(Class::branch), 1U);
  EXPECT_EQ(count(Class::integer), 2U);
  EXPECT_EQ(count(Class::other), 1U);
  EXPECT_EQ(st.warp_instructions, 17U);
  EXPECT_EQ(st.thread_instructions, 17U * 32);
  EXPECT_EQ(st.blocks, 1U);
}

TEST(Decode, ARefusedFunctionIsAnErrorOfTheKernelsThatNeedIt) {
  const auto module = ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.func f()\n{\n  wgmma.fence.sync.aligned;\n  ret;\n}\n"
      ".entry direct() { wgmma.fence.sync.aligned; ret; }\n.entry calls() { call f; ret; }\n.entry good() { ret; }\n",
      "f.ptx", ptx::OnUnsupported::refuse_function);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_TRUE(decode(*module, "good", "f.ptx").ok());
  EXPECT_EQ(decode(*module, "direct", "f.ptx").error().to_string(), "f.ptx:9:19: unsupported instruction 'wgmma'");
  EXPECT_EQ(decode(*module, "calls", "f.ptx").error().to_string(), "f.ptx:6:3: unsupported instruction 'wgmma'");
}

}  // namespace
}  // namespace wm::exec

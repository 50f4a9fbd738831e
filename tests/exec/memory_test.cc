// Loads and stores: widths, vectors, spaces, generic addresses.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

TEST(Memory, NarrowLoadsAreExtendedBySignOrZero) {
  Snippet s;
  s.inputs = {{0x8001fe7f}};
  s.out_words = 8;
  const auto out = words(R"(
    ld.global.u8 %r0, [%in0+1];
    st.global.u32 [%out], %r0;
    ld.global.s8 %r0, [%in0+1];
    st.global.u32 [%out+4], %r0;
    ld.global.u16 %r0, [%in0+2];
    st.global.u32 [%out+8], %r0;
    ld.global.s16 %r0, [%in0+2];
    st.global.u32 [%out+12], %r0;
    ld.global.s32 %d0, [%in0];
    st.global.u64 [%out+16], %d0;
    ld.global.s8 %h0, [%in0];
    st.global.u16 [%out+24], %h0;
    ld.global.b8 %h0, [%in0+3];
    st.global.u16 [%out+26], %h0;
    ret;)",
                         s);
  EXPECT_EQ(out,
            (std::vector<std::uint32_t>{0xfe, 0xfffffffe, 0x8001, 0xffff8001, 0x8001fe7f, 0xffffffff, 0x80007f, 0}));
}

TEST(Memory, NarrowStoresPreserveTheirNeighbours) {
  Snippet s;
  s.out_words = 2;
  s.block = {1, 1, 1};
  const auto out = words(R"(
    st.global.u64 [%out], 0x1111111111111111;
    mov.u32 %r0, 0xaabbccdd;
    st.global.u8 [%out+1], %r0;
    st.global.u16 [%out+4], %r0;
    ret;)",
                         s);
  EXPECT_EQ(out[0], 0x1111dd11U);
  EXPECT_EQ(out[1], 0x1111ccddU);
}

TEST(Memory, VectorsMoveTheirElementsInOrder) {
  Snippet s;
  s.inputs = {table(128, [](auto i) { return i * 3; })};
  s.out_words = 128;
  const auto out = words(R"(
    mul.wide.u32 %d0, %lane, 16;
    add.u64 %d1, %d0, %in0;
    add.u64 %d2, %d0, %out;
    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d1];
    add.u32 %r3, %r3, 1;
    st.global.v2.u32 [%d2], {%r0, %r1};
    st.global.v2.u32 [%d2+8], {%r2, %r3};
    ret;)",
                         s);
  EXPECT_EQ(out, table(128, [](auto i) { return i * 3 + (i % 4 == 3 ? 1 : 0); }));
}

TEST(Memory, VectorsOfBytesAndAnUnwantedElement) {
  Snippet s;
  s.inputs = {{0x44332211}};
  s.out_words = 1;
  const auto out = words(R"(
    ld.global.v4.u8 {%h0, %h1, _, %h3}, [%in0];
    st.global.v4.u8 [%out], {%h3, %h1, %h0, 7};
    ret;)",
                         s);
  EXPECT_EQ(out[0], 0x07112244U);
}

TEST(Memory, AGuardedLoadPreservesOtherLanes) {
  Snippet s;
  s.inputs = {table(32, [](auto i) { return i + 1000; })};
  const auto out = words(R"(
    mul.wide.u32 %d0, %lane, 4;
    add.u64 %d0, %d0, %in0;
    mov.u32 %r0, 5;
    setp.lt.u32 %p0, %lane, 3;
    @%p0 ld.global.u32 %r0, [%d0];
    @!%p0 st.global.u32 [%at], %r0;
    @%p0 st.global.u32 [%at], %r0;
    ret;)",
                         s);
  EXPECT_EQ(out, table(32, [](auto i) { return i < 3 ? i + 1000 : 5; }));
}

TEST(Memory, AGatherTakesEachLanesOwnWord) {
  Snippet s;
  s.inputs = {table(32, [](auto i) { return i * i; })};
  const auto out = words(R"(
    mul.lo.u32 %r0, %lane, 7;
    and.b32 %r0, %r0, 31;
    mul.wide.u32 %d0, %r0, 4;
    add.u64 %d0, %d0, %in0;
    ld.global.nc.u32 %r1, [%d0];
    st.global.u32 [%at], %r1;
    ret;)",
                         s);
  EXPECT_EQ(out, table(32, [](auto i) { return (i * 7 % 32) * (i * 7 % 32); }));
}

TEST(Memory, StoresOfSeveralLanesToOneWordKeepTheLast) {
  Snippet s;
  s.out_words = 1;
  EXPECT_EQ(words("st.global.u32 [%out], %lane;\nret;", s)[0], 31U);
}

TEST(Memory, SharedMemoryStaticAndDynamic) {
  Snippet s;
  s.text = kernel(R"(
    shl.b32 %r0, %lane, 2;
    mov.u32 %r1, fixed;
    add.u32 %r1, %r1, %r0;
    st.shared.u32 [%r1], %lane;
    mov.u64 %d0, more;
    cvt.u64.u32 %d1, %r0;
    add.u64 %d0, %d0, %d1;
    mul.lo.u32 %r2, %lane, 10;
    st.shared.u32 [%d0], %r2;
    xor.b32 %r0, %r0, 124;
    mov.u32 %r1, fixed;
    add.u32 %r1, %r1, %r0;
    ld.shared.u32 %r3, [%r1];
    mov.u32 %r1, more;
    add.u32 %r1, %r1, %r0;
    ld.shared.u32 %r4, [%r1];
    add.u32 %r3, %r3, %r4;
    mov.u32 %r5, %dynamic_smem_size;
    add.u32 %r3, %r3, %r5;
    st.global.u32 [%at], %r3;
    ret;)",
                  ".shared .align 4 .b32 fixed[32];\n.extern .shared .align 16 .b8 more[];");
  s.shared = 128;
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return (31 - i) * 11 + 128; }));
}

TEST(Memory, AFunctionsSharedVariableIsTheSameForAllWarps) {
  Snippet s;
  s.block = {64, 1, 1};
  s.out_words = 64;
  s.text = kernel(R"(
    .shared .b32 word;
    setp.eq.u32 %p0, %thread, 0;
    @%p0 st.shared.u32 [word], 77;
    bar.sync 0;
    ld.shared.u32 %r0, [word];
    st.global.u32 [%at], %r0;
    ret;)");
  EXPECT_EQ(run(s).out, table(64, [](auto) { return 77; }));
}

TEST(Memory, LocalMemoryIsEachThreadsOwn) {
  const auto out = words(R"(
    .local .align 8 .b8 stack[64];
    mov.u64 %d0, stack;
    st.local.u32 [%d0+8], %lane;
    cvta.local.u64 %d1, %d0;
    ld.u32 %r0, [%d1+8];
    st.u32 [%d1+12], %r0;
    ld.local.u32 %r1, [stack+12];
    mul.lo.u32 %r1, %r1, 3;
    st.global.u32 [%at], %r1;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto i) { return i * 3; }));
}

TEST(Memory, GenericAddressesReachEverySpace) {
  Snippet s;
  s.inputs = {{4242}};
  s.text = kernel(R"(
    .local .b32 own;
    .shared .b32 ours;
    mov.u64 %d0, own;
    cvta.local.u64 %d0, %d0;
    st.u32 [%d0], 1;
    mov.u64 %d1, ours;
    cvta.shared.u64 %d1, %d1;
    st.u32 [%d1], 2;
    cvta.global.u64 %d2, %in0;
    mov.u64 %d3, constant;
    cvta.const.u64 %d3, %d3;
    and.b32 %r0, %lane, 3;
    mov.u64 %d4, %d0;
    setp.eq.u32 %p0, %r0, 1;
    @%p0 mov.u64 %d4, %d1;
    setp.eq.u32 %p0, %r0, 2;
    @%p0 mov.u64 %d4, %d2;
    setp.eq.u32 %p0, %r0, 3;
    @%p0 mov.u64 %d4, %d3;
    ld.u32 %r1, [%d4];
    isspacep.shared %p1, %d4;
    @%p1 add.u32 %r1, %r1, 1000;
    isspacep.local %p1, %d4;
    @%p1 add.u32 %r1, %r1, 2000;
    isspacep.global %p1, %d4;
    @%p1 add.u32 %r1, %r1, 3000;
    isspacep.const %p1, %d4;
    @%p1 add.u32 %r1, %r1, 10000;
    cvta.to.shared.u64 %d5, %d1;
    ld.shared.u32 %r2, [%d5];
    mad.lo.u32 %r1, %r2, 100000, %r1;
    st.global.u32 [%at], %r1;
    ret;)",
                  ".const .b32 constant = 31337;", 1);
  const std::uint32_t expected[] = {202001, 201002, 207242, 244337};
  EXPECT_EQ(run(s).out, table(32, [&](auto i) { return expected[i % 4]; }));
}

TEST(Memory, GlobalVariablesHaveTheirInitialValues) {
  Snippet s;
  s.out_words = 6;
  s.text = kernel(R"(
    ld.global.u32 %r0, [numbers+8];
    st.global.u32 [%out], %r0;
    ld.global.u64 %d0, [pointer];
    ld.u32 %r0, [%d0];
    st.global.u32 [%out+4], %r0;
    ld.global.u32 %r0, [zero+4];
    st.global.u32 [%out+8], %r0;
    ld.const.f32 %f0, [pi];
    st.global.f32 [%out+12], %f0;
    mov.u64 %d1, numbers+4;
    ld.global.u32 %r0, [%d1];
    st.global.u32 [%out+16], %r0;
    ret;)",
                  ".global .align 4 .u32 numbers[4] = {10, 20, 30, 40};\n.global .align 8 .u64 pointer = numbers+12;\n"
                  ".global .align 4 .b8 zero[16];\n.const .align 4 .f32 pi = 0f40490FDB;");
  EXPECT_EQ(run(s).out, (std::vector<std::uint32_t>{30, 40, 0, 0x40490fdb, 20, 0}));
}

TEST(Memory, AStructPassedByValueIsReadThroughItsAddress) {
  auto module = ptx::parse(R"(
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 out, .param .align 8 .b8 pair[16])
    {
      .reg .b64 %d<4>;
      .reg .b32 %r<4>;
      ld.param.u64 %d0, [out];
      mov.b64 %d1, pair;
      ld.param.u32 %r0, [%d1+4];
      ld.param.u64 %d2, [pair+8];
      st.global.u32 [%d0], %r0;
      st.global.u64 [%d0+8], %d2;
      ret;
    })");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  struct Pair {
    std::uint32_t a, b;
    std::uint64_t c;
  };
  gpu::Application app;
  const auto out = app.add("out", std::vector<std::uint64_t>(2));
  app.upload(out);
  app.launch({"k", {}, {}, {gpu::buffer(out), gpu::scalar(Pair{1, 2, 0x123456789aULL})}, 0});
  const auto ran = run_application(*module, app);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  std::uint64_t got[2];
  std::memcpy(got, ran->buffers[0].data(), sizeof got);
  EXPECT_EQ(got[0], 2U);
  EXPECT_EQ(got[1], 0x123456789aU);
}

TEST(Memory, OpenClLocalArgumentsFollowOneAnother) {
  auto module = ptx::parse(R"(
    .version 8.0
    .target sm_75
    .address_size 64
    .visible .entry k(.param .u64 out, .param .u64 .ptr .shared .align 4 a, .param .u64 .ptr .shared .align 4 b)
    {
      .reg .b64 %d<4>;
      .reg .b32 %r<4>;
      .reg .b64 %q;
      ld.param.u64 %d0, [out];
      ld.param.u64 %d1, [a];
      ld.param.u64 %d2, [b];
      mov.u32 %r0, %laneid;
      mul.wide.u32 %q, %r0, 4;
      add.u64 %d1, %d1, %q;
      add.u64 %d2, %d2, %q;
      add.u64 %d0, %d0, %q;
      st.shared.u32 [%d1], %r0;
      st.shared.u32 [%d2], 100;
      ld.shared.u32 %r1, [%d1];
      ld.shared.u32 %r2, [%d2];
      add.u32 %r1, %r1, %r2;
      st.global.u32 [%d0], %r1;
      ret;
    })");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  gpu::Application app;
  const auto out = app.add("out", std::vector<std::uint32_t>(32));
  app.upload(out);
  app.launch({"k", {}, {32, 1, 1}, {gpu::buffer(out), gpu::LocalMemory{128}, gpu::LocalMemory{128}}, 0});
  const auto ran = run_application(*module, app);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  std::vector<std::uint32_t> got(32);
  std::memcpy(got.data(), ran->buffers[0].data(), 128);
  EXPECT_EQ(got, table(32, [](auto i) { return i + 100; }));
}

}  // namespace
}  // namespace wm::exec

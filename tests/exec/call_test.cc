// Calls: parameters in .param space and in registers, divergence, recursion, function pointers.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

constexpr const char* kSquare = R"(
.func (.param .b32 r) square(.param .b32 x)
{
  .reg .b32 %a;
  ld.param.b32 %a, [x];
  mul.lo.u32 %a, %a, %a;
  st.param.b32 [r], %a;
  ret;
}
)";

std::string call(const std::string& name, const std::string& from, const std::string& to) {
  return "{ .param .b32 p; .param .b32 q; st.param.b32 [p], " + from + "; call.uni (q), " + name +
         ", (p); ld.param.b32 " + to + ", [q]; }\n";
}

TEST(Call, AFunctionGetsItsArgumentsAndGivesItsResult) {
  Snippet s;
  s.text = kernel(call("square", "%lane", "%r0") + "st.global.u32 [%at], %r0;\nret;", kSquare);
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i * i; }));
}

TEST(Call, LanesThatDoNotCallKeepTheirs) {
  Snippet s;
  s.text = kernel(
      "setp.lt.u32 %p0, %lane, 4;\nmov.u32 %r0, 99;\n.param .b32 p; .param .b32 q;\nst.param.b32 [p], %lane;\n"
      "st.param.b32 [q], 7;\n@%p0 call (q), square, (p);\nld.param.b32 %r0, [q];\n"
      "activemask.b32 %r1;\nsetp.ne.u32 %p1, %r1, -1;\n@%p1 mov.u32 %r0, 555;\n"
      "st.global.u32 [%at], %r0;\nret;",
      kSquare);
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i < 4 ? i * i : 7; }));
}

TEST(Call, ParametersInRegisters) {
  Snippet s;
  s.text = kernel("call (%r0), add3, (%lane, 10, %r5);\nst.global.u32 [%at], %r0;\nret;", R"(
.func (.reg .b32 %sum) add3(.reg .b32 %a, .reg .b32 %b, .reg .b32 %c)
{
  add.u32 %sum, %a, %b;
  add.u32 %sum, %sum, %c;
  ret;
}
)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i + 10; }));
}

TEST(Call, ReturnsFromDifferentPlacesMeetBehindTheCall) {
  Snippet s;
  s.text = kernel(call("step", "%lane", "%r0") +
                      "activemask.b32 %r1;\nsetp.ne.u32 %p1, %r1, -1;\n@%p1 mov.u32 %r0, 555;\n"
                      "st.global.u32 [%at], %r0;\nret;",
                  R"(
.func (.param .b32 r) step(.param .b32 x)
{
  .reg .b32 %a;
  .reg .pred %p;
  ld.param.b32 %a, [x];
  setp.lt.u32 %p, %a, 8;
  @%p bra LOW;
  setp.lt.u32 %p, %a, 16;
  @!%p bra HIGH;
  st.param.b32 [r], 2;
  ret;
HIGH:
  st.param.b32 [r], 3;
  ret;
LOW:
  st.param.b32 [r], 1;
  ret;
}
)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i < 8 ? 1 : i < 16 ? 2 : 3; }));
}

TEST(Call, FunctionsCallFunctionsWithTheirOwnLocals) {
  Snippet s;
  s.text = kernel(call("outer", "%lane", "%r0") + "st.global.u32 [%at], %r0;\nret;", std::string(kSquare) + R"(
.func (.param .b32 r) outer(.param .b32 x)
{
  .reg .b32 %a<4>;
  .local .b32 kept[2];
  ld.param.b32 %a0, [x];
  st.local.b32 [kept+4], %a0;
  add.u32 %a1, %a0, 1;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %a1; call.uni (q), square, (p); ld.param.b32 %a2, [q]; }
  ld.local.b32 %a0, [kept+4];
  add.u32 %a2, %a2, %a0;
  st.param.b32 [r], %a2;
  ret;
}
)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return (i + 1) * (i + 1) + i; }));
}

// One lane has taken so much memory with alloca that the variables of the function do not fit below it.
TEST(Call, TheStackOfEveryLaneMustHaveRoomForTheVariablesOfAFunction) {
  const auto error = [](int bytes) {
    Snippet s;
    s.text = kernel("mov.u64 %d0, 8;\nsetp.eq.u32 %p0, %lane, 3;\n@%p0 mov.u64 %d0, " + std::to_string(bytes) +
                        ";\nalloca.u64 %d1, %d0;\ncall outer;\nret;",
                    ".func outer() { .local .b32 kept[4]; st.local.b32 [kept], 1; ret; }\n");
    return run(s).error;
  };
  EXPECT_EQ(error(16384), "");
  EXPECT_EQ(error(16385),
            "kernel 'k': stack overflow in the call of 'outer', 0 calls deep, at k.ptx:26, block (0,0,0) thread "
            "(0,0,0)");
}

// Each lane calls the function its own pointer names.
TEST(Call, FunctionPointersMayDiffer) {
  Snippet s;
  s.text = kernel(R"(
    and.b32 %r0, %lane, 1;
    setp.eq.u32 %p0, %r0, 0;
    mov.u64 %d0, square;
    mov.u64 %d1, twice;
    @%p0 mov.u64 %d0, %d1;
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], %lane;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q), %d0, (p), proto;
    ld.param.b32 %r1, [q];
    st.global.u32 [%at], %r1;
    ret;)",
                  std::string(kSquare) + R"(
.func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %a;
  ld.param.b32 %a, [x];
  add.u32 %a, %a, %a;
  st.param.b32 [r], %a;
  ret;
}
)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i % 2 == 0 ? 2 * i : i * i; }));
}

TEST(Call, APointerToNothingIsAFault) {
  Snippet s;
  s.text = kernel("proto: .callprototype _ ();\nmov.u64 %d0, 4096;\ncall %d0, proto;\nret;");
  EXPECT_NE(run(s).error.find("call to 0x1000, which is no function of this kernel that fits"), std::string::npos)
      << run(s).error;
}

constexpr const char* kFactorial = R"(
.func (.param .b32 r) factorial(.param .b32 x)
{
  .reg .b32 %a<4>;
  .reg .pred %p;
  ld.param.b32 %a0, [x];
  setp.le.u32 %p, %a0, 1;
  @%p bra ONE;
  sub.u32 %a1, %a0, 1;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %a1; call (q), factorial, (p); ld.param.b32 %a2, [q]; }
  mul.lo.u32 %a2, %a2, %a0;
  st.param.b32 [r], %a2;
  ret;
ONE:
  st.param.b32 [r], 1;
  ret;
}
)";

TEST(Call, RecursionGoesAsDeepAsEachLaneNeeds) {
  Snippet s;
  s.text = kernel("and.b32 %r1, %lane, 7;\n" + call("factorial", "%r1", "%r0") + "st.global.u32 [%at], %r0;\nret;",
                  kFactorial);
  EXPECT_EQ(run(s).error, "");
  const std::uint32_t f[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  EXPECT_EQ(run(s).out, table(32, [&](auto i) { return f[i % 8]; }));
}

TEST(Call, RecursionWithoutEndIsAStackOverflow) {
  Snippet s;
  s.text = kernel("call forever;\nret;", ".func forever()\n{\ncall forever;\nret;\n}\n");
  EXPECT_NE(run(s).error.find("stack overflow in the call of 'forever', 512 calls deep"), std::string::npos)
      << run(s).error;
}

TEST(Call, AnExitInAFunctionEndsTheThread) {
  Snippet s;
  s.text = kernel("call leave, (%lane);\nst.global.u32 [%at], 1;\nret;",
                  ".func leave(.reg .b32 %a)\n{\n.reg .pred %p;\nsetp.lt.u32 %p, %a, 5;\n@%p exit;\nret;\n}\n");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i < 5 ? 0 : 1; }));
}

TEST(Call, AFunctionMayBeDeclaredBeforeItsBody) {
  Snippet s;
  s.text = kernel(call("square", "%lane", "%r0") + "st.global.u32 [%at], %r0;\nret;",
                  ".func (.param .b32 r) square(.param .b32 x);\n" + std::string(kSquare));
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i * i; }));
}

TEST(Call, FramesTooLargeAreAStackOverflow) {
  Snippet s;
  s.text = kernel("call deep;\nret;", ".func deep()\n{\n.param .b8 large[60000];\ncall deep;\nret;\n}\n");
  EXPECT_NE(run(s).error.find("stack overflow in the call of 'deep'"), std::string::npos) << run(s).error;
}

TEST(Call, AResultNeedsAPlace) {
  Snippet s;
  s.text = kernel("call (5), give;\nret;", ".func (.reg .b32 %x) give()\n{\nmov.u32 %x, 1;\nret;\n}\n");
  EXPECT_EQ(run(s).error, "k.ptx:26:1: 'call' has a result that nothing can take");
}

TEST(Call, PredicatesArePassedToo) {
  Snippet s;
  s.text = kernel(
      "setp.lt.u32 %p0, %lane, 9;\ncall (%p1), turn, (%p0);\nselp.u32 %r0, 1, 2, %p1;\n"
      "st.global.u32 [%at], %r0;\nret;",
      ".func (.reg .pred %y) turn(.reg .pred %x)\n{\nnot.pred %y, %x;\nret;\n}\n");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i < 9 ? 2 : 1; }));
}

TEST(Call, AFunctionWithoutABodyIsRefused) {
  Snippet s;
  s.text = kernel("call nowhere;\nret;", ".extern .func nowhere();\n");
  EXPECT_EQ(run(s).error, "k.ptx:4:15: 'nowhere' is called and has no body in this module");
}

}  // namespace
}  // namespace wm::exec

// Calls, returns and stacks in unusual ways: what these kernels do is as written down in golden_execution.csv.
#include "exec/golden_source.h"

namespace wm::exec::test {
namespace {

constexpr const char* kFunctions = R"(
.func (.param .b32 r) early(.param .b32 x)
{
  .reg .b32 %a<4>;
  .reg .pred %p<2>;
  ld.param.b32 %a0, [x];
  setp.lt.u32 %p0, %a0, 5;
  st.param.b32 [r], 11;
  @%p0 ret;
  setp.lt.u32 %p0, %a0, 20;
  st.param.b32 [r], 12;
  @!%p0 ret;
  mul.lo.u32 %a0, %a0, 3;
  st.param.b32 [r], %a0;
}
.func (.reg .pred %q, .reg .b64 %wide) flags(.reg .pred %p, .reg .b16 %h, .reg .b64 %d)
{
  .reg .b32 %a;
  not.pred %q, %p;
  cvt.u32.u16 %a, %h;
  mad.wide.u32 %wide, %a, 9, %d;
  ret;
}
.func (.param .align 8 .b8 r[24]) rotate(.param .b8 first, .param .align 8 .b8 x[24], .param .b16 last)
{
  .reg .b64 %d<4>;
  .reg .b32 %a<2>;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [x+8];
  ld.param.u64 %d2, [x+16];
  ld.param.u8 %a0, [first];
  ld.param.u16 %a1, [last];
  mad.wide.u32 %d2, %a0, %a1, %d2;
  st.param.u64 [r], %d2;
  st.param.u64 [r+8], %d0;
  st.param.u64 [r+16], %d1;
  ret;
}
.func (.param .b32 r) down(.param .b32 x)
{
  .reg .b32 %a<4>;
  .reg .pred %p;
  .local .align 4 .b32 own[3];
  ld.param.b32 %a0, [x];
  st.local.b32 [own+4], %a0;
  setp.eq.u32 %p, %a0, 0;
  @%p bra ZERO;
  sub.u32 %a1, %a0, 1;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %a1; call (q), down, (p); ld.param.b32 %a2, [q]; }
  ld.local.b32 %a0, [own+4];
  mad.lo.u32 %a2, %a2, 3, %a0;
  st.param.b32 [r], %a2;
  ret;
ZERO:
  st.param.b32 [r], 7;
  ret;
}
.func (.param .b32 r) takes(.param .b32 x)
{
  .reg .b32 %a<3>;
  .reg .b64 %d<3>;
  ld.param.b32 %a0, [x];
  and.b32 %a1, %a0, 7;
  shl.b32 %a1, %a1, 2;
  add.u32 %a1, %a1, 8;
  cvt.u64.u32 %d1, %a1;
  alloca.u64 %d0, %d1, 16;
  st.local.u32 [%d0+4], %a0;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %a0; call (q), early, (p); ld.param.b32 %a2, [q]; }
  ld.local.u32 %a1, [%d0+4];
  cvt.u32.u64 %a0, %d0;
  mad.lo.u32 %a1, %a1, %a2, %a0;
  st.param.b32 [r], %a1;
  ret;
}
)";

std::string called(const std::string& name, const std::string& from, const std::string& to,
                   const std::string& guard = "") {
  return fmt::format(
      "{{ .param .b32 p; .param .b32 q; st.param.b32 [p], {}; st.param.b32 [q], 3; {} call (q), {}, (p); "
      "ld.param.b32 {}, [q]; }}\n",
      from, guard, name, to);
}

const std::map<std::string, Source>& call_sources() {
  static const std::map<std::string, Source> all = {
      {"returns early", {called("early", "%lane", "%r0") + kStore, kFunctions}},
      {"guarded call", {"setp.gt.u32 %p0, %lane, 6;\n" + called("early", "%lane", "%r0", "@%p0") + kStore, kFunctions}},
      {"recursion", {"and.b32 %r1, %lane, 7;\n" + called("down", "%r1", "%r0") + kStore, kFunctions}},
      {"deep recursion", {called("down", "600", "%r0") + kStore, kFunctions}},
      {"alloca in a call", {called("takes", "%lane", "%r0") + called("takes", "%r0", "%r0") + kStore, kFunctions}},
      {"results in registers",
       {"setp.lt.u32 %p0, %lane, 9;\ncvt.u16.u32 %h0, %lane;\ncall (%p1, %d3), flags, (%p0, %h0, 77);\n"
        "cvt.u32.u64 %r0, %d3;\n@%p1 add.u32 %r0, %r0, 1000;\nsetp.lt.u32 %p2, %lane, 20;\n"
        "@%p2 call (%p1, %d3), flags, (%p1, %h0, %d3);\ncvt.u32.u64 %r1, %d3;\nadd.u32 %r0, %r0, %r1;\n" +
            std::string(kStore),
        kFunctions}},
      {"structures",
       {".param .b8 f; .param .align 8 .b8 p[24]; .param .b16 l; .param .align 8 .b8 q[24];\ncvt.u64.u32 %d0, %lane;\n"
        "st.param.u64 [p], %d0;\nst.param.u64 [p+8], %at;\nst.param.u64 [p+16], 5;\nst.param.u8 [f], %lane;\n"
        "st.param.u16 [l], %thread;\ncall (q), rotate, (f, p, l);\nld.param.u64 %d1, [q];\nld.param.u64 %d2, [q+16];\n"
        "sub.u64 %d2, %d2, %out;\nadd.u64 %d1, %d1, %d2;\ncvt.u32.u64 %r0, %d1;\n" +
            std::string(kStore),
        kFunctions}},
      {"pointers to functions",
       {"mov.u64 %d0, early;\nmov.u64 %d1, down;\nand.b32 %r1, %lane, 5;\nsetp.eq.u32 %p0, %r1, 4;\n"
        "selp.b64 %d0, %d0, %d1, %p0;\n.param .b32 p; .param .b32 q;\nst.param.b32 [p], %r1;\nst.param.b32 [q], 9;\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\nsetp.ne.u32 %p1, %lane, 3;\n"
        "@%p1 call (q), %d0, (p), proto;\nld.param.b32 %r0, [q];\n" +
            std::string(kStore),
        kFunctions}},
      {"list of targets",
       {"mov.u64 %d0, early;\nmov.u64 %d1, takes;\nsetp.lt.u32 %p0, %lane, 12;\nselp.b64 %d0, %d0, %d1, %p0;\n"
        ".param .b32 p; .param .b32 q;\nst.param.b32 [p], %lane;\nlist: .calltargets early, takes;\n"
        "call (q), %d0, (p), list;\nld.param.b32 %r0, [q];\n" +
            std::string(kStore),
        kFunctions}},
      {"pointer to no function",
       {".param .b32 p; .param .b32 q;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\nmov.u64 %d0, flags;\n"
        "call (q), %d0, (p), proto;\nret;",
        kFunctions}},
      {"stack",
       {"mad.lo.u32 %r1, %lane, 4, 4;\nstacksave.u64 %d0;\ncvt.u64.u32 %d1, %r1;\nalloca.u64 %d2, %d1, 32;\n"
        "st.local.u32 [%d2], %lane;\nstacksave.u64 %d3;\nalloca.u64 %d4, 64;\nst.local.u32 [%d4+60], 7;\n"
        "ld.local.u32 %r2, [%d2];\nstackrestore.u64 %d3;\nalloca.u64 %d5, 8;\nsub.u64 %d6, %d4, %d5;\n"
        "stackrestore.u64 %d0;\nstacksave.u64 %d7;\nsub.u64 %d7, %d7, %d2;\nadd.u64 %d6, %d6, %d7;\n"
        "cvt.u32.u64 %r0, %d6;\nadd.u32 %r0, %r0, %r2;\nalloca.u32 %r3, %r1;\nadd.u32 %r0, %r0, %r3;\n" +
            std::string(kStore),
        ""}},
      {"stack overflow", {"mul.wide.u32 %d0, %lane, 4096;\nalloca.u64 %d1, %d0;\nst.local.u32 [%d1], 1;\nret;", ""}},
  };
  return all;
}

TEST(GoldenCalls, AreAsWrittenDown) { expect_golden(call_sources()); }

}  // namespace
}  // namespace wm::exec::test

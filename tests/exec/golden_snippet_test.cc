// Barriers, exchanges, copies and functions of the machine in unusual ways: what these kernels do is as written down in
// golden_execution.csv.
#include "exec/golden_source.h"

namespace wm::exec::test {
namespace {

std::string string_variable(const std::string& name, const std::string& content) {
  std::string list;
  for (const char c : content + '\0')
    list += (list.empty() ? "" : ", ") + std::to_string(static_cast<unsigned char>(c));
  return fmt::format(".global .align 1 .b8 {}[{}] = {{{}}};\n", name, content.size() + 1, list);
}

// The first three threads print a number, a width, a real number, a string and a long number, as `format` says.
constexpr const char* kPrint = R"(
    .local .align 8 .b8 buffer[64];
    .param .b64 f; .param .b64 a; .param .b32 q;
    setp.gt.u32 %p0, %thread, 2;
    @%p0 ret;
    sub.u32 %r1, %thread, 1;
    st.local.u32 [buffer], %r1;
    st.local.u32 [buffer+4], 8;
    cvt.rn.f64.s32 %fd0, %r1;
    mul.f64 %fd0, %fd0, 0d400921FB54442D18;
    st.local.f64 [buffer+8], %fd0;
    mov.u64 %d0, name;
    cvta.global.u64 %d0, %d0;
    st.local.u64 [buffer+16], %d0;
    st.local.u64 [buffer+24], 0x123456789;
    mov.u64 %d1, format;
    cvta.global.u64 %d1, %d1;
    mov.u64 %d2, buffer;
    cvta.local.u64 %d2, %d2;
    st.param.b64 [f], %d1;
    st.param.b64 [a], %d2;
    call (q), vprintf, (f, a);
    ld.param.b32 %r0, [q];
    )";

Source print_of(const std::string& format) {
  return {kPrint + std::string(kStore), ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" +
                                            string_variable("format", format) + string_variable("name", "name")};
}

std::string copy_of(int bytes, const std::string& more) {
  return fmt::format(R"(
    .shared .align 16 .b8 tile[1024];
    mov.u32 %r1, tile;
    mad.lo.u32 %r1, %thread, 16, %r1;
    mul.wide.u32 %d0, %thread, 16;
    add.u64 %d0, %d0, %out;
    st.global.v4.u32 [%d0], {{%thread, %lane, %r1, %thread}};
    st.shared.v4.u32 [%r1], {{-1, -1, -1, -1}};
    and.b32 %r2, %thread, 15;
    setp.lt.u32 %p1, %r2, 9;
    cp.async.ca.shared.global [%r1], [%d0], {}{};
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r1];
    st.global.v4.u32 [%d0+4096], {{%r4, %r5, %r6, %r7}};
    ret;)",
                     bytes, more);
}

std::string matrix_of(const std::string& load, bool is_generic) {
  return fmt::format(R"(
    .shared .align 16 .b16 tile[512];
    mov.u32 %r1, tile;
    mad.lo.u32 %r1, %lane, 16, %r1;
    mul.lo.u32 %r2, %lane, 0x01010203;
    st.shared.v4.u32 [%r1], {{%r2, %lane, %thread, %r1}};
    bar.sync 0;
    cvt.u64.u32 %d0, %r1;
    {}
    setp.gt.u32 %p0, %lane, 15;
    @%p0 mov.u64 %d0, 0x7777777777777777;
    {}
    st.global.u32 [%at+2048], %r4;
    st.global.u32 [%at+4096], %r5;
    ld.shared.u32 %r0, [%r1];
    )",
                     is_generic ? "cvta.shared.u64 %d0, %d0;" : "", load) +
         kStore;
}

const std::map<std::string, Source>& sources() {
  static const std::map<std::string, Source> all = {
      {"barrier reductions",
       {"setp.eq.u32 %p0, %thread, 5;\nbar.red.or.pred %p1, 1, %p0;\nbar.red.and.pred %p2, 1, !%p0;\n"
        "bar.red.popc.u32 %r0, 2, %p0;\nsetp.ge.u32 %p3, %thread, 0;\nbar.red.and.pred %p4, 1, %p3;\n"
        "bar.red.or.pred %p5, 3, !%p3;\nbar.red.popc.u32 %r1, 2, !%p0;\nselp.u32 %r2, 1, 0, %p1;\nselp.u32 %r3, 2, 0, "
        "%p2;\n"
        "selp.u32 %r4, 4, 0, %p4;\nselp.u32 %r5, 8, 0, %p5;\nmad.lo.u32 %r0, %r0, 100, %r2;\nadd.u32 %r0, %r0, %r3;\n"
        "add.u32 %r0, %r0, %r4;\nadd.u32 %r0, %r0, %r5;\nmad.lo.u32 %r0, %r1, 1000, %r0;\n" +
            std::string(kStore),
        ""}},
      {"barrier with arrivals",
       {".shared .b32 w;\nsetp.lt.u32 %p0, %thread, 32;\n@%p0 bra FIRST;\nst.shared.u32 [w], 55;\nbar.arrive 4, "
        "64;\nret;\n"
        "FIRST:\nbar.sync 4, 64;\nld.shared.u32 %r0, [w];\n" +
            std::string(kStore),
        ""}},
      {"barrier after exits",
       {"setp.gt.u32 %p0, %thread, 40;\n@%p0 exit;\nand.b32 %r1, %lane, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 exit;\n"
        "bar.sync 0;\nactivemask.b32 %r0;\n" +
            std::string(kStore),
        ""}},
      {"barrier guarded",
       {"setp.lt.u32 %p0, %lane, 7;\n@%p0 bar.sync 0;\nactivemask.b32 %r0;\n@!%p0 bar.sync 0;\n" + std::string(kStore),
        ""}},
      {"barrier never complete",
       {"setp.lt.u32 %p0, %thread, 32;\n@%p0 bra A;\nbar.sync 1;\nret;\nA:\nbar.sync 2;\nret;", ""}},
      {"exchanges of paths",
       {"and.b32 %r1, %lane, 3;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra A;\nshfl.sync.up.b32 %r2|%p1, %lane, 3, 0, "
        "-1;\nbra B;\n"
        "A:\nshfl.sync.up.b32 %r2|%p1, %thread, 3, 0, -1;\nB:\nselp.u32 %r3, 100, 0, %p1;\nadd.u32 %r0, %r2, %r3;\n"
        "@!%p0 bra C;\nvote.sync.ballot.b32 %r4, %p1, 0x11111111;\nadd.u32 %r0, %r0, %r4;\n"
        "redux.sync.add.s32 %r5, %lane, 0x11111111;\nadd.u32 %r0, %r0, %r5;\nbar.warp.sync 0x11111111;\nC:\n"
        "match.any.sync.b32 %r6, %r1, -1;\nmatch.all.sync.b64 %r7|%p2, %at, -1;\nadd.u32 %r0, %r0, %r6;\n"
        "selp.u32 %r7, 1, %r7, %p2;\nadd.u32 %r0, %r0, %r7;\nelect.sync %r8|%p3, 0xfffffff0;\n@%p3 add.u32 %r0, %r0, "
        "5000;\n"
        "add.u32 %r0, %r0, %r8;\n" +
            std::string(kStore),
        ""}},
      {"shuffles of parts",
       {"shfl.sync.down.b32 %r1|%p0, %lane, 2, 0x1807, -1;\nshfl.sync.bfly.b32 %r2|%p1, %lane, 9, 0x0f1f, -1;\n"
        "shfl.sync.idx.b32 %r3|%p2, %lane, 5, 0x181f, -1;\nshfl.sync.up.b32 %r4|%p3, %lane, 1, 0x1800, -1;\n"
        "selp.u32 %r5, 1, 0, %p0;\nselp.u32 %r6, 2, %r5, %p1;\nselp.u32 %r7, 4, %r6, %p2;\nselp.u32 %r8, 8, %r7, %p3;\n"
        "mad.lo.u32 %r0, %r1, 7, %r2;\nmad.lo.u32 %r0, %r0, 7, %r3;\nmad.lo.u32 %r0, %r0, 7, %r4;\n"
        "mad.lo.u32 %r0, %r0, 7, %r8;\n" +
            std::string(kStore),
        ""}},
      {"exchange of lanes that ended",
       {"setp.gt.u32 %p0, %lane, 20;\n@%p0 exit;\nshfl.sync.down.b32 %r0|%p1, %lane, 4, 31, -1;\n"
        "vote.sync.ballot.b32 %r1, %p1, -1;\nadd.u32 %r0, %r0, %r1;\n" +
            std::string(kStore),
        ""}},
      {"waits for another block",
       {"mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p0, %r1, 1;\n@%p0 bra SECOND;\nWAIT:\nld.volatile.global.u32 %r0, "
        "[%out+8000];\n"
        "setp.ne.u32 %p1, %r0, 77;\n@%p1 bra WAIT;\n" +
            std::string(kStore) + "\nSECOND:\nst.volatile.global.u32 [%out+8000], 77;\nret;",
        ""}},
      {"exchange of three paths",
       {"and.b32 %r1, %lane, 3;\nmov.u32 %r3, 0x33333333;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra A;\nmov.u32 %r3, "
        "0x77777777;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra B;\nsetp.eq.u32 %p2, %r1, 3;\n@%p2 bra C;\n"
        "redux.sync.add.u32 %r0, %lane, %r3;\nbra C;\nA:\nredux.sync.add.u32 %r0, %lane, %r3;\nbra C;\nB:\n"
        "redux.sync.add.u32 %r0, %lane, %r3;\nC:\n" +
            std::string(kStore),
        ""}},
      {"indexed branch",
       {"and.b32 %r1, %lane, 3;\nsetp.ne.u32 %p0, %lane, 6;\nmov.u32 %r0, 1;\nts: .branchtargets A, B, A, C;\n"
        "@%p0 brx.idx %r1, ts;\nadd.u32 %r0, %r0, 100;\nbra D;\nA:\nadd.u32 %r0, %r0, 10;\nB:\nadd.u32 %r0, %r0, "
        "20;\nbra D;\n"
        "C:\nadd.u32 %r0, %r0, 40;\nD:\nactivemask.b32 %r2;\nxor.b32 %r0, %r0, %r2;\n" +
            std::string(kStore),
        ""}},
      {"special registers",
       {[] {
          std::string body = "mov.u32 %r0, 0;\n";
          for (const char* name : {"%tid.y",
                                   "%ntid.x",
                                   "%ntid.z",
                                   "%ctaid.x",
                                   "%nctaid.x",
                                   "%nctaid.y",
                                   "%warpid",
                                   "%nwarpid",
                                   "%smid",
                                   "%nsmid",
                                   "%lanemask_lt",
                                   "%lanemask_le",
                                   "%lanemask_eq",
                                   "%lanemask_ge",
                                   "%lanemask_gt",
                                   "%clock",
                                   "%clock_hi",
                                   "%total_smem_size",
                                   "%dynamic_smem_size",
                                   "%aggr_smem_size",
                                   "%envreg3",

                                   "%cluster_ctaid.x",
                                   "%cluster_nctaid.x"})
            body += fmt::format("mov.u32 %r1, {};\nmad.lo.u32 %r0, %r0, 31, %r1;\n", name);
          for (const char* name : {"%gridid", "%clock64", "%globaltimer"})
            body += fmt::format("mov.u64 %d0, {};\ncvt.u32.u64 %r1, %d0;\nmad.lo.u32 %r0, %r0, 31, %r1;\n", name);
          return body + kStore;
        }(),
        ""}},
      {"heap",
       {".param .b64 p; .param .b64 q;\nmad.wide.u32 %d0, %lane, 8, 16;\nst.param.b64 [p], %d0;\n"
        "call (q), malloc, (p);\nld.param.b64 %d1, [q];\nst.u32 [%d1], %lane;\nst.u32 [%d1+12], 3;\nld.u32 %r0, "
        "[%d1];\n"
        "st.param.b64 [p], %d1;\ncall free, (p);\n" +
            std::string(kStore),
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"}},
      {"free of what was not allocated",
       {".param .b64 p;\nst.param.b64 [p], %at;\ncall free, (p);\nret;", ".extern .func free(.param .b64 p);\n"}},
      {"assertion",
       {".param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;\nsetp.ne.u32 %p0, %thread, "
        "33;\n@%p0 ret;\n"
        "mov.u64 %d0, message;\ncvta.global.u64 %d0, %d0;\nst.param.b64 [m], %d0;\nmov.u64 %d0, file;\n"
        "cvta.global.u64 %d0, %d0;\nst.param.b64 [f], %d0;\nst.param.b32 [l], 42;\nst.param.b64 [n], %d0;\n"
        "st.param.b64 [c], 1;\ncall __assertfail, (m, f, l, n, c);\nret;",
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n" +
            string_variable("message", "x > 0") + string_variable("file", "mine.cu")}},
      {"prints numbers", print_of("%d|%5d|%f|%s|%lld\n")},
      {"prints widths", print_of("%-6d|%06u|%+.3e|%8s|%#llx|%%\n")},
      {"prints stars", print_of("%*d%g%s%llu\n")},
      {"prints characters", print_of("%c%x%.2f%.2s%p end")},
      {"prints what it does not know", print_of("%y %d\n")},
      {"prints long", print_of("%300d|%2d|%.260f|%s|%lld")},
      {"writes constants",
       {"mov.u64 %d0, c;\ncvta.const.u64 %d0, %d0;\nsetp.lt.u32 %p0, %lane, 5;\nselp.b64 %d1, %at, %d0, %p0;\n"
        "st.u32 [%d1], 7;\nret;",
        ".const .b32 c = 1;"}},
      {"updates constants",
       {"mov.u64 %d0, c;\ncvta.const.u64 %d0, %d0;\nred.add.u32 [%d0], 7;\nret;", ".const .b32 c = 1;"}},
      {"reads its parameters through generic addresses",
       {"mov.u64 %d0, out;\ncvta.param.u64 %d0, %d0;\nld.u32 %r0, [%d0];\nisspacep.const %p0, %d0;\n"
        "@%p0 add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %lane, 9;\nselp.b64 %d1, %at, %d0, %p1;\nld.u32 %r1, [%d1];\n"
        "add.u32 %r0, %r0, %r1;\n" +
            std::string(kStore),
        ""}},
      {"writes its parameters", {"mov.u64 %d0, out;\ncvta.param.u64 %d0, %d0;\nst.u32 [%d0], 1;\nret;", ""}},
      {"copies 16", {copy_of(16, ""), ""}},
      {"copies some of 16", {copy_of(16, ", %r2"), ""}},
      {"copies 8", {copy_of(8, ""), ""}},
      {"copies some of 4", {copy_of(4, ", %r2"), ""}},
      {"ignores the source", {copy_of(8, ", %p1"), ""}},
      {"loads two matrices", {matrix_of("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%d0];", false), ""}},
      {"loads matrices generic", {matrix_of("ldmatrix.sync.aligned.m8n8.x2.b16 {%r4, %r5}, [%d0];", true), ""}},
      {"loads matrices transposed",
       {matrix_of("ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r4, %r5}, [%d0];", true), ""}},
      {"stores matrices generic",
       {matrix_of("mov.u32 %r4, %lane;\nmul.lo.u32 %r5, %lane, 0x10001;\n"
                  "stmatrix.sync.aligned.m8n8.x2.b16 [%d0], {%r4, %r5};\nbar.sync 0;",
                  true),
        ""}},
      {"fp atomics of several spaces",
       {".shared .align 8 .b32 tile[64];\nmov.u64 %d0, tile;\ncvta.shared.u64 %d0, %d0;\nand.b32 %r1, %thread, 3;\n"
        "mul.wide.u32 %d1, %r1, 8;\nadd.u64 %d0, %d0, %d1;\nst.u64 [%d0], 0;\nbar.sync 0;\nadd.u64 %d1, %d1, %out;\n"
        "setp.lt.u32 %p0, %lane, 13;\nselp.b64 %d2, %d0, %d1, %p0;\nadd.u64 %d2, %d2, 2048;\nsub.u64 %d3, %d2, 2048;\n"
        "selp.b64 %d2, %d3, %d2, %p0;\ncvt.rn.f32.u32 %f0, %thread;\natom.add.f32 %f1, [%d2], %f0;\n"
        "atom.add.u64 %d4, [%d2], 3;\natom.exch.b32 %r3, [%d2+4], %thread;\natom.cas.b32 %r4, [%d2+4], %thread, 9;\n"
        "cvt.rzi.u32.f32 %r0, %f1;\nadd.u32 %r0, %r0, %r3;\nadd.u32 %r0, %r0, %r4;\n" +
            std::string(kStore),
        ""}},
  };
  return all;
}

TEST(GoldenSnippets, AreAsWrittenDown) { expect_golden(sources()); }

}  // namespace
}  // namespace wm::exec::test

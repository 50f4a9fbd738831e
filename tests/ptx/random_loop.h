// Random kernels around one loop, for the passes that follow an assembler: counters of every type with constant and
// other steps, tests in every direction, guards where passes must give up, and bodies of the patterns that are folded.
// Only the thread `lane` goes on, so that the order of threads does not matter; some loops never end, some fault.
#pragma once

#include <fmt/args.h>
#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/random.h"

namespace wm::ptx {

class RandomLoop {
 public:
  explicit RandomLoop(std::uint64_t seed) : random_(seed) {}

  std::string module() {
    std::string body;
    if (random_.below(6) == 0) body += ".pragma \"nounroll\";\n";
    body += "LOOP:\n";
    const std::uint32_t before = random_.below(12), after = random_.below(random_.below(3) == 0 ? 24 : 6);
    for (std::uint32_t i = 0; i < before; ++i) body += statement();
    body += step();
    for (std::uint32_t i = 0; i < after; ++i) body += statement();
    body += branch_back();
    for (int i = 0; i < 4; ++i) body += statement();
    return ".version 8.0\n.target sm_80\n.address_size 64\n"
           ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 lane)\n{\n"
           ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<12>;\n.reg .b64 %d<12>;\n.reg .f32 %f<12>;\n"
           ".shared .align 16 .b32 tile[64];\nld.param.u64 %d1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
           "ld.param.u32 %r10, [lane];\nsetp.ne.u32 %p2, %r2, %r10;\n@%p2 ret;\ncvt.u64.u32 %d2, %r1;\n"
           "mul.wide.u32 %d3, %r2, 4096;\nadd.s64 %d4, %d1, %d3;\nmov.u32 %r3, 0;\nmov.u64 %d5, 0;\nmov.u64 %d6, %d4;\n"
           "mov.u64 %d7, %d4;\nsetp.gt.u32 %p3, %r2, 5;\ncvt.rn.f32.u32 %f2, %r1;\nadd.f32 %f4, %f2, %f2;\n" +
           body +
           "st.global.u32 [%d4], %r4;\nst.global.f32 [%d4+4], %f1;\nst.global.u64 [%d4+8], %d8;\n"
           "st.global.u32 [%d4+16], %r5;\nst.global.f32 [%d4+20], %f5;\nst.global.u32 [%d4+24], %r7;\nret;\n}\n";
  }

 private:
  // The elements of a list are evaluated in order; the order of a function's arguments differs between compilers.
  static std::string put(std::string_view text, std::initializer_list<std::string> parts) {
    fmt::dynamic_format_arg_store<fmt::format_context> all;
    for (const std::string& part : parts) all.push_back(part);
    return fmt::vformat(text, all);
  }
  std::string any(std::initializer_list<const char*> texts) {
    return *(texts.begin() + random_.below(static_cast<std::uint32_t>(texts.size())));
  }
  std::string guard() { return any({"", "", "", "", "", "", "@%p3 ", "@!%p3 "}); }
  std::string word() { return put("%r{}", {std::to_string(1 + random_.below(9))}); }
  std::string pair() { return put("%d{}", {std::to_string(1 + random_.below(9))}); }
  std::string real() { return put("%f{}", {std::to_string(1 + random_.below(9))}); }

  std::string step() {
    wide_ = random_.below(4) == 0;
    const std::string counter = wide_ ? "%d5" : "%r3";
    const std::string type = wide_ ? any({"s64", "u64", "s64"}) : any({"s32", "u32", "s32", "u32"});
    const std::string by = any({"1", "1", "4", "-1", "-4", "7", wide_ ? "%d2" : "%r1"});
    const std::string saturate = !wide_ && type == "s32" && random_.below(12) == 0 ? ".sat" : "";
    return put("{}add{}.{} {}, {}, {};\n", {random_.below(10) == 0 ? guard() : "", saturate, type, counter,
                                            random_.below(12) == 0 ? (wide_ ? "%d6" : "%r4") : counter, by});
  }

  std::string branch_back() {
    const std::string type = wide_ ? any({"s64", "u64"}) : any({"s32", "u32", "u32"});
    const std::string counter = wide_ ? "%d5" : "%r3",
                      limit = wide_ ? any({"%d2", "%d2", "%d6", "96"}) : any({"%r1", "%r1", "%r4", "96"});
    const bool swapped = random_.below(8) == 0 && limit[0] == '%';
    std::string text = put("{}setp.{}.{} %p1, {}, {};\n",
                           {random_.below(12) == 0 ? "@%p3 " : "", any({"lt", "lt", "ne", "ne", "le", "gt", "eq"}),
                            type, swapped ? limit : counter, swapped ? counter : limit});
    if (random_.below(8) == 0) text += statement();
    return text + any({"@%p1 bra LOOP;\n", "@%p1 bra LOOP;\n", "@%p1 bra LOOP;\n", "@!%p1 bra LOOP;\n"});
  }

  std::string statement() {
    switch (random_.below(16)) {
      case 0:
        return put("{}ld.global.u32 {}, [{}+{}];\n",
                   {guard(), word(), any({"%d4", "%d6", "%d7"}), std::to_string(4 * random_.below(8))});
      case 1:
        return put("{}st.global.u32 [{}+{}], {};\n",
                   {guard(), any({"%d4", "%d7"}), std::to_string(4 * random_.below(8)), word()});
      case 2:
        return put("mul.wide.s32 {0}, {1}, {2};\nadd.s64 %d7, %d4, {0};\n",
                   {pair(), any({"%r3", "%r4"}), any({"4", "8", "12"})});
      case 3:
        return put("{}mul{}.f32 {}, {}, {};\n{}add{}.f32 {}, {}, {};\n",
                   {guard(), rounding(), "%f2", real(), real(), guard(), rounding(), real(), any({"%f2", "%f3"}),
                    any({"%f2", "%f4"})});
      case 4:
        return put("{}mov.f32 %f3, %f2;\n{}neg.f32 %f4, %f3;\nsub{}.f32 {}, {}, %f4;\n",
                   {guard(), guard(), rounding(), real(), real()});
      case 5:
        return put(
            "{}shl.b32 %r5, {}, {};\n{}or.b32 {}, %r5, {};\n",
            {guard(), word(), std::to_string(1 + random_.below(31)), guard(), word(), any({"%r6", "%r5", "15"})});
      case 6:
        return put("{}and.b32 %r6, {}, {};\ncvt.u64.u32 {}, %r6;\n",
                   {guard(), word(), any({"255", "65535", "%r7"}), pair()});
      case 7:
        return put("ld.shared.u32 {}, [tile+{}];\n", {word(), std::to_string(4 * random_.below(16))});
      case 8:
        return put("{}selp.b32 {}, {}, {}, %p3;\n", {guard(), word(), word(), any({"0", "%r8"})});
      case 9:
        return random_.below(6) == 0 ? "bar.sync 0;\n" : put("{}add.u32 %r4, %r4, {};\n", {guard(), word()});
      case 10:
        return put("{}add{}.s64 {}, {}, {};\n",
                   {guard(), "", any({"%d6", "%d8"}), any({"%d5", "%d4", "%d6"}), any({"8", "%d3", "%d5"})});
      case 11:
        return put("cvt.u16.u32 %h1, {};\ncvt.{}.u16 {}, %h1;\n", {word(), any({"u32", "s32"}), word()});
      case 12:
        return put("{}mov.u32 {}, {};\n", {guard(), word(), any({"%r3", "%r5", "12", "%ctaid.x"})});
      case 13:
        return put("{}fma.rn.f32 {}, {}, {}, {};\n", {guard(), real(), real(), real(), real()});
      case 14:
        return put("{}mad.lo.s32 {}, {}, {}, {};\n", {guard(), word(), word(), any({"3", "%r3"}), word()});
      default:
        return put("{} {}, {}, {};\n",
                   {any({"div.u32", "mul.lo.u32", "shr.u32", "mul.hi.u32"}), word(), word(), any({"7", "%r8"})});
    }
  }

  std::string rounding() { return any({"", "", "", "", ".rn", ".rz", ".rm", ".rp", ".ftz"}); }

  Random random_;
  bool wide_ = false;
};

}  // namespace wm::ptx

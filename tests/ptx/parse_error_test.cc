#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

std::string error_of(const std::string& text) {
  const auto module = parse(text, "f.ptx");
  return module.ok() ? "accepted" : module.error().to_string();
}

// The message for line 9 of a kernel that declares a few registers, two variables and a function.
std::string in_body(const std::string& line) {
  return error_of(
      ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 s[4]; .global .b32 g;\n"
      ".func (.param .b32 r) f(.param .b32 a) { ret; }\n"
      ".entry k(.param .u64 a)\n{\n  .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; "
      ".reg .f32 %f<4>; .reg .f64 %d<4>;\n" +
      line + "\nret;\n}\n");
}

// The message for a line after the header.
std::string in_module(const std::string& line) {
  return error_of(".version 8.0\n.target sm_80\n.address_size 64\n" + line + "\n");
}

TEST(ParseError, NamesAnUnknownInstruction) {
  EXPECT_EQ(in_body("  frob.u32 %r1, %r2;"), "f.ptx:9:3: unknown instruction 'frob'");
  EXPECT_EQ(in_body("vshl.u32.u32.u32.clamp %r1, %r2, %r3, %r4;"), "f.ptx:9:1: unsupported instruction 'vshl'");
}

TEST(ParseError, NamesASelectionThatDoesNotBelongThere) {
  EXPECT_EQ(in_body("vadd4.u32.u32.u32 %r1.b3210, %r2.b7, %r1, %r2;"), "accepted");
  EXPECT_EQ(in_body("add.u32 %r1, %r2.b0, 1;"), "f.ptx:9:14: 'add.u32' takes whole registers only");
  EXPECT_EQ(in_body("vadd4.u32.u32.u32 %r1, %r2.b8, %r1, %r2;"), "f.ptx:9:27: '.b8' selects no bytes of a register");
}

TEST(ParseError, NamesATextureWithoutCoordinates) {
  EXPECT_EQ(in_body("tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [a, {%f1,%f1}];"), "accepted");
  EXPECT_EQ(in_body("tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [a];"),
            "f.ptx:9:38: operand 2 of 'tex.2d.v4.f32.f32' is an address, expected a texture with coordinates");
}

TEST(ParseError, NamesAnAlignmentThatIsNoPowerOfTwo) {
  EXPECT_EQ(in_module(".global .align 8 .b32 x;"), "accepted");
  EXPECT_EQ(in_module(".global .align 6 .b32 x;"), "f.ptx:4:16: alignment 6 is no power of two");
  EXPECT_EQ(in_module(".global .align 0 .b32 x;"), "f.ptx:4:16: alignment 0 is no power of two");
}

TEST(ParseError, NamesAnArrayWithoutALength) {
  EXPECT_EQ(in_module(".global .b32 x[4][1];"), "accepted");
  EXPECT_EQ(in_module(".global .b32 x[4][];"), "f.ptx:4:18: only the first length of an array may be left out");
  EXPECT_EQ(in_module(".global .b32 x[1][1][1][1][1][1][1][1];"), "accepted");
  EXPECT_EQ(in_module(".global .b32 x[1][1][1][1][1][1][1][1][1];"), "f.ptx:4:39: an array has at most 8 dimensions");
}

TEST(ParseError, NamesAnAttributeThatIsNotKnown) {
  EXPECT_EQ(in_module(".global .attribute(.managed) .b32 x;"), "accepted");
  EXPECT_EQ(in_module(".global .attribute(.frob) .b32 x;"), "f.ptx:4:20: expected .managed or .unified, found '.frob'");
}

TEST(ParseError, NamesAPredicateInMemory) {
  EXPECT_NE(in_module(".global .pred x;").find("a type other than .pred in memory"), std::string::npos);
}

TEST(ParseError, NamesAVectorWithTooManyElements) {
  EXPECT_EQ(in_body("ld.global.v4.u32 {%r0,%r1,%r2,%r3,%r0,%r1,%r2,%r3,%r0}, [%rd1];"),
            "f.ptx:9:18: a vector has at most 8 elements");
}

TEST(ParseError, NamesAnOffsetThatIsTooLarge) {
  EXPECT_EQ(in_body("ld.global.u32 %r1, [%rd1+4611686018427387904];"), "accepted");
  EXPECT_EQ(in_body("ld.global.u32 %r1, [%rd1+4611686018427387904+1];"), "f.ptx:9:45: the offset is too large");
  EXPECT_EQ(in_body("ld.global.u32 %r1, [%rd1-4611686018427387904-1];"), "f.ptx:9:45: the offset is too large");
}

TEST(ParseError, NamesATextureWithTooManyParts) {
  EXPECT_NE(in_body("tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [a, a, {%f1,%f1}, %f1];").find("']' after the coordinates"),
            std::string::npos);
}

TEST(ParseError, NamesAnUnknownSuffix) {
  EXPECT_EQ(in_body("add.frob.u32 %r1, %r2, 1;"), "f.ptx:9:4: unknown suffix '.frob' of 'add'");
}

TEST(ParseError, NamesASuffixTheInstructionDoesNotTake) {
  EXPECT_EQ(in_body("bra.rn L;"), "f.ptx:9:4: unexpected '.rn' in 'bra.rn', expected .uni or nothing");
  EXPECT_EQ(in_body("sad.f32 %f1, %f1, %f1, %f1;"),
            "f.ptx:9:4: unexpected '.f32' in 'sad.f32', expected .u16, .u32, .u64, .s16, .s32 or .s64");
  EXPECT_EQ(in_body("exit.uni;"), "f.ptx:9:5: unexpected '.uni' in 'exit.uni', expected nothing more");
}

TEST(ParseError, SaysWhatAnIncompleteNameLacks) {
  EXPECT_EQ(in_body("popc %r1, %r2;"), "f.ptx:9:1: 'popc' is incomplete, expected .b32 or .b64");
  EXPECT_EQ(in_body("fma.f32 %f1, %f1, %f1, %f1;"),
            "f.ptx:9:4: unexpected '.f32' in 'fma.f32', expected .rn, .rz, .rm or .rp");
}

TEST(ParseError, CountsOperands) {
  EXPECT_EQ(in_body("add.s32 %r1, %r2;"), "f.ptx:9:1: 'add.s32' takes 3 operands, found 2");
  EXPECT_EQ(in_body("bar.sync;"), "f.ptx:9:1: 'bar.sync' takes 1 to 2 operands, found 0");
}

TEST(ParseError, SaysWhichOperandDoesNotFit) {
  EXPECT_EQ(in_body("add.s32 %r1, %f2, 1;"),
            "f.ptx:9:14: operand 2 of 'add.s32' is %f2 (.f32), expected a .s32 register or immediate");
  EXPECT_EQ(in_body("add.f32 %f1, %f2, 1;"),
            "f.ptx:9:19: operand 3 of 'add.f32' is the integer 1, expected a .f32 register or immediate");
  EXPECT_EQ(in_body("mul.wide.s32 %r1, %r2, 4;"),
            "f.ptx:9:14: operand 1 of 'mul.wide.s32' is %r1 (.b32), expected a 64-bit register");
  EXPECT_EQ(in_body("ld.global.v2.f32 %f1, [%rd1];"),
            "f.ptx:9:18: operand 1 of 'ld.global.v2.f32' is %f1 (.f32), expected {…} of 2 registers for .f32");
  EXPECT_EQ(in_body("ld.global.f64 %d1, [%f1];"),
            "f.ptx:9:20: operand 2 of 'ld.global.f64' is an address in %f1 (.f32), expected an address in brackets");
  EXPECT_EQ(in_body("selp.b32 %r1, %r2, %r3, %r1;"),
            "f.ptx:9:25: operand 4 of 'selp.b32' is %r1 (.b32), expected a predicate");
  EXPECT_EQ(in_body("mov.u32 %r1, %clock64;"),
            "f.ptx:9:14: operand 2 of 'mov.u32' is %clock64, expected a .u32 register, immediate, special register or "
            "variable");
}

TEST(ParseError, TheOperandIsThatOfItsOwnInstruction) {
  EXPECT_EQ(in_body("add.u32 %r1, %r1, %r1;\nadd.u32 %r1,    %r1, %rd1;").substr(0, 13), "f.ptx:10:22: ");
}

TEST(ParseError, AResultThatMayBeAPairIsARegisterOrAPair) {
  EXPECT_EQ(in_body("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;"), "accepted");
  EXPECT_NE(in_body("shfl.sync.idx.b32 %rd1, %r2, 0, 31, -1;"), "accepted");
  EXPECT_NE(in_body("shfl.sync.idx.b32 {%r1, %r2}, %r2, 0, 31, -1;"), "accepted");
}

TEST(ParseError, AttributesCloseTheirBrackets) {
  EXPECT_EQ(in_module(".global .attribute(.unified(1, 2)) .u32 n;"), "accepted");
  EXPECT_NE(in_module(".global .attribute(.unified(1, 2, .managed) .u32 n;"), "accepted");
  EXPECT_NE(in_module(".global .attribute(.unified(1, 2) .u32 n;"), "accepted");
}

TEST(ParseError, NamesWhatIsNotDeclared) {
  EXPECT_EQ(in_body("mov.u32 %r1, %r9;"), "f.ptx:9:14: '%r9' is neither declared nor a special register");
  EXPECT_EQ(in_body("mov.u32 %r1, nothing;"), "f.ptx:9:14: 'nothing' is not declared");
  EXPECT_EQ(in_body("  bra L;"), "f.ptx:9:7: label 'L' is not defined");
  EXPECT_EQ(in_body("@%p9 ret;"), "f.ptx:9:2: '%p9' is not declared");
  EXPECT_EQ(in_body("@%r1 ret;"), "f.ptx:9:2: '%r1' is no predicate");
  EXPECT_EQ(in_body("bra L; { L: ret; }"), "f.ptx:9:5: label 'L' is not defined");
}

TEST(ParseError, NamesWhatIsDeclaredTwice) {
  EXPECT_EQ(in_body(".reg .b32 x, x;"), "f.ptx:9:14: 'x' is already declared in this scope");
  EXPECT_EQ(in_body(".reg .f32 %r<3>;"), "f.ptx:9:11: '%r<…>' is already declared in this scope");
  EXPECT_EQ(in_body("L: L: ret;"), "f.ptx:9:4: 'L' is already declared in this scope");
  EXPECT_EQ(in_module(".global .b32 a; .global .b32 a;"), "f.ptx:4:30: 'a' is already declared");
  EXPECT_EQ(in_module(".func f() { ret; } .func f() { ret; }"), "f.ptx:4:26: function 'f' already has a body");
  EXPECT_EQ(in_module(".func f(); .func f(.param .b32 a) { ret; }"),
            "f.ptx:4:18: function 'f' was declared with another signature");
}

TEST(ParseError, ChecksCalls) {
  EXPECT_EQ(in_body("call f, (%r1);"), "f.ptx:9:1: the call gives 0 results, expected 1");
  EXPECT_EQ(in_body("call (%r1), f;"), "f.ptx:9:1: the call gives 0 arguments, expected 1");
  EXPECT_EQ(in_body("call (%r1), %r2, (%r1);"), "f.ptx:9:13: '%r2' is neither a function nor a 64-bit register");
  EXPECT_EQ(in_body("call (%r1), %rd2, (%r1);"),
            "f.ptx:9:13: an indirect call needs the name of .calltargets or .callprototype");
  EXPECT_EQ(in_body("t: .calltargets f;\ncall %rd2, t;"), "f.ptx:10:1: the call gives 0 results, expected 1");
  EXPECT_EQ(in_body("t: .callprototype _ (.param .b32 _);\ncall %rd2, t;"),
            "f.ptx:10:1: the call gives 0 arguments, expected 1");
  EXPECT_EQ(in_body("call.sync f;"), "f.ptx:9:5: unexpected '.sync' in 'call', expected .uni or nothing");
}

TEST(ParseError, BoundsWhatATextCanAskFor) {
  EXPECT_EQ(in_body(".reg .b32 %x<1000000000>;"), "f.ptx:9:14: 1000000000 is too large: at most 16777216");
  EXPECT_EQ(in_body("add.s32 %r1, %r2, 18446744073709551616;"),
            "f.ptx:9:19: '18446744073709551616' is not a number of 64 bits");
  EXPECT_EQ(in_module(".global .b8 a[1000000000000000];"),
            "f.ptx:4:15: 1000000000000000 is too large: at most 1099511627776");
  EXPECT_EQ(in_module(".global .b32 a[1000000][1000000];"),
            "f.ptx:4:24: 'a' is too large: at most 1099511627776 bytes");
  EXPECT_EQ(in_module(".global .b32 a[2] = {1, 2, 3};"), "f.ptx:4:28: too many values for 'a'");
  EXPECT_EQ(in_module(".global .b32 a = {{{{{{{{{{1}}}}}}}}}};"), "f.ptx:4:26: braces nest too deeply");
  EXPECT_EQ(in_module(".global .b32 a[100000000] = {{1}, 2};"), "accepted");
  EXPECT_EQ(in_body(std::string(300, '{')), "f.ptx:9:256: scopes nest too deeply");
}

TEST(ParseError, NamesWhatAModuleLacks) {
  EXPECT_EQ(error_of(""), "f.ptx:1:1: expected '.version' to begin the module, found end of file");
  EXPECT_EQ(error_of(".version eight"), "f.ptx:1:10: expected a version such as 8.0, found 'eight'");
  EXPECT_EQ(error_of(".version 8.0\n.entry k() {}"), "f.ptx:2:1: expected '.target' after the version, found '.entry'");
  EXPECT_EQ(in_module(".entry k();"), "f.ptx:4:8: kernel 'k' has no body");
  EXPECT_EQ(in_module(".entry k() { .loc 2 1 1 ret; }"), "f.ptx:4:19: file 2 has no .file directive");
  EXPECT_EQ(in_module(".global .u64 a = b;"), "f.ptx:4:14: the value of 'a' names 'b', which is not declared");
  EXPECT_EQ(in_module(".shared .b32 a[];"), "f.ptx:4:14: 'a' needs a length: only .extern arrays go without");
  EXPECT_EQ(in_module(".alias f, g;"), "f.ptx:4:1: '.alias' is not supported at module level");
  EXPECT_EQ(in_module(".entry k() {"), "f.ptx:5:1: expected '}' to end the function's body, found end of file");
  EXPECT_EQ(in_module("/* never"), "f.ptx:4:1: this comment is never closed");
  EXPECT_EQ(in_module(".entry k() .frob 3 { ret; }"), "f.ptx:4:12: unknown directive '.frob' of function 'k'");
}

TEST(ParseError, NamesStrayCharacters) {
  EXPECT_EQ(in_body("add.s32 %r1, %r2, #1;"), "f.ptx:9:19: unexpected character '#'");
  EXPECT_EQ(in_body("\x01"), "f.ptx:9:1: unexpected byte 0x01");
  EXPECT_EQ(in_body("add.s32 %r1, %r2, 1"), "f.ptx:10:1: expected ';' after an instruction, found 'ret'");
}

TEST(ParseError, NamesMistakesOfTheHeader) {
  EXPECT_EQ(error_of(".version 8.0\n.target sm_80\n.address_size 48\n"),
            "f.ptx:3:15: an address has 32 or 64 bits, not 48");
  EXPECT_EQ(error_of(".version 12345.0\n.target sm_80\n"),
            "f.ptx:1:10: expected a version such as 8.0, found '12345.0'");
  EXPECT_EQ(error_of(".version 8.1234\n.target sm_80\n"), "accepted");
  EXPECT_EQ(error_of(".version 8.0\n.target debug\n"), "f.ptx:3:1: expected a target such as sm_90, found end of file");
  EXPECT_EQ(parse(".version 8.0\n.target sm_80\n")->address_size, 32U) << "where nothing is said";
}

TEST(ParseError, FilesAreNumberedFromOne) {
  EXPECT_EQ(in_module(".file 0 \"a.cu\""), "f.ptx:4:7: files are numbered from 1");
  EXPECT_EQ(in_module(".file 1 \"a.cu\""), "accepted");
}

TEST(ParseError, NamesStatementsThatDoNotEnd) {
  for (const char* line :
       {".reg .b32 %x ret;", ".local .b32 x ret;", ".pragma \"nounroll\" ret;", "t: .branchtargets L ret;"})
    EXPECT_NE(in_body(line).find("expected ';'"), std::string::npos) << line << ": " << in_body(line);
}

TEST(ParseError, NamesWhatIsNoAddress) {
  EXPECT_NE(in_body("ld.global.u32 %r1, [%tid.x];").find("is no address"), std::string::npos)
      << in_body("ld.global.u32 %r1, [%tid.x];");
  EXPECT_EQ(in_body("ld.global.u32 %r1, [16];"), "accepted");
  EXPECT_NE(in_body("mov.b64 %rd1, {{%r1}, %r2};").find("expected a register or a number"), std::string::npos);
}

}  // namespace
}  // namespace wm::ptx

// printf and assert of kernels.
#include "exec/print_format.h"
#include "exec/snippet.h"

namespace wm::exec {
namespace {

std::string bytes_of(const std::string& text) {
  std::string list;
  for (const char c : text + '\0') list += (list.empty() ? "" : ", ") + std::to_string(static_cast<unsigned char>(c));
  return list;
}

std::string text(const std::string& name, const std::string& content) {
  return ".global .align 1 .b8 " + name + "[" + std::to_string(content.size() + 1) + "] = {" + bytes_of(content) +
         "};\n";
}

TEST(Print, EachThreadPrintsInOrder) {
  Snippet s;
  s.grid = {2, 1, 1};
  s.block = {3, 1, 1};
  s.text = kernel(R"(
    .local .align 8 .b8 buffer[24];
    .param .b64 f; .param .b64 a; .param .b32 r;
    mov.u32 %r0, %ctaid.x;
    st.local.u32 [buffer], %r0;
    st.local.u32 [buffer+4], %thread;
    cvt.rn.f64.u32 %fd0, %thread;
    st.local.f64 [buffer+8], %fd0;
    mov.u64 %d0, name;
    cvta.global.u64 %d0, %d0;
    st.local.u64 [buffer+16], %d0;
    mov.u64 %d1, format;
    cvta.global.u64 %d1, %d1;
    mov.u64 %d2, buffer;
    cvta.local.u64 %d2, %d2;
    st.param.b64 [f], %d1;
    st.param.b64 [a], %d2;
    call.uni (r), vprintf, (f, a);
    ld.param.b32 %r1, [r];
    st.global.u32 [%at], %r1;
    ret;)",
                  text("format", "%d.%u: %5.2f '%-4s'\n") + text("name", "ab") +
                      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n");
  const Outcome o = run(s);
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(o.printed,
            "0.0:  0.00 'ab  '\n0.1:  1.00 'ab  '\n0.2:  2.00 'ab  '\n1.0:  0.00 'ab  '\n1.1:  1.00 'ab  '\n"
            "1.2:  2.00 'ab  '\n");
  EXPECT_EQ(o.out[0], 4U);
}

Printed format(std::string_view format, const std::vector<std::uint64_t>& words) {
  return format_print(
      format,
      [&](std::uint64_t offset, std::uint32_t bytes) -> const std::byte* {
        if (offset + bytes > words.size() * 8) return nullptr;
        return reinterpret_cast<const std::byte*>(words.data()) + offset;
      },
      [](std::uint64_t address) -> std::optional<std::string> {
        if (address == 0) return std::nullopt;
        return "s" + std::to_string(address);
      });
}

TEST(Print, ConversionsAndLengths) {
  EXPECT_EQ(format("%lld %llx %%", {static_cast<std::uint64_t>(-5), 0xabcdef0123}).text, "-5 abcdef0123 %");
  EXPECT_EQ(format("%d|%u|%X", {0x00000007ffffffff, 0xbeef}).text, "-1|7|BEEF");
  EXPECT_EQ(format("%c%c", {0x0000006200000061}).text, "ab");
  EXPECT_EQ(format("%hhd %hu", {0x0001ffff000000ff}).text, "-1 65535");
  EXPECT_EQ(format("%p", {0x1234}).text, "0x1234");
  EXPECT_EQ(format("%s!", {7}).text, "s7!");
  EXPECT_EQ(format("%e %g %.3f", {0x3ff8000000000000, 0x3ff8000000000000, 0x3ff8000000000000}).text,
            "1.500000e+00 1.5 1.500");
  EXPECT_EQ(format("%*d|%-6d|%06d", {0x0000000100000004, 0x0000000300000002}).text, "   1|2     |000003");
  EXPECT_EQ(format("%d%f", {0x0000000000000001, 0x3ff0000000000000}).arguments, 2);
}

TEST(Print, TextThatIsNoConversionIsPrintedAsItStands) {
  EXPECT_EQ(format("100%", {}).text, "100%");
  EXPECT_EQ(format("%k %y", {}).text, "%k %y");
  EXPECT_FALSE(format("%d", {}).ok);
  EXPECT_FALSE(format("%s", {0}).ok);
}

TEST(Print, AStringThatDoesNotEndIsAFault) {
  Snippet s;
  s.block = {1, 1, 1};
  s.text = kernel(R"(
    .param .b64 f; .param .b64 a; .param .b32 r;
    mov.u64 %d1, format;
    st.param.b64 [f], %d1;
    st.param.b64 [a], 0;
    call.uni (r), vprintf, (f, a);
    ret;)",
                  ".global .align 1 .b8 format[3] = {97, 98, 99};\n"
                  ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n");
  EXPECT_NE(run(s).error.find("global read of 1 byte at 0x700000034a03 is out of bounds"), std::string::npos)
      << run(s).error;
}

TEST(Print, AFailedAssertionIsAFaultWithItsText) {
  Snippet s;
  s.text = kernel(
      R"(
    setp.ne.u32 %p0, %lane, 3;
    @%p0 ret;
    .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    mov.u64 %d0, message;
    mov.u64 %d1, source;
    mov.u64 %d2, function;
    st.param.b64 [a], %d0;
    st.param.b64 [b], %d1;
    st.param.b32 [c], 12;
    st.param.b64 [d], %d2;
    st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e);
    ret;)",
      text("message", "x > 0") + text("source", "a.cu") + text("function", "f") +
          ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n");
  EXPECT_NE(run(s).error.find("kernel 'k': assertion 'x > 0' failed at a.cu:12 in 'f', at k.ptx:"), std::string::npos)
      << run(s).error;
  EXPECT_NE(run(s).error.find("thread (3,0,0)"), std::string::npos) << run(s).error;
}

}  // namespace
}  // namespace wm::exec

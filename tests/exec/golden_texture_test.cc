// Every texture and surface instruction on textures of many shapes is as written down in golden_execution.csv. The
// values are compared with formulas in texture_test.cc and with a GPU in validation/cuda.
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <vector>

#include "exec/execution_digest.h"
#include "exec/texture_header.h"
#include "ptx/parse.h"

namespace wm::exec::test {
namespace {

struct Shape {
  TexelFormat format;
  std::uint8_t channels;
  std::uint32_t width, height, depth;
  bool is_layered;
  AddressMode mode;
  bool filters, is_normalized, reads_normalized;
  std::uint8_t levels;
};

constexpr Shape kShapes[] = {
    {TexelFormat::u8, 1, 9, 1, 1, false, AddressMode::clamp, false, false, false, 1},
    {TexelFormat::u8, 4, 8, 4, 1, false, AddressMode::wrap, false, true, true, 1},
    {TexelFormat::s8, 2, 5, 3, 1, false, AddressMode::clamp, true, false, true, 1},
    {TexelFormat::s16, 2, 6, 4, 3, false, AddressMode::clamp, false, false, false, 1},
    {TexelFormat::u16, 1, 7, 5, 1, false, AddressMode::mirror, true, true, true, 1},
    {TexelFormat::u32, 1, 4, 4, 4, true, AddressMode::border, false, false, false, 1},
    {TexelFormat::s32, 4, 3, 3, 2, true, AddressMode::clamp, false, false, false, 1},
    {TexelFormat::f16, 2, 8, 8, 1, false, AddressMode::border, true, false, false, 1},
    {TexelFormat::f32, 1, 16, 8, 4, false, AddressMode::wrap, true, true, false, 3},
    {TexelFormat::f32, 4, 8, 2, 3, true, AddressMode::mirror, true, true, false, 2},
};

TextureHeader header_of(const Shape& shape, std::uint8_t dimensions, bool is_surface) {
  TextureHeader h;
  h.magic = TextureHeader::kMagic;
  h.format = shape.format;
  h.channels = shape.channels;
  h.dimensions = dimensions;
  h.is_layered = shape.is_layered ? 1 : 0;
  h.is_surface = is_surface ? 1 : 0;
  h.filters = shape.filters ? 1 : 0;
  h.has_normalized_coordinates = shape.is_normalized ? 1 : 0;
  h.reads_normalized = shape.reads_normalized ? 1 : 0;
  h.blends_levels = shape.levels > 2 ? 1 : 0;
  h.levels = shape.levels;
  h.modes = {shape.mode, shape.mode, shape.mode};
  h.width = shape.width;
  h.height = dimensions > 1 ? shape.height : 1;
  h.depth = dimensions > 2 || shape.is_layered ? shape.depth : 1;
  h.border = {0.25F, 0.5F, 0.75F, 1};
  h.max_level = static_cast<float>(shape.levels - 1);
  for (std::uint32_t level = 0; level < shape.levels; ++level) h.pitch[level] = h.width_of(level) * h.texel_bytes() + 4;
  return h;
}

// The words of a header for the initial value of a variable, with the addresses of its levels as symbols.
std::string variable_of(const std::string& name, const TextureHeader& header) {
  std::vector<std::uint64_t> words((sizeof(TextureHeader) + 7) / 8);
  std::memcpy(words.data(), &header, sizeof header);
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t first = offsetof(TextureHeader, address) / 8;
    const bool is_address = i >= first && i < first + header.levels;
    list += i == 0 ? "" : ", ";
    list += is_address ? fmt::format("texels+{}", (i - first) * 64) : std::to_string(words[i]);
  }
  return fmt::format(".global .align 8 .b64 {}[{}] = {{{}}};\n", name, words.size(), list);
}

// Threads of the second warp with an odd number use a texture of half the width.
std::string module_of(const TextureHeader& header, const std::string& body) {
  TextureHeader narrow = header;
  narrow.width = (header.width + 1) / 2;
  std::string texels;
  for (unsigned i = 0; i < 1024; ++i)
    texels += fmt::format("{}{}", i == 0 ? "" : ", ", 0x3c003a00U + i % 64 * 0x00030107U);
  return fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 16 .b32 texels[1024] = {{{}}};\n"
      "{}{}.entry k(.param .u64 out)\n{{\n.reg .b32 %r<16>;\n.reg .f32 "
      "%f<16>;\n"
      ".reg .b64 %d<8>;\n.reg .b16 %h<8>;\nmov.u32 %r0, %tid.x;\nmov.u64 %d0, header;\nmov.u64 %d7, narrow;\n.reg "
      ".pred %p<2>;\nand.b32 %r13, %r0, 33;\nsetp.eq.u32 %p0, %r13, 33;\nselp.b64 %d0, %d7, %d0, %p0;\nld.param.u64 "
      "%d1, [out];\n"
      "mad.wide.u32 %d1, %r0, 64, %d1;\nadd.u32 %r1, %r0, -9;\nand.b32 %r2, %r0, 3;\nadd.u32 %r3, %r2, -1;\n"
      "cvt.rn.f32.s32 %f1, %r1;\nmul.f32 %f1, %f1, 0f3EAE147B;\ncvt.rn.f32.s32 %f2, %r2;\nmul.f32 %f2, %f2, "
      "0f3F19999A;\n"
      "cvt.rn.f32.s32 %f3, %r3;\nmul.f32 %f3, %f3, 0f3F400000;\nmov.u64 %d4, 0x123456789abcdef;\n"
      "mul.lo.u32 %r8, %r0, 0x1234567;\nmul.lo.u32 %r9, %r8, 77;\nshl.b32 %r10, %r1, 3;\nshl.b32 %r11, %r2, "
      "2;\nand.b32 %r12, %r0, 1;\n"
      "cvt.u16.u32 %h0, %r8;\ncvt.u16.u32 %h1, %r9;\n{}\n"
      "st.global.v4.b32 [%d1], {{%r4,%r5,%r6,%r7}};\nst.global.v4.b32 [%d1+16], {{%f4,%f5,%f6,%f7}};\n"
      "st.global.b64 [%d1+32], %d2;\nst.global.b16 [%d1+40], %h2;\nst.global.b16 [%d1+42], %h3;\nbar.sync 0;\n"
      "mul.wide.u32 %d5, %r0, 16;\nmov.u64 %d6, texels;\nadd.u64 %d5, %d5, %d6;\n"
      "ld.global.v4.b32 {{%r4,%r5,%r6,%r7}}, [%d5];\nst.global.v4.b32 [%d1+48], {{%r4,%r5,%r6,%r7}};\nret;\n}}\n",
      texels, variable_of("header", header), variable_of("narrow", narrow), body);
}

struct Kind {
  const char* name;
  std::uint8_t dimensions;
  bool is_layered;
  const char* reals;     // coordinates between texels
  const char* integers;  // coordinates of texels
  const char* bytes;     // coordinates on a surface, where x counts bytes
  const char* inside;    // the same, on every surface
};

constexpr Kind kKinds[] = {
    {"1d", 1, false, "%f1", "%r1", "%r10", "%r11"},
    {"2d", 2, false, "%f1, %f2", "%r1, %r3", "%r10, %r3", "%r11, %r12"},
    {"3d", 3, false, "%f1, %f2, %f3, %f3", "%r1, %r3, %r2, %r2", "%r10, %r3, %r2, %r2", "%r11, %r12, %r12, %r12"},
    {"a1d", 1, true, "%r2, %f1", "%r2, %r1", "%r2, %r10", "%r12, %r11"},
    {"a2d", 2, true, "%r2, %f1, %f2, %f2", "%r2, %r1, %r3, %r3", "%r2, %r10, %r3, %r3", "%r12, %r11, %r12, %r12"},
};

std::vector<std::string> bodies(const Kind& kind) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& text) { all.push_back(text + ";"); };
  add(fmt::format("tex.{}.v4.f32.f32 {{%f4,%f5,%f6,%f7}}, [%d0, {{{}}}]", kind.name, kind.reals));
  add(fmt::format("tex.{}.v4.u32.f32 {{%r4,%r5,%r6,%r7}}, [%d0, {{{}}}]", kind.name, kind.reals));
  add(fmt::format("tex.{}.v4.s32.s32 {{%r4,%r5,%r6,%r7}}, [%d0, {{{}}}]", kind.name, kind.integers));
  add(fmt::format("tex.level.{}.v4.f32.f32 {{%f4,%f5,%f6,%f7}}, [%d0, {{{}}}], %f3", kind.name, kind.reals));
  if (std::string(kind.name) == "2d")
    for (const char channel : {'r', 'g', 'b', 'a'})
      add(fmt::format("tld4.{}.2d.v4.f32.f32 {{%f4,%f5,%f6,%f7}}, [%d0, {{{}}}]", channel, kind.reals));
  for (const char* outside : {"trap", "clamp", "zero"}) {
    const char* place = std::string(outside) == "trap" ? kind.inside : kind.bytes;
    add(fmt::format("suld.b.{}.b32.{} %r4, [%d0, {{{}}}]", kind.name, outside, place));
    add(fmt::format("suld.b.{}.v4.b8.{} {{%h2,%h3,%h4,%h5}}, [%d0, {{{}}}]", kind.name, outside, place));
    add(fmt::format("suld.b.{}.b64.{} %d2, [%d0, {{{}}}]", kind.name, outside, place));
    add(fmt::format("sust.b.{}.b32.{} [%d0, {{{}}}], %r8", kind.name, outside, place));
    add(fmt::format("sust.b.{}.v2.b16.{} [%d0, {{{}}}], {{%h0,%h1}}", kind.name, outside, place));
    add(fmt::format("sured.b.add.{}.u32.{} [%d0, {{{}}}], %r8", kind.name, outside, place));
    add(fmt::format("sured.b.min.{}.s32.{} [%d0, {{{}}}], %r8", kind.name, outside, place));
  }
  for (const char* field : {"width", "height", "depth", "array_size", "num_mipmap_levels", "normalized_coords"})
    add(fmt::format("txq.{}.b32 %r4, [%d0]", field));
  for (const char* field : {"width", "height", "depth", "array_size"}) add(fmt::format("suq.{}.b32 %r4, [%d0]", field));
  return all;
}

TEST(GoldenTextures, AreAsWrittenDown) {
  for (const Kind& kind : kKinds) {
    std::size_t number = 0;
    for (const std::string& body : bodies(kind)) {
      Digest digest;
      int runs = 0, ended = 0;
      for (const Shape& shape : kShapes) {
        if (shape.is_layered != kind.is_layered) continue;
        const auto module =
            ptx::parse(module_of(header_of(shape, kind.dimensions, body.starts_with("su")), body), "input");
        ASSERT_TRUE(module.ok()) << module.error().to_string();
        const std::string end = executed(*module, "k", digest);
        ++runs;
        if (end.ends_with(",ended")) ++ended;
      }
      expect_row(fmt::format("{} {} {}", body.substr(0, body.find(' ')), kind.name, number++),
                 fmt::format("{} of {} ended,{}", ended, runs, digest.hex()));
    }
  }
}

}  // namespace
}  // namespace wm::exec::test

#include "rewrite/ptx/image_functions.h"

#include <fmt/format.h>

#include "ptx/link.h"
#include "ptx/parse.h"

namespace wm::rewrite {
namespace {

struct Surface {
  const char* name;
  const char* geometry;  // as sust.b names it; null: linear memory
  const char* place;
};

Surface surface(ImageShape shape) {
  switch (shape) {
    case ImageShape::d1:
      return {"1d", "1d", "%x"};
    case ImageShape::d2:
      return {"2d", "2d", "%x, %y"};
    case ImageShape::d3:
      return {"3d", "3d", "%x, %y, %z, %z"};
    case ImageShape::d1_array:
      return {"1d_array", "a1d", "%z, %x"};
    case ImageShape::d2_array:
      return {"2d_array", "a2d", "%z, %x, %y, %y"};
    default:
      return {"1d_buffer", nullptr, ""};
  }
}

// One store for each size of an element, by the logarithm of its bytes.
std::string stores(const Surface& s) {
  struct Store {
    const char* vector;
    const char* type;
    const char* data;
  };
  constexpr Store kStores[] = {{"", "b8", "%h"},
                               {"", "b16", "%h"},
                               {"", "b32", "%w0"},
                               {".v2", "b32", "{%w0, %w1}"},
                               {".v4", "b32", "{%w0, %w1, %w2, %w3}"}};
  std::string text;
  for (int size = 0; size < 5; ++size) {
    const Store& store = kStores[size];
    text += fmt::format("setp.eq.u32 %p, %size, {};\n@%p ", size);
    text += s.geometry != nullptr
                ? fmt::format("sust.b.{}{}.{}.zero [%surface, {{{}}}], {};\n", s.geometry, store.vector, store.type,
                              s.place, store.data)
                : fmt::format("st.global{}.{} [%surface], {};\n", store.vector, store.type, store.data);
  }
  return text;
}

// The same instructions for each of the four components.
std::string for_components(const std::string& text) {
  std::string all;
  for (char c = '0'; c < '4'; ++c) {
    for (const char letter : text) all += letter == '#' ? c : letter;
  }
  return all;
}

// As surfaces of NVIDIA GPUs convert (`sust.p`, compared on an H200): channels that hold parts of one are rounded up
// from a fraction of 17/32 on, halves are cut off, and what is not a number becomes zero, or the half 0x7e00. The
// channels have the order of the format already: NVIDIA's compiler asks for it and moves them.
std::string convert() {
  const auto is = [](StoreKind kind) { return fmt::format("setp.eq.u32 %p, %kind, {};\n", static_cast<int>(kind)); };
  std::string text = is(StoreKind::bits) + "@%p bra packed;\n";
  text += is(StoreKind::half) + "@%p bra halves;\n";
  // The largest value of a channel without sign, and of one with a sign.
  text += "shl.b32 %bits, 8, %channel;\nmov.u32 %one, 1;\n";
  text += "shl.b32 %max, %one, %bits;\nsub.u32 %max, %max, 1;\nshr.u32 %signed_max, %max, 1;\n";
  text += is(StoreKind::unsigned_integer) + "@%p bra unsigned_integers;\n";
  text += is(StoreKind::signed_integer) + "@%p bra signed_integers;\n";
  text += fmt::format("setp.eq.u32 %p, %kind, {};\n", static_cast<int>(StoreKind::snorm));
  text += "selp.b32 %max, %signed_max, %max, %p;\nselp.f32 %low, 0fBF800000, 0f00000000, %p;\n";
  text += "cvt.rn.f32.u32 %scale, %max;\n";
  text += for_components(
      "mov.b32 %f, %c#;\nsetp.nan.f32 %p, %f, %f;\nselp.f32 %f, 0f00000000, %f, %p;\n"
      "max.f32 %f, %f, %low;\nmin.f32 %f, %f, 0f3F800000;\nmul.rn.f32 %f, %f, %scale;\n"
      "abs.f32 %magnitude, %f;\nadd.rn.f32 %magnitude, %magnitude, 0f3EF00000;\n"
      "cvt.rmi.f32.f32 %magnitude, %magnitude;\ncopysign.f32 %f, %f, %magnitude;\ncvt.rzi.s32.f32 %c#, %f;\n");
  text += "bra packed;\nhalves:\n";
  text += for_components(
      "mov.b32 %f, %c#;\nsetp.nan.f32 %p, %f, %f;\ncvt.rz.f16.f32 %h, %f;\ncvt.u32.u16 %c#, %h;\n"
      "selp.b32 %c#, 0x7e00, %c#, %p;\n");
  text += "bra packed;\nunsigned_integers:\n" + for_components("min.u32 %c#, %c#, %max;\n");
  text += "bra packed;\nsigned_integers:\nnot.b32 %signed_min, %signed_max;\n";
  return text + for_components("min.s32 %c#, %c#, %signed_max;\nmax.s32 %c#, %c#, %signed_min;\n");
}

}  // namespace

std::string write_function_name(ImageShape shape) { return std::string("wm_write_image_") + surface(shape).name; }

std::string write_function_text(ImageShape shape) {
  constexpr const char* kWords[] = {"format", "width", "rows", "slices", "x", "y", "z", "c0", "c1", "c2", "c3"};
  static_assert(std::size(kWords) + 1 == kWriteParameters);
  const Surface s = surface(shape);
  std::string text = ".func " + write_function_name(shape) + "(.param .b64 surface";
  for (const char* word : kWords) text += fmt::format(", .param .b32 {}", word);
  text += R"()
{
.reg .pred %p;
.reg .b16 %h;
.reg .f32 %f, %low, %scale, %magnitude;
.reg .b64 %surface, %offset;
.reg .b32 %kind, %channel, %channels, %size, %bits, %one, %max, %signed_max, %signed_min, %w0, %w1, %w2, %w3;
)";
  for (const char* word : kWords) text += fmt::format(".reg .b32 %{};\n", word);
  text += "ld.param.b64 %surface, [surface];\n";
  for (const char* word : kWords) text += fmt::format("ld.param.b32 %{0}, [{0}];\n", word);
  for (const auto& [place, end] : {std::pair("x", "width"), std::pair("y", "rows"), std::pair("z", "slices")}) {
    text += fmt::format("setp.ge.u32 %p, %{}, %{};\n@%p bra written;\n", place, end);
  }
  text += "and.b32 %kind, %format, 15;\nbfe.u32 %channel, %format, 4, 4;\nbfe.u32 %channels, %format, 8, 4;\n";
  text += "add.u32 %size, %channel, %channels;\n";
  text += convert();
  // Channels of one, two and four bytes become words.
  text += R"(packed:
mov.b32 %w0, %c0; mov.b32 %w1, %c1; mov.b32 %w2, %c2; mov.b32 %w3, %c3;
setp.eq.u32 %p, %channel, 2; @%p bra words;
setp.eq.u32 %p, %channel, 1; @%p bra pairs;
prmt.b32 %w0, %c0, %c1, 0x0040; prmt.b32 %w1, %c2, %c3, 0x0040; prmt.b32 %w0, %w0, %w1, 0x5410; bra words;
pairs: prmt.b32 %w0, %c0, %c1, 0x5410; prmt.b32 %w1, %c2, %c3, 0x5410;
words: cvt.u16.u32 %h, %w0;
)";
  text += s.geometry != nullptr ? "shl.b32 %x, %x, %size;\n"
                                : "cvt.u64.u32 %offset, %x;\nshl.b64 %offset, %offset, %size;\n"
                                  "add.s64 %surface, %surface, %offset;\n";
  return text + stores(s) + "written: ret;\n}\n";
}

Result<ptx::Module> with_write_functions(ptx::Module module, const std::set<ImageShape>& shapes) {
  if (shapes.empty()) return module;
  std::string text = fmt::format(".version {}.{}\n.target {}\n.address_size 64\n", module.version_major,
                                 module.version_minor, module.targets.front());
  for (const ImageShape shape : shapes) text += write_function_text(shape);
  auto functions = ptx::parse(text, "functions that write images");
  if (!functions) return functions.error();
  std::vector<ptx::Module> parts;
  parts.push_back(std::move(module));
  parts.push_back(*std::move(functions));
  return ptx::link(std::move(parts));
}

}  // namespace wm::rewrite

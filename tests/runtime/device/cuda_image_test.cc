// Kernels in the form of NVIDIA's OpenCL compiler (driver 580) read, write and query images on the CUDA backend with
// the simulated CUDA driver.
#include <cmath>

#include "runtime/device/cuda_images.h"
#include "runtime/device/worker_tables.h"

namespace wm::runtime::cuda {
namespace {

// One element a thread: the place is the thread's number minus one, so that the first and the last are outside.
constexpr const char* kReadUnsigned = R"(
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x;
mad.lo.s32 %r4, %r2, %r3, %r1; sub.s32 %r5, %r1, 1; sub.s32 %r6, %r2, 1;
tex.2d.v4.s32.s32 {%r7, %r8, %r9, %r10}, [from, how, {%r5, %r6}];
mul.wide.u32 %d2, %r4, 16; add.s64 %d3, %d1, %d2; st.global.v4.u32 [%d3], {%r7, %r8, %r9, %r10}; ret;)";
constexpr const char* kReadParameters =
    ".param .texref from, .param .samplerref how, .param .u64 .ptr .global .align 16 out";

TEST_F(Images, KernelsReadElementsThroughASampler) {
  constexpr std::size_t kWidth = 5, kHeight = 3;
  const KernelHandle read = kernel(ptx_kernel("read", kReadParameters, kReadUnsigned), "read");
  const MemoryHandle from = image(ImageKind::d2, kRGBA, kUint8, kWidth, kHeight);
  std::vector<std::uint8_t> elements(kWidth * kHeight * 4);
  std::iota(elements.begin(), elements.end(), std::uint8_t{1});
  ASSERT_EQ(transfer(true, from, {}, {kWidth, kHeight, 1}, elements), status::kSuccess);
  EXPECT_EQ(contents<std::uint8_t>(from), elements);
  const MemoryHandle out = buffer((kWidth + 2) * (kHeight + 2) * 16);
  for (const std::uint32_t addressing : {kClampToEdge, kClamp}) {
    const SamplerHandle how = sampler(false, addressing, kNearest);
    ASSERT_EQ(run(read, {memory(from), sampler(how), memory(out)}, {7, 5, 1}, {7, 5, 1}), status::kSuccess);
    const auto got = bytes_of<std::uint32_t>(out, 7 * 5 * 4);
    for (int y = -1; y <= 3; ++y) {
      for (int x = -1; x <= 5; ++x) {
        const bool is_inside = x >= 0 && x < 5 && y >= 0 && y < 3;
        const std::size_t at = static_cast<std::size_t>((y + 1) * 7 + x + 1) * 4;
        const auto nearest = static_cast<std::size_t>(std::clamp(y, 0, 2) * 5 + std::clamp(x, 0, 4)) * 4;
        for (std::size_t c = 0; c < 4; ++c) {
          const std::uint32_t expected = is_inside || addressing == kClampToEdge ? elements[nearest + c] : 0;
          EXPECT_EQ(got[at + c], expected) << x << ", " << y << ", component " << c;
        }
      }
    }
  }
}

TEST_F(Images, ComponentsAreThoseOfTheChannelOrder) {
  const KernelHandle read = kernel(ptx_kernel("read", kReadParameters, kReadUnsigned), "read");
  const SamplerHandle how = sampler(false, kClamp, kNearest);
  struct Case {
    std::uint32_t order;
    std::size_t channels;
    std::array<std::uint32_t, 4> inside, border;
  };
  for (const Case& c : {Case{kR, 1, {7, 0, 0, 1}, {0, 0, 0, 1}}, Case{kA, 1, {0, 0, 0, 7}, {0, 0, 0, 0}},
                        Case{kRG, 2, {7, 8, 0, 1}, {0, 0, 0, 1}}, Case{kBGRA, 4, {9, 8, 7, 10}, {0, 0, 0, 0}}}) {
    const MemoryHandle from = image(ImageKind::d2, c.order, kUint8, 1, 1), out = buffer(9 * 16);
    std::vector<std::uint8_t> element(c.channels);
    std::iota(element.begin(), element.end(), std::uint8_t{7});
    ASSERT_EQ(transfer(true, from, {}, {1, 1, 1}, element), status::kSuccess);
    ASSERT_EQ(run(read, {memory(from), sampler(how), memory(out)}, {3, 3, 1}, {3, 3, 1}), status::kSuccess);
    const auto got = bytes_of<std::uint32_t>(out, 9 * 4);
    EXPECT_TRUE(std::equal(c.inside.begin(), c.inside.end(), got.begin() + 16)) << std::hex << c.order;
    EXPECT_TRUE(std::equal(c.border.begin(), c.border.end(), got.begin())) << std::hex << c.order;
  }
}

// As NVIDIA's compiler declares literal samplers.
constexpr const char* kLiteralSamplers = R"(
.global .samplerref repeated = { addr_mode_0 = wrap, addr_mode_1 = wrap, addr_mode_2 = wrap, filter_mode = linear };
.global .samplerref samp$2 = { addr_mode_0 = mirror, addr_mode_1 = mirror, addr_mode_2 = mirror, filter_mode = nearest };
.global .samplerref edge = { addr_mode_0 = clamp_to_edge, addr_mode_1 = clamp_to_edge, addr_mode_2 = clamp_to_edge, filter_mode = linear, force_unnormalized_coords = 1 };
)";

TEST_F(Images, LiteralSamplersFilterAndRepeat) {
  const std::string body = R"(
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; mul.f32 %f2, %f1, 0f3E800000;
add.f32 %f2, %f2, 0fBF800000; mov.f32 %f3, 0f3F000000;
tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [from, repeated, {%f2, %f3}];
mul.wide.u32 %d2, %r1, 12; add.s64 %d3, %d1, %d2; st.global.f32 [%d3], %f4;
tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [from, samp$2, {%f2, %f3}]; st.global.f32 [%d3+4], %f4;
tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [from, edge, {%f2, %f3}]; st.global.f32 [%d3+8], %f4; ret;)";
  const KernelHandle read =
      kernel(kLiteralSamplers + ptx_kernel("read", ".param .texref from, .param .u64 .ptr .global .align 16 out", body),
             "read");
  const MemoryHandle from = image(ImageKind::d2, kR, kFloat, 2, 1), out = buffer(std::size_t{17} * 12);
  std::vector<float> elements{10, 20};
  ASSERT_EQ(transfer(true, from, {}, {2, 1, 1}, elements), status::kSuccess);
  ASSERT_EQ(run(read, {memory(from), memory(out)}, {17, 1, 1}, {17, 1, 1}), status::kSuccess);
  const auto got = bytes_of<float>(out, std::size_t{17} * 3);
  const auto texel = [&](double i) { return elements[static_cast<std::size_t>(i) % 2]; };
  for (int i = 0; i < 17; ++i) {
    const double u = i * 0.25 - 1;
    const double period = (u - std::floor(u)) * 2 - 0.5, low = std::floor(period), part = period - low;
    const double repeated = (1 - part) * texel(low + 2) + part * texel(low + 3);
    EXPECT_NEAR(got[static_cast<std::size_t>(i) * 3], repeated, 0.05) << u;
    const double folded = std::fabs(u - 2 * std::round(u / 2));
    EXPECT_EQ(got[static_cast<std::size_t>(i) * 3 + 1], texel(std::min(std::floor(folded * 2), 1.0))) << u;
    EXPECT_NEAR(got[static_cast<std::size_t>(i) * 3 + 2], 10 + 10 * std::clamp(u - 0.5, 0.0, 1.0), 0.05) << u;
  }
}

// Every thread writes four components at its place minus one, in the channels' order, as compiled kernels do.
std::string writing_kernel(const std::string& geometry, const std::string& place, const std::string& handle = "to",
                           const std::string& parameter = ".param .surfref to") {
  return ptx_kernel(
      "write", parameter + ", .param .u32 c0, .param .u32 c1, .param .u32 c2, .param .u32 c3",
      "ld.param.u32 %r1, [c0]; ld.param.u32 %r2, [c1]; ld.param.u32 %r3, [c2]; ld.param.u32 %r4, [c3];\n" +
          (handle == "to" ? std::string() : "ld.param.u64 " + handle + ", [to];\n") +
          "mov.u32 %r5, %tid.x; mov.u32 %r6, %tid.y; mov.u32 %r7, %tid.z;\n"
          "sub.s32 %r5, %r5, 1; sub.s32 %r6, %r6, 1; sub.s32 %r7, %r7, 1;\n"
          "sust.p." +
          geometry + ".v4.b32.trap [" + handle + ", {" + place + "}], {%r1, %r2, %r3, %r4}; ret;");
}

std::vector<KernelArgument> with_components(const MemoryHandle& image, const std::array<std::uint32_t, 4>& c) {
  std::vector<KernelArgument> arguments{{ArgumentKind::memory, 8, nullptr, image.get(), nullptr}};
  for (const std::uint32_t& one : c) arguments.push_back({ArgumentKind::value, 4, &one, nullptr, nullptr});
  return arguments;
}

TEST_F(Images, KernelsWriteEveryShapeAndNothingOutside) {
  struct Case {
    ImageKind kind;
    const char* geometry;
    const char* place;
    Size3 size;
  };
  const std::array<std::uint32_t, 4> colour{11, 12, 13, 14};
  for (const Case& c : {Case{ImageKind::d1, "1d", "%r5", {3, 0, 0}}, Case{ImageKind::d2, "2d", "%r5, %r6", {3, 2, 0}},
                        Case{ImageKind::d3, "3d", "%r5, %r6, %r7, %r7", {3, 2, 2}},
                        Case{ImageKind::d1_array, "a1d", "%r7, %r5", {3, 0, 2}},
                        Case{ImageKind::d2_array, "a2d", "%r7, %r5, %r6, %r6", {3, 2, 2}}}) {
    const KernelHandle write = kernel(writing_kernel(c.geometry, c.place), "write");
    const MemoryHandle to = image(c.kind, kRGBA, kUint32, c.size[0], c.size[1], c.size[2]);
    ASSERT_EQ(run(write, with_components(to, colour), {5, 4, 4}, {5, 4, 4}), status::kSuccess) << c.geometry;
    const auto got = contents<std::uint32_t>(to);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], colour[i % 4]) << c.geometry << " " << i;
  }
  // The memory behind an image of a buffer belongs to somebody else.
  const KernelHandle write = kernel(writing_kernel("1d_buffer", "%r5", "%d1", ".param .u64 .ptr .surfref to"), "write");
  const MemoryHandle storage = buffer(64);
  backend->allocation().wipe(*queue, *storage);
  const MemoryHandle part = backend->allocation().create_sub_buffer(storage, 0, 0, 48).object;
  const MemoryHandle to = image_of(part, kRGBA, kUint32, 2);
  ASSERT_EQ(run(write, with_components(to, colour), {5, 1, 1}, {5, 1, 1}), status::kSuccess);
  EXPECT_EQ(bytes_of<std::uint32_t>(storage, 16),
            (std::vector<std::uint32_t>{11, 12, 13, 14, 11, 12, 13, 14, 0, 0, 0, 0, 0, 0, 0, 0}));
}

std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }

// Parts of one are rounded up from a fraction of 17/32 on and halves are cut off, as by surfaces of an H200. A fill
// puts the channels into the order of the format; compiled kernels have done so before they write.
TEST_F(Images, WritesAndFillsConvertToTheFormat) {
  const KernelHandle write = kernel(writing_kernel("2d", "%r5, %r6"), "write");
  struct Case {
    std::uint32_t order, type;
    std::array<std::uint32_t, 4> components;
    std::vector<std::uint8_t> written, filled;
  };
  const float nan = std::nanf("");
  const auto negative = [](int n) { return static_cast<std::uint32_t>(-n); };
  const std::vector<std::uint8_t> as_written;
  const std::vector<Case> cases{
      {kRGBA, kUnorm8, {bits(0.5F), bits(-1), bits(2), bits(nan)}, {127, 0, 255, 0}, as_written},
      {kRGBA, kUnorm8, {bits(0.3F), bits(0.1F), bits(0.503F), bits(0.497F)}, {76, 25, 128, 127}, as_written},
      {kRGBA,
       kSnorm16,
       {bits(-0.5F), bits(-2), bits(1), bits(nan)},
       {0x01, 0xc0, 0x01, 0x80, 0xff, 0x7f, 0, 0},
       as_written},
      // 96.52, 82.55, -96.52 and -82.55 of 127
      {kRGBA, kSnorm8, {bits(0.76F), bits(0.65F), bits(-0.76F), bits(-0.65F)}, {96, 83, 0xa0, 0xad}, as_written},
      {kR, kUnorm16, {bits(0.0019F), 0, 0, 0}, {124, 0}, as_written},
      {kRGBA, kSint8, {200, negative(200), 5, negative(5)}, {127, 0x80, 5, 0xfb}, as_written},
      {kRG, kUint8, {300, 7, 0, 0}, {255, 7}, as_written},
      {kRG, kHalf, {bits(nan), bits(1.5F), 0, 0}, {0x00, 0x7e, 0x00, 0x3e}, as_written},
      {kRGBA,
       kHalf,
       {bits(65536), bits(-65535), bits(INFINITY), bits(-INFINITY)},
       {0xff, 0x7b, 0xff, 0xfb, 0x00, 0x7c, 0x00, 0xfc},
       as_written},
      {kRGBA,
       kHalf,
       {bits(-1.0009F), bits(8.9e-8F), bits(-0.0F), bits(1.0009F)},
       {0x00, 0xbc, 0x01, 0x00, 0x00, 0x80, 0x00, 0x3c},
       as_written},
      {kR, kFloat, {bits(0.1F), 0, 0, 0}, {0xcd, 0xcc, 0xcc, 0x3d}, as_written},
      {kIntensity, kUnorm8, {bits(1), 0, 0, 0}, {255}, as_written},
      {kA, kUnorm8, {bits(0.2F), bits(1), bits(1), bits(0.4F)}, {51}, {102}},
      {kRA, kUint8, {1, 2, 3, 4}, {1, 2}, {1, 4}},
      {kBGRA, kUnorm8, {bits(0.2F), bits(0.4F), bits(0.6F), bits(0.8F)}, {51, 102, 153, 204}, {153, 102, 51, 204}},
      {kARGB, kUint8, {1, 2, 3, 4}, {1, 2, 3, 4}, {4, 1, 2, 3}},
  };
  for (const Case& c : cases) {
    const MemoryHandle to = image(ImageKind::d2, c.order, c.type, 1, 1);
    ASSERT_EQ(run(write, with_components(to, c.components), {2, 2, 1}, {2, 2, 1}), status::kSuccess);
    EXPECT_EQ(contents<std::uint8_t>(to), c.written) << std::hex << c.order << " " << c.type;
    const MemoryHandle filled = image(ImageKind::d2, c.order, c.type, 1, 1);
    ASSERT_EQ(backend->submission().submit(
                  *queue, ImageFill{filled, std::as_bytes(std::span(c.components)), {}, {1, 1, 1}}, nullptr),
              status::kSuccess);
    EXPECT_EQ(contents<std::uint8_t>(filled), c.filled.empty() ? c.written : c.filled)
        << std::hex << c.order << " " << c.type;
  }
}

TEST_F(Images, GuardedAccessesAreOnlyTheirThreads) {
  const std::string body = R"(
mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 1; mov.u32 %r2, 5;
@%p1 sust.p.1d.v4.b32.trap [to, {%r1}], {%r2, %r2, %r2, %r2}; ret;)";
  const KernelHandle write = kernel(ptx_kernel("write", ".param .surfref to", body), "write");
  const MemoryHandle to = image(ImageKind::d1, kR, kUint32, 3);
  ASSERT_EQ(run(write, {memory(to)}, {3, 1, 1}, {3, 1, 1}), status::kSuccess);
  EXPECT_EQ(contents<std::uint32_t>(to), (std::vector<std::uint32_t>{5, 0, 5}));
}

TEST_F(Images, OneDimensionalReadsTakeImagesOfBuffersToo) {
  const std::string body = R"(
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; tex.1d.v4.s32.s32 {%r7, %r8, %r9, %r10}, [from, samp$2, {%r1}];
mul.wide.u32 %d2, %r1, 16; add.s64 %d3, %d1, %d2; st.global.v4.u32 [%d3], {%r7, %r8, %r9, %r10}; ret;)";
  const KernelHandle read =
      kernel(kLiteralSamplers + ptx_kernel("read", ".param .texref from, .param .u64 .ptr .global .align 16 out", body),
             "read");
  const MemoryHandle bytes = buffer(512), out = buffer(64);
  std::vector<std::uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8};
  const MemoryHandle row = image(ImageKind::d1, kRG, kUint8, 4), shown = image_of(bytes, kRG, kUint8, 4);
  const std::vector<std::uint32_t> expected{1, 2, 0, 1, 3, 4, 0, 1, 5, 6, 0, 1, 7, 8, 0, 1};
  ASSERT_EQ(transfer(true, shown, {}, {4, 1, 1}, values), status::kSuccess);
  EXPECT_EQ(bytes_of<std::uint8_t>(bytes, 8), values);
  ASSERT_EQ(transfer(true, row, {}, {4, 1, 1}, values), status::kSuccess);
  for (const MemoryHandle& from : {shown, row}) {
    backend->allocation().wipe(*queue, *out);
    ASSERT_EQ(run(read, {memory(from), memory(out)}, {4, 1, 1}, {4, 1, 1}), status::kSuccess);
    EXPECT_EQ(bytes_of<std::uint32_t>(out, 16), expected);
  }
}

TEST_F(Images, KernelsAskForSizesAndFormats) {
  const std::string body = R"(
ld.param.u64 %d1, [out];
txq.width.b32 %r1, [a]; st.global.u32 [%d1], %r1; txq.height.b32 %r1, [a]; st.global.u32 [%d1+4], %r1;
txq.channel_data_type.b32 %r1, [a]; st.global.u32 [%d1+8], %r1; txq.channel_order.b32 %r1, [a]; st.global.u32 [%d1+12], %r1;
suq.array_size.b32 %r1, [b]; st.global.u32 [%d1+16], %r1; suq.channel_order.b32 %r1, [b]; st.global.u32 [%d1+20], %r1;
txq.depth.b32 %r1, [c]; st.global.u32 [%d1+24], %r1; ret;)";
  const KernelHandle ask = kernel(
      ptx_kernel("ask", ".param .texref a, .param .surfref b, .param .texref c, .param .u64 .ptr .global .align 4 out",
                 body),
      "ask");
  EXPECT_EQ(backend->compilation().properties(*ask).parameters,
            (std::vector<ParameterKind>{ParameterKind::image, ParameterKind::image, ParameterKind::image,
                                        ParameterKind::memory}));
  const MemoryHandle a = image(ImageKind::d2, kRG, kHalf, 6, 5),
                     b = image(ImageKind::d1_array, kBGRA, kUnorm8, 4, 0, 9),
                     c = image(ImageKind::d3, kR, kFloat, 2, 3, 4), out = buffer(28);
  ASSERT_EQ(run(ask, {memory(a), memory(b), memory(c), memory(out)}, {1, 1, 1}, {1, 1, 1}), status::kSuccess);
  EXPECT_EQ(bytes_of<std::uint32_t>(out, 7), (std::vector<std::uint32_t>{6, 5, kHalf, kRG, 9, kBGRA, 4}));
}

TEST_F(Images, ArgumentsMustBeImagesOfTheShapeThatIsAccessed) {
  const KernelHandle read = kernel(ptx_kernel("read", kReadParameters, kReadUnsigned), "read");
  const KernelHandle write = kernel(writing_kernel("2d", "%r5, %r6"), "write");
  const MemoryHandle flat = image(ImageKind::d2, kRGBA, kUint8, 2, 2),
                     solid = image(ImageKind::d3, kRGBA, kUint8, 2, 2, 2),
                     srgb = image(ImageKind::d2, kSrgba, kUnorm8, 2, 2), out = buffer(64);
  const SamplerHandle how = sampler(false, kClamp, kNearest);
  Submission& submission = backend->submission();
  EXPECT_EQ(submission.check_argument(*read, 0, memory(flat)), status::kSuccess);
  EXPECT_EQ(submission.check_argument(*read, 0, memory(solid)), status::kInvalidMemoryObject);
  EXPECT_EQ(submission.check_argument(*read, 0, memory(out)), status::kInvalidMemoryObject);
  EXPECT_EQ(submission.check_argument(*read, 2, memory(flat)), status::kInvalidMemoryObject);
  EXPECT_EQ(submission.check_argument(*read, 1, sampler(how)), status::kSuccess);
  EXPECT_EQ(submission.check_argument(*read, 1, memory(flat)), status::kInvalidArgumentSize);
  EXPECT_EQ(submission.check_argument(*read, 0, sampler(how)), status::kInvalidArgumentSize);
  EXPECT_EQ(submission.check_argument(*write, 0, memory(flat)), status::kSuccess);
  EXPECT_EQ(submission.check_argument(*write, 0, memory(srgb)), status::kInvalidMemoryObject);
}

// The driver neither filters nor clamps in linear memory, and surfaces are arrays.
TEST_F(Images, ImagesOfBuffersAreNeitherSampledNorWrittenAsArrays) {
  const MemoryHandle bytes = buffer(512), shown = image_of(bytes, kR, kUint32, 4),
                     row = image(ImageKind::d1, kR, kUint32, 4);
  const std::string by_place = "tex.1d.v4.s32.f32 {%r7, %r8, %r9, %r10}, [from, samp$2, {%f1}]; ret;",
                    by_sampler = "tex.1d.v4.s32.s32 {%r7, %r8, %r9, %r10}, [from, how, {%r1}]; ret;",
                    write = "sust.p.1d.v4.b32.trap [from, {%r1}], {%r1, %r1, %r1, %r1}; ret;";
  const std::vector<KernelHandle> kernels{
      kernel(kLiteralSamplers + ptx_kernel("k", ".param .texref from", by_place), "k"),
      kernel(ptx_kernel("k", ".param .texref from, .param .samplerref how", by_sampler), "k"),
      kernel(ptx_kernel("k", ".param .surfref from", write), "k")};
  for (const KernelHandle& k : kernels) {
    EXPECT_EQ(backend->submission().check_argument(*k, 0, memory(row)), status::kSuccess);
    EXPECT_EQ(backend->submission().check_argument(*k, 0, memory(shown)), status::kInvalidMemoryObject);
  }
}

// Pinned memory for transfers held the data of earlier ones, perhaps of another client.
// Each group of two threads copies two elements from one image to another, with channels that change places.
TEST_F(Images, GatedKernelsAndWorkersReadAndWriteTheSameImages) {
  backend->make_workers();
  const std::string body = R"(
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r3; mov.u32 %r4, 0;
again: tex.2d.v4.s32.s32 {%r7, %r8, %r9, %r10}, [from, how, {%r1, %r4}];
sust.p.2d.v4.b32.trap [to, {%r1, %r4}], {%r9, %r8, %r7, %r10};
add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3; @%p1 bra again;
mov.b32 %r5, %envreg9; ret;)";
  const KernelHandle copy =
      kernel(ptx_kernel("copy", ".param .texref from, .param .samplerref how, .param .surfref to", body), "copy");
  ASSERT_TRUE(of(*copy).gated != nullptr && of(*copy).workers != nullptr)
      << backend->compilation().properties(*copy).workers->refusal;
  constexpr std::size_t kWidth = 40, kHeight = 3;
  const MemoryHandle from = image(ImageKind::d2, kBGRA, kUint8, kWidth, kHeight);
  std::vector<std::uint8_t> elements(kWidth * kHeight * 4);
  std::iota(elements.begin(), elements.end(), std::uint8_t{1});
  ASSERT_EQ(transfer(true, from, {}, {kWidth, kHeight, 1}, elements), status::kSuccess);
  const SamplerHandle how = sampler(false, kClamp, kNearest);
  const auto tables = backend->make_worker_tables();
  const auto table = tables->take();
  const auto counters = tables->take_counters();
  const std::vector<std::uint32_t> limits(backend->compute_units(), 3), any(limits.size(), 0);
  ASSERT_EQ(table->begin({limits, any}), status::kSuccess);
  for (const bool is_workers : {false, true}) {
    const MemoryHandle to = image(ImageKind::d2, kBGRA, kUint8, kWidth, kHeight);
    const std::vector<KernelArgument> arguments{memory(from), sampler(how), memory(to)};
    KernelLaunch launch;
    launch.kernel = copy.get();
    launch.arguments = arguments;
    launch.global = {kWidth, 1, 1};
    launch.local = Size3{2, 1, 1};
    std::vector<EventHandle> after;
    if (is_workers) {
      launch.workers = WorkerLaunch{.table = &table->memory(), .counters = counters.get(), .workers = 5, .chunk = 2};
      if (const EventHandle written = table->ready_event()) after.push_back(written);
      launch.after = after;
    } else {
      launch.sharing.yields = true;
    }
    ASSERT_EQ(backend->submission().launch(*queue, launch, nullptr), status::kSuccess);
    backend->submission().finish(*queue);
    EXPECT_EQ(contents<std::uint8_t>(to), elements) << is_workers;
  }
  EXPECT_TRUE(counters->is_complete());
}

TEST_F(Images, KernelsThatNeedMoreOfImagesAreRefusedWithAReason) {
  const std::string both =
      ptx_kernel("both", ".param .surfref a", "mov.u32 %r1, 0; suld.b.2d.b32.trap {%r2}, [a, {%r1, %r1}]; ret;");
  const std::string taken = ptx_kernel("taken", ".param .texref a", "mov.u64 %d1, a; ret;");
  const std::string fine = ptx_kernel("fine", ".param .texref a", "ret;");
  Compilation& compiler = backend->compilation();
  program = compiler.program_from_source(opencl_ptx(both + taken + fine)).object;
  ASSERT_EQ(compiler.build(*program, ""), status::kSuccess);
  EXPECT_FALSE(compiler.create_kernel(*program, "both").object);
  EXPECT_FALSE(compiler.create_kernel(*program, "taken").object);
  EXPECT_TRUE(compiler.create_kernel(*program, "fine").object);
  const std::string log = compiler.build_log(*program);
  EXPECT_NE(log.find("kernel 'both' cannot run on the CUDA driver: it reads and writes one image"), std::string::npos);
  EXPECT_NE(log.find("kernel 'taken' cannot run on the CUDA driver: an image or a sampler is used as a value"),
            std::string::npos);
}

// The compiler's driver names more formats for images that are only read, and depth images are not offered.

}  // namespace
}  // namespace wm::runtime::cuda

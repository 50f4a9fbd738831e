// Images on the CUDA backend with the simulated CUDA driver: kernels in the form of NVIDIA's OpenCL compiler (driver
// 580) read, write and query them, and commands move them.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/cuda/image.h"
#include "runtime/device/ptx_front_end.h"
#include "tree.h"

namespace wm::runtime::cuda {
namespace {

// Numbers of OpenCL.
constexpr std::uint32_t kR = 0x10B0, kA = 0x10B1, kRG = 0x10B2, kRA = 0x10B3, kRGBA = 0x10B5, kBGRA = 0x10B6,
                        kARGB = 0x10B7, kIntensity = 0x10B8, kDepth = 0x10BD, kSrgba = 0x10C1;
constexpr std::uint64_t kReadOnly = 1 << 2;  // CL_MEM_READ_ONLY
constexpr std::uint32_t kSnorm16 = 0x10D1, kUnorm8 = 0x10D2, kSint8 = 0x10D7, kUint8 = 0x10DA, kUint32 = 0x10DC,
                        kHalf = 0x10DD, kFloat = 0x10DE;
constexpr std::uint32_t kClampToEdge = 0x1131, kClamp = 0x1132, kRepeat = 0x1133, kNearest = 0x1140, kLinear = 0x1141;

struct Images : testing::Test {
  Images() {
    const auto calls = load_driver(binary_path("lib/simulated/libcuda.so.1"));
    EXPECT_TRUE(calls) << calls.error().what;
    auto device = Device::open(*calls);
    EXPECT_TRUE(device) << device.error().what;
    backend = std::make_unique<CudaBackend>(std::move(*device), std::make_unique<PtxFrontEnd>());
    queue = backend->allocation().create_queue(true, true).object;
  }

  KernelHandle kernel(const std::string& text, const std::string& name) {
    Compilation& compiler = backend->compilation();
    program = compiler.program_from_source(opencl_ptx(text)).object;
    EXPECT_EQ(compiler.build(*program, ""), status::kSuccess) << compiler.build_log(*program);
    auto made = compiler.create_kernel(*program, name).object;
    EXPECT_TRUE(made) << compiler.build_log(*program);
    return made;
  }

  static ImageRequest request(ImageKind kind, std::uint32_t order, std::uint32_t type, std::size_t width,
                              std::size_t height = 0, std::size_t depth_or_layers = 0) {
    ImageRequest r;
    r.object_type = static_cast<ImageType>(kind);
    r.flags = order == kSrgba ? kReadOnly : 0;
    r.channel_order = order;
    r.channel_type = type;
    r.width = width;
    r.height = height;
    (kind == ImageKind::d3 ? r.depth : r.array_size) = depth_or_layers;
    return r;
  }
  MemoryHandle image(ImageKind kind, std::uint32_t order, std::uint32_t type, std::size_t width, std::size_t height = 0,
                     std::size_t depth_or_layers = 0) {
    auto made = backend->allocation().create_image(request(kind, order, type, width, height, depth_or_layers));
    EXPECT_EQ(made.status, status::kSuccess);
    return made.object;
  }
  MemoryHandle buffer(std::size_t bytes) { return backend->allocation().create_buffer({0, bytes, {}}).object; }
  MemoryHandle image_of(const MemoryHandle& buffer, std::uint32_t order, std::uint32_t type, std::size_t width) {
    ImageRequest r = request(ImageKind::d1_buffer, order, type, width);
    r.buffer = buffer;
    r.buffer_extent = of(*buffer).bytes;
    return backend->allocation().create_image(r).object;
  }
  SamplerHandle sampler(bool is_normalized, std::uint32_t addressing, std::uint32_t filter) {
    return backend->allocation().create_sampler(is_normalized, addressing, filter).object;
  }

  template <typename T>
  Status transfer(bool to_device, const MemoryHandle& image, Size3 origin, Size3 region, std::vector<T>& values) {
    return backend->submission().submit(
        *queue, ImageTransfer{to_device, image, origin, region, std::as_writable_bytes(std::span(values))}, nullptr);
  }
  template <typename T>
  std::vector<T> contents(const MemoryHandle& image) {
    const CudaImage& i = *of(*image).image();
    std::vector<T> values(box_bytes(i) / sizeof(T));
    EXPECT_EQ(transfer(false, image, {}, i.extent(), values), status::kSuccess);
    return values;
  }
  template <typename T>
  std::vector<T> bytes_of(const MemoryHandle& memory, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(backend->submission().submit(
                  *queue, BufferTransfer{false, memory, 0, std::as_writable_bytes(std::span(values)), true}, nullptr),
              status::kSuccess);
    return values;
  }
  static std::size_t box_bytes(const CudaImage& i) {
    const Size3 all = i.extent();
    return all[0] * all[1] * all[2] * i.format.element_bytes();
  }

  static KernelArgument memory(const MemoryHandle& m) { return {ArgumentKind::memory, 8, nullptr, m.get(), nullptr}; }
  static KernelArgument sampler(const SamplerHandle& s) {
    return {ArgumentKind::sampler, 8, nullptr, nullptr, s.get()};
  }
  Status run(const KernelHandle& kernel, std::vector<KernelArgument> arguments, Size3 global, Size3 local) {
    KernelLaunch launch;
    launch.kernel = kernel.get();
    launch.arguments = arguments;
    launch.dimensions = 3;
    launch.global = global;
    launch.local = local;
    const Status status = backend->submission().launch(*queue, launch, nullptr);
    backend->submission().finish(*queue);
    return status;
  }

  std::unique_ptr<CudaBackend> backend;
  QueueHandle queue;
  ProgramHandle program;
};

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

// Every thread writes (c + x, c, c + y, 1) at its place minus one, in the channels' order.
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
  const MemoryHandle whole = buffer(64);
  backend->allocation().wipe(*queue, *whole);
  const MemoryHandle part = backend->allocation().create_sub_buffer(whole, 0, 0, 48).object;
  const MemoryHandle to = image_of(part, kRGBA, kUint32, 2);
  ASSERT_EQ(run(write, with_components(to, colour), {5, 1, 1}, {5, 1, 1}), status::kSuccess);
  EXPECT_EQ(bytes_of<std::uint32_t>(whole, 16),
            (std::vector<std::uint32_t>{11, 12, 13, 14, 11, 12, 13, 14, 0, 0, 0, 0, 0, 0, 0, 0}));
}

std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }

TEST_F(Images, WritesConvertToTheFormat) {
  const KernelHandle write = kernel(writing_kernel("2d", "%r5, %r6"), "write");
  struct Case {
    std::uint32_t order, type;
    std::array<std::uint32_t, 4> components;
    std::vector<std::uint8_t> bytes;
  };
  const float nan = std::nanf("");
  const std::vector<Case> cases{
      {kRGBA, kUnorm8, {bits(0.5F), bits(-1), bits(2), bits(nan)}, {128, 0, 255, 0}},
      {kRGBA, kSnorm16, {bits(-0.5F), bits(-2), bits(1), bits(0)}, {0x00, 0xc0, 0x01, 0x80, 0xff, 0x7f, 0, 0}},
      {kRGBA, kSint8, {200, static_cast<std::uint32_t>(-200), 5, static_cast<std::uint32_t>(-5)}, {127, 0x80, 5, 0xfb}},
      {kRG, kUint8, {300, 7, 0, 0}, {255, 7}},
      {kR, kHalf, {bits(1.5F), 0, 0, 0}, {0x00, 0x3e}},
      {kRGBA,
       kHalf,
       {bits(65536), bits(5.9604645e-8F), bits(-0.0F), bits(1.00048828125F)},
       {0x00, 0x7c, 0x01, 0x00, 0x00, 0x80, 0x00, 0x3c}},
      {kR, kFloat, {bits(0.1F), 0, 0, 0}, {0xcd, 0xcc, 0xcc, 0x3d}},
      {kIntensity, kUnorm8, {bits(1), 0, 0, 0}, {255}},
      {kA, kUnorm8, {bits(1), bits(1), bits(1), bits(0.2F)}, {51}},
      {kRA, kUint8, {1, 2, 3, 4}, {1, 4}},
      {kBGRA, kUnorm8, {bits(0.2F), bits(0.4F), bits(0.6F), bits(0.8F)}, {153, 102, 51, 204}},
      {kARGB, kUint8, {1, 2, 3, 4}, {4, 1, 2, 3}},
  };
  for (const Case& c : cases) {
    const MemoryHandle to = image(ImageKind::d2, c.order, c.type, 1, 1);
    ASSERT_EQ(run(write, with_components(to, c.components), {2, 2, 1}, {2, 2, 1}), status::kSuccess);
    EXPECT_EQ(contents<std::uint8_t>(to), c.bytes) << std::hex << c.order << " " << c.type;
    // A fill has the same conversion on the host.
    const MemoryHandle filled = image(ImageKind::d2, c.order, c.type, 1, 1);
    ASSERT_EQ(backend->submission().submit(
                  *queue, ImageFill{filled, std::as_bytes(std::span(c.components)), {}, {1, 1, 1}}, nullptr),
              status::kSuccess);
    EXPECT_EQ(contents<std::uint8_t>(filled), c.bytes) << std::hex << c.order << " " << c.type;
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

TEST_F(Images, CommandsOnBuffersTakeNoImages) {
  const MemoryHandle flat = image(ImageKind::d2, kR, kUint8, 4, 4), bytes = buffer(16);
  std::vector<std::byte> host(16);
  const std::array<std::byte, 4> pattern{};
  Submission& s = backend->submission();
  for (const bool is_blocking : {false, true}) {
    EXPECT_EQ(s.submit(*queue, BufferTransfer{true, flat, 0, host, is_blocking}, nullptr),
              status::kInvalidMemoryObject);
  }
  EXPECT_EQ(s.submit(*queue, RectBufferTransfer{true, flat, {}, {4, 4, 1}, 0, 0, host}, nullptr),
            status::kInvalidMemoryObject);
  EXPECT_EQ(s.submit(*queue, BufferCopy{flat, bytes, 0, 0, 16}, nullptr), status::kInvalidMemoryObject);
  EXPECT_EQ(s.submit(*queue, BufferCopy{bytes, flat, 0, 0, 16}, nullptr), status::kInvalidMemoryObject);
  EXPECT_EQ(s.submit(*queue, RectBufferCopy{bytes, flat, {}, {}, {4, 4, 1}, 0, 0, 0, 0}, nullptr),
            status::kInvalidMemoryObject);
  EXPECT_EQ(s.submit(*queue, BufferFill{flat, pattern, 0, 16}, nullptr), status::kInvalidMemoryObject);
}

// Pinned memory for transfers held the data of earlier ones, perhaps of another client.
TEST_F(Images, TransfersLeaveBytesBehindTheBoxAlone) {
  const MemoryHandle secret = buffer(64), flat = image(ImageKind::d2, kR, kUint8, 2, 2);
  std::vector<std::byte> host(64, std::byte{0xab});
  Submission& s = backend->submission();
  const auto wait = [&](Status status, const EventHandle& event) {
    ASSERT_EQ(status, status::kSuccess);
    s.finish(*queue);
    while (s.state(event) > status::kComplete) {
    }
    s.release(event);
  };
  const MemoryHandle box = buffer(4);
  for (const bool is_image : {true, false}) {
    EventHandle event = nullptr;
    std::fill(host.begin(), host.end(), std::byte{0xab});
    wait(s.submit(*queue, BufferTransfer{true, secret, 0, host, false}, &event), event);
    std::fill(host.begin(), host.end(), std::byte{1});
    const RectBufferTransfer rectangle{false, box, {}, {2, 2, 1}, 0, 0, host};
    const Status status = is_image ? s.submit(*queue, ImageTransfer{false, flat, {}, {2, 2, 1}, host}, &event)
                                   : s.submit(*queue, rectangle, &event);
    wait(status, event);
    EXPECT_EQ(std::vector<std::byte>(host.begin() + 4, host.end()), std::vector<std::byte>(60, std::byte{1}));
  }
}

TEST_F(Images, FillsLeaveNothingInMemoryOfNewBuffers) {
  const std::array<std::uint32_t, 4> secret{0x5ec4e7, 0x5ec4e7, 0x5ec4e7, 0x5ec4e7};
  const MemoryHandle flat = image(ImageKind::d2, kRGBA, kUint32, 16, 4);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(backend->submission().submit(*queue, ImageFill{flat, std::as_bytes(std::span(secret)), {}, {16, 4, 1}},
                                           nullptr),
              status::kSuccess);
    backend->submission().finish(*queue);
    const auto got = bytes_of<std::uint32_t>(buffer(1024), 256);
    EXPECT_EQ(std::count(got.begin(), got.end(), secret[0]), 0) << round;
  }
}

// Each group of two threads copies two elements from one image to another, with channels that change places.
TEST_F(Images, GatedKernelsAndWorkersReadAndWriteTheSameImages) {
  backend->make_workers();
  const std::string body = R"(
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r3; mov.u32 %r4, 0;
again: tex.2d.v4.s32.s32 {%r7, %r8, %r9, %r10}, [from, how, {%r1, %r4}];
sust.p.2d.v4.b32.trap [to, {%r1, %r4}], {%r7, %r8, %r9, %r10};
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

TEST_F(Images, BoxesAreCopiedBetweenImagesOfEveryKindAndBuffers) {
  const MemoryHandle flat = image(ImageKind::d2, kR, kUint8, 4, 3),
                     rows = image(ImageKind::d1_array, kR, kUint8, 4, 0, 3),
                     solid = image(ImageKind::d3, kR, kUint8, 4, 3, 2), bytes = buffer(12);
  std::vector<std::uint8_t> values(12);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  ASSERT_EQ(transfer(true, flat, {}, {4, 3, 1}, values), status::kSuccess);
  Submission& s = backend->submission();
  // The rows of a 2D image are the layers of a 1D array.
  ASSERT_EQ(s.submit(*queue, ImageCopy{flat, rows, {1, 0, 0}, {0, 1, 0}, {3, 2, 1}}, nullptr), status::kSuccess);
  EXPECT_EQ(contents<std::uint8_t>(rows), (std::vector<std::uint8_t>{0, 0, 0, 0, 2, 3, 4, 0, 6, 7, 8, 0}));
  ASSERT_EQ(s.submit(*queue, ImageCopy{rows, solid, {0, 1, 0}, {1, 1, 1}, {3, 2, 1}}, nullptr), status::kSuccess);
  const auto in_solid = contents<std::uint8_t>(solid);
  EXPECT_EQ(std::vector<std::uint8_t>(in_solid.begin() + 12, in_solid.end()),
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 2, 3, 4, 0, 6, 7, 8}));
  ASSERT_EQ(s.submit(*queue, ImageToBufferCopy{rows, bytes, {0, 1, 0}, {3, 2, 1}, 2}, nullptr), status::kSuccess);
  const auto in_bytes = bytes_of<std::uint8_t>(bytes, 8);
  EXPECT_EQ(std::vector<std::uint8_t>(in_bytes.begin() + 2, in_bytes.end()),
            (std::vector<std::uint8_t>{2, 3, 4, 6, 7, 8}));
  ASSERT_EQ(s.submit(*queue, BufferToImageCopy{bytes, flat, 2, {0, 1, 0}, {2, 2, 1}}, nullptr), status::kSuccess);
  EXPECT_EQ(contents<std::uint8_t>(flat), (std::vector<std::uint8_t>{1, 2, 3, 4, 2, 3, 7, 8, 4, 6, 11, 12}));
  // Nothing reaches beyond an image or a buffer.
  EXPECT_EQ(s.submit(*queue, ImageCopy{flat, rows, {2, 0, 0}, {0, 0, 0}, {3, 1, 1}}, nullptr), status::kInvalidValue);
  EXPECT_EQ(s.submit(*queue, ImageToBufferCopy{flat, bytes, {}, {4, 3, 1}, 1}, nullptr), status::kInvalidValue);
  EXPECT_EQ(s.submit(*queue, BufferToImageCopy{bytes, flat, 1, {}, {4, 3, 1}}, nullptr), status::kInvalidValue);
  EXPECT_EQ(transfer(false, flat, {0, 2, 0}, {4, 2, 1}, values), status::kInvalidValue);
  EXPECT_EQ(s.submit(*queue, ImageToBufferCopy{bytes, flat, {}, {1, 1, 1}, 0}, nullptr), status::kInvalidMemoryObject);
}

TEST_F(Images, NewImagesAreEmptyWhateverTheMemoryHeld) {
  const std::array<std::uint32_t, 4> secret{0x5ec4e7, 1, 2, 3};
  for (const ImageKind kind : {ImageKind::d1, ImageKind::d2, ImageKind::d3, ImageKind::d1_array, ImageKind::d2_array}) {
    for (int round = 0; round < 2; ++round) {
      const MemoryHandle used = image(kind, kRGBA, kUint32, 16, 4, 3);
      const auto got = contents<std::uint32_t>(used);
      EXPECT_EQ(std::count(got.begin(), got.end(), 0U), static_cast<std::ptrdiff_t>(got.size()));
      ASSERT_EQ(
          backend->submission().submit(
              *queue, ImageFill{used, std::as_bytes(std::span(secret)), {}, of(*used).image()->extent()}, nullptr),
          status::kSuccess);
      backend->submission().finish(*queue);
      EXPECT_EQ(contents<std::uint32_t>(used)[4], secret[0]);
    }
  }
}

// The compiler's driver names more formats for images that are only read, and depth images are not offered.
TEST_F(Images, OnlyFormatsThatAreListedAreMade) {
  const auto listed = [&](std::uint64_t flags, std::uint32_t order, std::uint32_t type) {
    std::vector<std::byte> answer;
    EXPECT_EQ(backend->allocation().image_formats(flags, static_cast<ImageType>(ImageKind::d2), answer),
              status::kSuccess);
    std::vector<std::array<std::uint32_t, 2>> formats(answer.size() / 8);
    std::memcpy(formats.data(), answer.data(), answer.size());
    return std::count(formats.begin(), formats.end(), std::array{order, type}) == 1;
  };
  struct Case {
    std::uint32_t order, type;
    bool is_read, is_written;
  };
  for (const Case& c :
       {Case{kRGBA, kUint8, true, true}, Case{kBGRA, kUnorm8, true, true}, Case{kBGRA, kFloat, false, false},
        Case{kIntensity, kUint8, false, false}, Case{kIntensity, kUnorm8, true, true},
        Case{kSrgba, kUnorm8, true, false}, Case{kDepth, kFloat, false, false}}) {
    for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{1}, kReadOnly}) {
      const bool is_offered = flags == kReadOnly ? c.is_read : c.is_written;
      EXPECT_EQ(listed(flags, c.order, c.type), is_offered) << std::hex << c.order << " " << c.type << " " << flags;
      ImageRequest r = request(ImageKind::d2, c.order, c.type, 2, 2);
      r.flags = flags;
      EXPECT_EQ(backend->allocation().create_image(r).status,
                is_offered ? status::kSuccess : status::kImageFormatNotSupported)
          << std::hex << c.order << " " << c.type << " " << flags;
    }
  }
}

TEST_F(Images, RequestsThatNoImageFitsAreRefused) {
  const auto refused = [&](const ImageRequest& r) { return backend->allocation().create_image(r).status; };
  EXPECT_EQ(refused(request(ImageKind::d2, 0x1234, kUint8, 2, 2)), status::kInvalidImageFormatDescriptor);
  EXPECT_EQ(refused(request(ImageKind::d2, kR, 0x10D4, 2, 2)), status::kImageFormatNotSupported);
  EXPECT_EQ(refused(request(static_cast<ImageKind>(0x10F0), kR, kUint8, 2, 2)), status::kInvalidImageDescriptor);
  EXPECT_EQ(refused(request(ImageKind::d2, kR, kUint8, 0, 2)), status::kInvalidImageSize);
  EXPECT_EQ(refused(request(ImageKind::d1_buffer, kR, kUint8, 2)), status::kInvalidImageDescriptor);
  ImageRequest pitched = request(ImageKind::d2, kR, kUint8, 2, 2);
  pitched.row_pitch = 4;
  EXPECT_EQ(refused(pitched), status::kInvalidImageDescriptor);
  const MemoryHandle small = buffer(8);
  ImageRequest shown = request(ImageKind::d1_buffer, kRGBA, kUint32, 1);
  shown.buffer = small;
  shown.buffer_extent = 8;
  EXPECT_EQ(refused(shown), status::kInvalidImageDescriptor);
  EXPECT_EQ(backend->allocation().create_sampler(true, 0x1135, kNearest).status, status::kInvalidValue);
  EXPECT_EQ(backend->allocation().create_sampler(true, kRepeat, kLinear).status, status::kSuccess);
}

}  // namespace
}  // namespace wm::runtime::cuda

// Making images, and commands on them, on the CUDA backend with the simulated CUDA driver.
#include <algorithm>

#include "runtime/device/cuda_images.h"

namespace wm::runtime::cuda {
namespace {

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

TEST_F(Images, TransfersChangeNoBytesBehindTheBox) {
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

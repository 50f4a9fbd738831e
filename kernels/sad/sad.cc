// sad: large is a frame of 1920 x 1072, 8040 macro-blocks: 128,640 blocks of 61 threads (mb), 8040 of 128 (8) and of 32
// (16).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace sad {

constexpr int kRange = 16;
constexpr int kWindow = 2 * kRange + 1;
constexpr int kPadded = 1096;  // positions, rounded up
constexpr std::uint32_t kSearchThreads = 61;

struct Shape {
  int width, height;
};
// In the order of the output.
constexpr std::array<Shape, 7> kShapes{{{16, 16}, {16, 8}, {8, 16}, {8, 8}, {8, 4}, {4, 8}, {4, 4}}};
constexpr int kPerMacroBlock = 41;  // blocks of all shapes

struct Frames {
  int width, height;
  std::vector<std::uint8_t> frame, reference;

  [[nodiscard]] int frame_at(int x, int y) const { return frame[std::size_t(y) * std::size_t(width) + std::size_t(x)]; }
  [[nodiscard]] int reference_at(int x, int y) const {
    const auto cx = std::size_t(std::clamp(x, 0, width - 1)), cy = std::size_t(std::clamp(y, 0, height - 1));
    return reference[cy * std::size_t(width) + cx];
  }
  [[nodiscard]] int macro_blocks() const { return width / 16 * (height / 16); }
};

// A texture of patches of several sizes; the frame is the reference moved by (3, -2) with some noise.
Frames generate(int across, int down) {
  Frames f{across * 16, down * 16, {}, {}};
  const auto pixels = std::size_t(f.width) * std::size_t(f.height);
  f.reference.resize(pixels);
  f.frame.resize(pixels);
  Random random(0x5ad);
  const std::vector<std::uint32_t> patch = uniform_integers(random, 4096, 80);
  for (int y = 0; y < f.height; ++y)
    for (int x = 0; x < f.width; ++x) {
      const auto texture = [&patch](int px, int py) { return patch[std::size_t(px * 31 + py * 57) % patch.size()]; };
      const std::uint32_t value = texture(x / 16, y / 16) + texture(x / 5, y / 7) + texture(x, y);
      f.reference[std::size_t(y) * std::size_t(f.width) + std::size_t(x)] = static_cast<std::uint8_t>(value);
    }
  for (int y = 0; y < f.height; ++y)
    for (int x = 0; x < f.width; ++x)
      f.frame[std::size_t(y) * std::size_t(f.width) + std::size_t(x)] =
          static_cast<std::uint8_t>(f.reference_at(x + 3, y - 2) + static_cast<int>(random.below(8)));
  return f;
}

using Sums = std::vector<std::uint16_t>;  // kPadded for each of the 41 blocks of a macro-block

// The sums of the macro-block at (left, top): the 4 x 4 ones from the pixels, each larger one from those it covers.
Sums macro_block(const Frames& f, int left, int top) {
  std::array<std::array<std::uint16_t, kPadded>, 16> small{};
  for (int part = 0; part < 16; ++part)
    for (int position = 0; position < kWindow * kWindow; ++position) {
      const int dx = position % kWindow - kRange, dy = position / kWindow - kRange;
      int sum = 0;
      for (int i = 0; i < 16; ++i) {
        const int x = left + part % 4 * 4 + i % 4, y = top + part / 4 * 4 + i / 4;
        sum += std::abs(f.frame_at(x, y) - f.reference_at(x + dx, y + dy));
      }
      small[std::size_t(part)][std::size_t(position)] = static_cast<std::uint16_t>(sum);
    }
  Sums out;
  for (const Shape& s : kShapes)
    for (int y = 0; y < 16; y += s.height)
      for (int x = 0; x < 16; x += s.width)
        for (std::size_t position = 0; position < kPadded; ++position) {
          unsigned sum = 0;
          for (int py = y / 4; py < (y + s.height) / 4; ++py)
            for (int px = x / 4; px < (x + s.width) / 4; ++px) sum += small[std::size_t(py * 4 + px)][position];
          out.push_back(static_cast<std::uint16_t>(sum));
        }
  return out;
}

// The output of a large frame fills 700 MB, so the reference is made and compared one macro-block at a time.
Result<void> check(const Frames& f, const std::vector<std::byte>& got) {
  const std::size_t across = std::size_t(f.width) / 16, blocks = std::size_t(f.macro_blocks());
  for (std::size_t block = 0; block < blocks; ++block) {
    const Sums expected = macro_block(f, int(block % across) * 16, int(block / across) * 16);
    std::size_t from = 0, shape_start = 0;
    for (const Shape& s : kShapes) {
      const std::size_t count = std::size_t(256 / (s.width * s.height));
      const std::size_t values = count * kPadded, to = (shape_start * blocks + block * count) * kPadded;
      if (std::memcmp(got.data() + to * 2, expected.data() + from, values * 2) != 0)
        return Error{fmt::format("the {}x{} sums of macro-block {} are wrong", s.width, s.height, block)};
      from += values;
      shape_start += count;
    }
  }
  return {};
}

Case make(Size size) {
  const std::uint32_t across = at(size, 2U, 8U, 120U), down = at(size, 1U, 6U, 67U);
  Frames f = generate(static_cast<int>(across), static_cast<int>(down));
  Case c;
  gpu::Application& app = c.application;
  const auto frame = app.add("frame", f.frame), reference = app.add("reference", f.reference);
  const auto sads = app.add_uninitialized("sads", std::size_t(f.macro_blocks()) * kPerMacroBlock * kPadded * 2);
  app.upload(frame);
  app.upload(reference);
  app.launch(
      {"sad_mb", {across * 4, down * 4}, {kSearchThreads}, arguments(frame, reference, sads, f.width, f.height)});
  app.launch({"sad_8", {across, down}, {32, 4}, arguments(sads)});
  app.launch({"sad_16", {across, down}, {32}, arguments(sads)});
  app.download(sads);
  c.check = [f = std::move(f), sads](const Contents& contents) { return check(f, contents(sads)); };
  return c;
}

}  // namespace sad

Benchmark benchmark_sad() {
  return {.name = "sad",
          .about = "sums of absolute differences of a video encoder's motion search",
          .suite = "Parboil",
          .aliases = {"SAD"},
          .kernels = {{"mb", "sad_mb"}, {"8", "sad_8"}, {"16", "sad_16"}},
          .make = sad::make};
}

}  // namespace wm::zoo

// denoise: large is a picture of 320 x 408 pixels, 40 x 51 = 2040 blocks of 8 x 8 threads (Warped-Slicer, table II).
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/inputs.h"
#include "kernels/picture.h"

namespace wm::zoo {

namespace denoise {

constexpr std::uint32_t kTile = 8;
constexpr std::int32_t kRadius = 3;
constexpr float kByColour = 40;       // a neighbour 0.16 away in colour weighs 1/e
constexpr float kByPlace = 1 / 9.0F;  // one at the window's edge, too

struct Picture {
  std::int32_t width, height;
  std::vector<std::uint32_t> pixels;

  [[nodiscard]] std::uint32_t byte(std::int32_t x, std::int32_t y, std::uint32_t channel) const {
    x = std::clamp(x, 0, width - 1);
    y = std::clamp(y, 0, height - 1);
    return pixels[static_cast<std::size_t>(y) * width + x] >> (8 * channel) & 255U;
  }
};

// The exact mean of a pixel's three channels, in 0 .. 255.
void smooth(const Picture& picture, std::int32_t x, std::int32_t y, double (&mean)[3]) {
  double sum[3] = {}, weights = 0;
  for (std::int32_t dy = -kRadius; dy <= kRadius; ++dy)
    for (std::int32_t dx = -kRadius; dx <= kRadius; ++dx) {
      double apart = 0;
      for (std::uint32_t c = 0; c < 3; ++c) {
        const double d = (double{1} * picture.byte(x + dx, y + dy, c) - picture.byte(x, y, c)) / 255;
        apart += d * d;
      }
      const double weight = std::exp(-(apart * kByColour + (dx * dx + dy * dy) * double{kByPlace}));
      for (std::uint32_t c = 0; c < 3; ++c) sum[c] += weight * picture.byte(x + dx, y + dy, c);
      weights += weight;
    }
  for (std::uint32_t c = 0; c < 3; ++c) mean[c] = sum[c] / weights;
}

// A byte must be the exact mean rounded, except that a mean near a half may go either way. Near means 0.002: exponents
// reach 122, where float's rounding and exp2's 2^-22 make a weight wrong by 8e-6 at most, but such weights are nothing;
// where weights matter (exponents below 8) they are wrong by 8e-7, which moves a mean of bytes by less than 0.0005.
Result<void> check(const Picture& picture, const std::vector<std::byte>& bytes) {
  for (std::int32_t y = 0; y < picture.height; ++y)
    for (std::int32_t x = 0; x < picture.width; ++x) {
      double mean[3];
      smooth(picture, x, y, mean);
      const std::byte* got = &bytes[(static_cast<std::size_t>(y) * picture.width + x) * 4];
      for (std::uint32_t c = 0; c < 3; ++c)
        if (std::abs(std::to_integer<int>(got[c]) - mean[c]) > 0.502 || got[3] != std::byte{255})
          return Error{"smooth: channel " + std::to_string(c) + " of pixel (" + std::to_string(x) + ", " +
                       std::to_string(y) + ") is " + std::to_string(std::to_integer<int>(got[c])) + ", expected " +
                       std::to_string(mean[c])};
    }
  return {};
}

Case make(Size size) {
  const std::uint32_t width = at(size, 70U, 250U, 320U);
  const std::uint32_t height = at(size, 60U, 256U, 408U);
  Random random(0x1a6);
  Picture picture{static_cast<std::int32_t>(width), static_cast<std::int32_t>(height),
                  noisy_picture(random, width, height)};

  Case c;
  gpu::Application& app = c.application;
  const auto image_id = app.add("image", picture.pixels);
  const auto smooth_id = app.add_uninitialized("smooth", picture.pixels.size() * sizeof(std::uint32_t));
  app.texture_kernels = {"denoise"};  // the SDK's program reads its picture by tex2D
  app.upload(image_id);
  app.launch({"denoise",
              {blocks_for(width, kTile), blocks_for(height, kTile)},
              {kTile, kTile},
              arguments(image_id, smooth_id, picture.width, picture.height, kByColour, kByPlace)});
  app.download(smooth_id);
  c.check = [picture = std::move(picture), smooth_id](const Contents& contents) {
    return check(picture, contents(smooth_id));
  };
  return c;
}

}  // namespace denoise

Benchmark benchmark_denoise() {
  return {.name = "denoise",
          .about = "smooths a picture by means weighted with colour and distance: an exponential a neighbour",
          .suite = "CUDA SDK",
          .aliases = {"IMG"},
          .kernels = {{"denoise", "denoise"}},
          .make = denoise::make};
}

}  // namespace wm::zoo

// histo: large is an image of 996 x 1040 values in 6 of 16 stripes of bins, 20 times over: 64 blocks of 512 (prescan),
// 65 of 498 (intermediates), 14 x 6 of 768 (main), 42 of 512 (final).
#include <algorithm>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace histo {

constexpr std::uint32_t kWidth = 996;
constexpr std::uint32_t kRowsPerBlock = 16;
constexpr std::uint32_t kStripe = 6144;  // 24 KB of counters
constexpr std::uint32_t kStripes = 16;
constexpr std::uint32_t kFirstStripe = 5;

// Half the pixels form a narrow peak that saturates, half a broad one over all used stripes; two mark its ends.
std::vector<std::uint32_t> generate(std::uint32_t pixels, std::uint32_t used_stripes) {
  Random random(0x4157);
  const std::uint32_t span = used_stripes * kStripe;
  std::vector<std::uint32_t> image(pixels);
  for (std::uint32_t& value : image) {
    const std::uint32_t width = random.below(2) == 0 ? span / 32 : span;
    std::uint32_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += random.below(width / 4);
    value = kFirstStripe * kStripe + (span - width) / 2 + sum;
  }
  image[0] = kFirstStripe * kStripe;
  image[1] = kFirstStripe * kStripe + span - 1;
  return image;
}

Case make(Size size) {
  const auto rows = at(size, 32U, 256U, 1040U), used = at(size, 2U, 3U, 6U);
  const std::uint32_t pixels = kWidth * rows, bins = kStripe * kStripes;
  const std::vector<std::uint32_t> values = generate(pixels, used);

  Case c;
  gpu::Application& app = c.application;
  const auto image = app.add("image", values);
  const auto range = app.add_uninitialized("range", 8);
  const auto mapped = app.add_uninitialized("mapped", std::size_t{pixels} * 4);
  const auto counts = app.add_uninitialized("counts", std::size_t{bins} * 4);
  const auto histogram = app.add_uninitialized("histogram", bins);
  app.upload(image);
  app.fill(counts, std::byte{0});
  for (int i = 0; i < at(size, 2, 4, 20); ++i) {
    app.steps.push_back(gpu::Fill{range, 0, 4, std::byte{0xff}});
    app.steps.push_back(gpu::Fill{range, 4, 4, std::byte{0}});
    app.launch({"histo_prescan", {at(size, 4U, 16U, 64U)}, {512}, arguments(image, pixels, range)});
    app.launch({"histo_intermediates", {rows / kRowsPerBlock}, {kWidth / 2}, arguments(image, range, mapped)});
    app.launch({"histo_main", {at(size, 2U, 6U, 14U), used}, {768}, arguments(mapped, pixels, range, counts)});
    app.launch({"histo_final", {at(size, 4U, 16U, 42U)}, {512}, arguments(counts, histogram, bins / 4)});
  }
  app.download(histogram);

  std::vector<std::uint32_t> exact(bins);
  for (const std::uint32_t v : values) ++exact[v];
  std::vector<std::uint8_t> expected(bins);
  for (std::uint32_t i = 0; i < bins; ++i) expected[i] = static_cast<std::uint8_t>(std::min(exact[i], 255U));
  c.expect(histogram, expected);
  c.expect(counts, std::vector<std::uint32_t>(bins, 0));
  return c;
}

}  // namespace histo

Benchmark benchmark_histo() {
  return {.name = "histo",
          .about = "saturating histogram of an image with crowded values",
          .suite = "Parboil",
          .aliases = {"HISTO"},
          .kernels = {{"prescan", "histo_prescan"},
                      {"intermediates", "histo_intermediates"},
                      {"main", "histo_main"},
                      {"final", "histo_final"}},
          .make = histo::make};
}

}  // namespace wm::zoo

// dxt: large is a picture of 512 x 336 texels, 10752 squares, a block of 64 threads each (Warped-Slicer, table II).
// The kernel decides in integers and single roundings, so the reference, which tries every cut texel by texel, must
// agree to the bit.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/inputs.h"
#include "kernels/picture.h"

namespace wm::zoo {

namespace dxt {

constexpr int kTexels = 16;
using Colour = std::array<int, 3>;
using Square = std::array<Colour, kTexels>;

// A division of 16 sorted texels into four clusters: the beginnings of clusters 1 to 3, and the scale of the end
// colours.
struct Cut {
  std::array<int, 3> begin;
  float scale;

  [[nodiscard]] int cluster(int rank) const {
    return static_cast<int>(std::count_if(begin.begin(), begin.end(), [&](int b) { return rank >= b; }));
  }
};

// Sums over a cut's texels of the weights towards end a (3 2 1 0 by cluster) and end b (0 1 2 3).
struct Weights {
  int aa = 0, ab = 0, bb = 0;

  explicit Weights(const Cut& cut) {
    for (int rank = 0; rank < kTexels; ++rank) {
      const int b = cut.cluster(rank), a = 3 - b;
      aa += a * a;
      ab += a * b;
      bb += b * b;
    }
  }
  [[nodiscard]] int determinant() const { return aa * bb - ab * ab; }
};

// All cuts but the four that put every texel into one cluster, which determine no two ends.
std::vector<Cut> all_cuts() {
  std::vector<Cut> cuts;
  for (int first = 0; first <= kTexels; ++first)
    for (int second = first; second <= kTexels; ++second)
      for (int third = second; third <= kTexels; ++third) {
        Cut cut{{first, second, third}, 0};
        const int determinant = Weights(cut).determinant();
        if (determinant == 0) continue;
        cut.scale = 1.0F / static_cast<float>(85 * determinant);
        cuts.push_back(cut);
      }
  return cuts;
}

Square square_at(const std::vector<std::uint32_t>& pixels, std::uint32_t width, std::uint32_t index) {
  Square square;
  const std::uint32_t left = index % (width / 4) * 4, top = index / (width / 4) * 4;
  for (std::uint32_t i = 0; i < kTexels; ++i) {
    const std::uint32_t pixel = pixels[std::size_t{top + i / 4} * width + left + i % 4];
    for (std::uint32_t c = 0; c < 3; ++c) square[i][c] = static_cast<int>(pixel >> (8 * c) & 255U);
  }
  return square;
}

// Texels in order along the diagonal of their colours' box, leaning as red and blue vary with green.
std::array<int, kTexels> sorted_order(const Square& square) {
  Colour axis{}, sum{};
  for (std::size_t c = 0; c < 3; ++c) {
    const auto [low, high] = std::minmax_element(square.begin(), square.end(),
                                                 [c](const Colour& x, const Colour& y) { return x[c] < y[c]; });
    axis[c] = (*high)[c] - (*low)[c];
    for (const Colour& texel : square) sum[c] += texel[c];
  }
  for (const std::size_t c : {0, 2}) {
    int covariance = 0;
    for (const Colour& texel : square) covariance += (kTexels * texel[c] - sum[c]) * (kTexels * texel[1] - sum[1]);
    if (covariance < 0) axis[c] = -axis[c];
  }
  std::array<int, kTexels> order;
  std::iota(order.begin(), order.end(), 0);
  const auto along = [&](int i) { return std::inner_product(axis.begin(), axis.end(), square[i].begin(), 0); };
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return along(x) < along(y); });
  return order;
}

constexpr int kMaxChannel[3] = {31, 63, 31};

int expand(int value, std::size_t channel) {
  return channel == 1 ? (value << 2) | (value >> 4) : (value << 3) | (value >> 2);
}

// The least-squares ends of a cut in steps of the format.
std::array<Colour, 2> ends_of(const Cut& cut, const Square& square, const std::array<int, kTexels>& order) {
  const Weights w(cut);
  std::array<Colour, 2> ends;
  for (std::size_t c = 0; c < 3; ++c) {
    int a = 0, b = 0;
    for (int rank = 0; rank < kTexels; ++rank) {
      a += (3 - cut.cluster(rank)) * square[order[rank]][c];
      b += cut.cluster(rank) * square[order[rank]][c];
    }
    const int numerator[2] = {w.bb * a - w.ab * b, w.aa * b - w.ab * a};
    for (std::size_t end = 0; end < 2; ++end) {
      const float steps =
          std::fma(static_cast<float>(numerator[end]), cut.scale * static_cast<float>(kMaxChannel[c]), 0.5F);
      ends[end][c] = std::clamp(static_cast<int>(steps), 0, kMaxChannel[c]);
    }
  }
  return ends;
}

int error_of(const Cut& cut, const Square& square, const std::array<int, kTexels>& order,
             const std::array<Colour, 2>& ends) {
  int error = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const int a = expand(ends[0][c], c), b = expand(ends[1][c], c);
    const int palette[4] = {a, (2 * a + b) / 3, (a + 2 * b) / 3, b};
    for (int rank = 0; rank < kTexels; ++rank) {
      const int apart = square[order[rank]][c] - palette[cut.cluster(rank)];
      error += apart * apart;
    }
  }
  return error;
}

std::uint32_t packed(const Colour& c) { return static_cast<std::uint32_t>(c[0] << 11 | c[1] << 5 | c[2]); }

// The eight bytes of a square: two end colours, the greater first, then two bits a texel.
std::array<std::uint32_t, 2> compress(const Square& square, const std::vector<Cut>& cuts) {
  const auto order = sorted_order(square);
  const Cut* best = nullptr;
  int least = 0;
  std::array<Colour, 2> best_ends{};
  for (const Cut& cut : cuts) {
    const auto ends = ends_of(cut, square, order);
    const int error = error_of(cut, square, order, ends);
    if (best != nullptr && error >= least) continue;
    best = &cut;
    least = error;
    best_ends = ends;
  }
  const std::uint32_t a = packed(best_ends[0]), b = packed(best_ends[1]);
  if (a == b) return {a | b << 16U, 0};
  const std::uint32_t code[2][4] = {{0, 2, 3, 1}, {1, 3, 2, 0}};
  std::uint32_t codes = 0;
  for (int rank = 0; rank < kTexels; ++rank) codes |= code[a < b ? 1 : 0][best->cluster(rank)] << (2 * order[rank]);
  return {std::max(a, b) | std::min(a, b) << 16U, codes};
}

Case make(Size size) {
  const std::uint32_t width = at(size, 32U, 128U, 512U);
  const std::uint32_t height = at(size, 20U, 128U, 336U);
  const std::uint32_t squares = width * height / kTexels;
  Random random(0xd97);
  auto pixels = noisy_picture(random, width, height);
  const auto cuts = all_cuts();
  std::vector<std::uint32_t> table;
  for (const Cut& cut : cuts) {
    table.push_back(static_cast<std::uint32_t>(cut.begin[0] | cut.begin[1] << 8 | cut.begin[2] << 16));
    std::uint32_t scale = 0;
    std::memcpy(&scale, &cut.scale, sizeof scale);
    table.push_back(scale);
  }

  Case c;
  gpu::Application& app = c.application;
  const auto image_id = app.add("image", pixels);
  const auto cuts_id = app.add("cuts", table);
  const auto compressed_id = app.add_uninitialized("compressed", squares * 2 * sizeof(std::uint32_t));
  app.upload(image_id);
  app.upload(cuts_id);
  app.launch({"dxt",
              {squares},
              {64},
              arguments(image_id, cuts_id, static_cast<std::int32_t>(cuts.size()), static_cast<std::int32_t>(width),
                        compressed_id)});
  app.download(compressed_id);

  c.reference = [pixels = std::move(pixels), cuts, width, squares, compressed_id](Case& out) {
    std::vector<std::uint32_t> words;
    for (std::uint32_t i = 0; i < squares; ++i)
      for (const std::uint32_t word : compress(square_at(pixels, width, i), cuts)) words.push_back(word);
    out.expect(compressed_id, words);
  };
  return c;
}

}  // namespace dxt

Benchmark benchmark_dxt() {
  return {.name = "dxt",
          .about = "DXT1 texture compression: tries every split of 16 sorted texels into four clusters",
          .suite = "CUDA SDK",
          .aliases = {"DXT"},
          .kernels = {{"dxt", "dxt"}},
          .make = dxt::make};
}

}  // namespace wm::zoo

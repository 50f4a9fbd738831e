// knn: large has 2673 blocks of 256 threads (Warped-Slicer, table II), a record each, the last block not full.
#include <algorithm>
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace knn {

constexpr std::uint32_t kBlock = 256;
constexpr std::size_t kNearest = 10;
constexpr float kLatitude = 30.5F;
constexpr float kLongitude = 90.25F;
// A difference, a square, their sum and sqrt.approx (2^-23): less than 4 roundings of 2^-24 and that.
constexpr double kTolerance = 0x1p-21;

// The host's part: the distances of the nearest records, in order.
std::vector<float> nearest(std::vector<float> distance) {
  std::partial_sort(distance.begin(), distance.begin() + kNearest, distance.end());
  distance.resize(kNearest);
  return distance;
}

Case make(Size size) {
  const std::uint32_t records = at(size, 64U, 1000U, 2673U) * kBlock - 88;
  Random random(0x5eed);
  std::vector<float> places;  // latitude, longitude
  for (std::uint32_t i = 0; i < records; ++i) {
    places.push_back(random.uniform(7, 65));
    places.push_back(random.uniform(0, 180));
  }
  std::vector<float> distance;
  for (std::uint32_t i = 0; i < records; ++i)
    distance.push_back(
        static_cast<float>(std::hypot(double{places[2 * i]} - kLatitude, double{places[2 * i + 1]} - kLongitude)));

  Case c;
  gpu::Application& app = c.application;
  const auto places_id = app.add("places", places);
  const auto distance_id = app.add_uninitialized("distance", records * sizeof(float));
  app.upload(places_id);
  app.launch({"knn",
              {blocks_for(records, kBlock)},
              {kBlock},
              arguments(places_id, distance_id, records, kLatitude, kLongitude)});
  app.download(distance_id);

  c.expect(distance_id, distance, 0, kTolerance);
  c.check = [expected = nearest(distance), records, distance_id](const Contents& contents) -> Result<void> {
    std::vector<float> got(records);
    std::memcpy(got.data(), contents(distance_id).data(), records * sizeof(float));
    got = nearest(std::move(got));
    for (std::size_t k = 0; k < kNearest; ++k)
      if (!(std::abs(got[k] - expected[k]) <= kTolerance * expected[k]))
        return Error{"neighbour " + std::to_string(k) + " is not the nearest left"};
    return {};
  };
  return c;
}

}  // namespace knn

Benchmark benchmark_knn() {
  return {.name = "knn",
          .about = "distance of every record to a place, for its nearest neighbours: streams memory",
          .suite = "Rodinia",
          .aliases = {"KNN"},
          .kernels = {{"knn", "knn"}},
          .make = knn::make};
}

}  // namespace wm::zoo

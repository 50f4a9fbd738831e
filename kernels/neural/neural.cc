// neural: large reads 9000 digits, so the first layer has 6 x 9000 = 54000 blocks of 13 x 13 threads (Warped-Slicer,
// table II); the later layers have a block a digit.
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace neural {

constexpr std::uint32_t kImage = 29, kMaps1 = 6, kSide1 = 13, kMaps2 = 16, kSide2 = 5, kWindow = 5;
constexpr std::uint32_t kFeatures = kMaps2 * kSide2 * kSide2, kHidden = 84, kDigits = 10;

using Values = std::vector<float>;

struct Network {
  Values layer1, layer2;  // a neuron's bias, then its weights
  Values layer3, layer4;  // all biases, then the weights of every input
};

// Weights small enough that neurons work around the middle of tanh.
Values random_weights(Random& random, std::uint32_t neurons, std::uint32_t inputs) {
  const float max_weight = 1.5F / std::sqrt(static_cast<float>(inputs));
  return uniform_floats(random, std::size_t{neurons} * (inputs + 1), -max_weight, max_weight);
}

double activate(double x) { return 1.7159 * std::tanh(0.66666667 * x); }

// One convolutional layer of one image: maps of `side` x `side` neurons, windows two inputs apart.
std::vector<double> convolve(const std::vector<double>& in, std::uint32_t in_maps, std::uint32_t in_side,
                             const Values& weights, std::uint32_t maps, std::uint32_t side) {
  std::vector<double> out;
  const std::uint32_t per_neuron = in_maps * kWindow * kWindow + 1;
  for (std::uint32_t map = 0; map < maps; ++map)
    for (std::uint32_t y = 0; y < side; ++y)
      for (std::uint32_t x = 0; x < side; ++x) {
        const float* weight = &weights[std::size_t{map} * per_neuron];
        double sum = *weight++;
        for (std::uint32_t from = 0; from < in_maps; ++from)
          for (std::uint32_t i = 0; i < kWindow; ++i)
            for (std::uint32_t j = 0; j < kWindow; ++j)
              sum += *weight++ * in[(std::size_t{from} * in_side + 2 * y + i) * in_side + 2 * x + j];
        out.push_back(activate(sum));
      }
  return out;
}

std::vector<double> connect(const std::vector<double>& in, const Values& weights, std::uint32_t neurons) {
  std::vector<double> sum(weights.begin(), weights.begin() + neurons);
  for (std::size_t i = 0; i < in.size(); ++i)
    for (std::uint32_t n = 0; n < neurons; ++n) sum[n] += weights[(i + 1) * neurons + n] * in[i];
  for (double& s : sum) s = activate(s);
  return sum;
}

Case make(Size size) {
  const std::uint32_t count = at(size, 10U, 300U, 9000U);
  Random random(0x2e7);
  Values images = uniform_floats(random, std::size_t{count} * kImage * kImage, -1, 1);
  Network net;
  net.layer1 = random_weights(random, kMaps1, kWindow * kWindow);
  net.layer2 = random_weights(random, kMaps2, kMaps1 * kWindow * kWindow);
  net.layer3 = random_weights(random, kHidden, kFeatures);
  net.layer4 = random_weights(random, kDigits, kHidden);

  Case c;
  gpu::Application& app = c.application;
  const auto images_id = app.add("images", images);
  const gpu::BufferId weights[] = {app.add("weights 1", net.layer1), app.add("weights 2", net.layer2),
                                   app.add("weights 3", net.layer3), app.add("weights 4", net.layer4)};
  const auto maps_id = app.add_uninitialized("maps", std::size_t{count} * kMaps1 * kSide1 * kSide1 * sizeof(float));
  const auto features_id = app.add_uninitialized("features", std::size_t{count} * kFeatures * sizeof(float));
  const auto hidden_id = app.add_uninitialized("hidden", std::size_t{count} * kHidden * sizeof(float));
  const auto digits_id = app.add_uninitialized("digits", std::size_t{count} * kDigits * sizeof(float));
  for (const auto id : weights) app.upload(id);
  app.upload(images_id);
  const auto launch = [&](const char* kernel, gpu::Dim3 grid, gpu::Dim3 block, gpu::BufferId from, gpu::BufferId by,
                          gpu::BufferId to) {
    app.launch({kernel, grid, block, arguments(from, by, to)});
  };
  launch("neural_1", {kMaps1, count}, {kSide1, kSide1}, images_id, weights[0], maps_id);
  launch("neural_2", {count}, {kSide2, kSide2, kMaps2}, maps_id, weights[1], features_id);
  launch("neural_3", {count}, {kHidden}, features_id, weights[2], hidden_id);
  launch("neural_4", {count}, {kDigits}, hidden_id, weights[3], digits_id);
  app.download(digits_id);

  c.reference = [images = std::move(images), net = std::move(net), digits_id](Case& out) {
    Values digits;
    for (std::size_t at = 0; at < images.size(); at += kImage * kImage) {
      const std::vector<double> image(&images[at], &images[at] + kImage * kImage);
      const auto maps = convolve(image, 1, kImage, net.layer1, kMaps1, kSide1);
      const auto features = convolve(maps, kMaps1, kSide1, net.layer2, kMaps2, kSide2);
      for (const double d : connect(connect(features, net.layer3, kHidden), net.layer4, kDigits))
        digits.push_back(static_cast<float>(d));
    }
    // A neuron's sum stays below 8 and its 400 roundings average out to about 20 of 2^-22, 5e-6; tanh's 4 ulp add 5e-7.
    out.expect(digits_id, digits, 1e-5);
  };
  return c;
}

}  // namespace neural

Benchmark benchmark_neural() {
  return {.name = "neural",
          .about = "a convolutional network that reads digits, a kernel a layer",
          .suite = "ISPASS",
          .aliases = {"NN"},
          .kernels = {{"1", "neural_1"}, {"2", "neural_2"}, {"3", "neural_3"}, {"4", "neural_4"}},
          .make = neural::make};
}

}  // namespace wm::zoo

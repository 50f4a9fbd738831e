// binomial: 512 options at large, a tree of 1024 levels and a block of 256 threads each. With short blocks it has 3,072
// options and trees of 128 levels, in a kernel and blocks of their own.
#include <algorithm>
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace binomial {

constexpr std::uint32_t kBlock = 256;

// The layout that the kernel reads.
struct Option {
  float price, strike;
  float step;      // the logarithm of one move up
  float up, down;  // discounted probabilities
};

// e^x for |x| < 0.1 in plain arithmetic: a library's last bit would make the input depend on the host.
double small_exp(double x) {
  double sum = 1;
  for (int k = 12; k > 0; --k) sum = 1 + sum * x / k;
  return sum;
}

// Cox, Ross and Rubinstein's tree.
Option random_option(Random& random, int levels) {
  constexpr double kRiskfree = 0.06, kVolatility = 0.10;
  const float price = random.uniform(5, 30);
  const float strike = random.uniform(1, 40);
  const double dt = double{random.uniform(0.25F, 10)} / levels;
  const double step = kVolatility * std::sqrt(dt);
  const double up = (small_exp(kRiskfree * dt) - small_exp(-step)) / (small_exp(step) - small_exp(-step));
  const double discount = small_exp(-kRiskfree * dt);
  return {price, strike, static_cast<float>(step), static_cast<float>(discount * up),
          static_cast<float>(discount * (1 - up))};
}

float value(const Option& o, int levels) {
  std::vector<double> node;
  for (int j = 0; j <= levels; ++j)
    node.push_back(std::max(o.price * std::exp(double{o.step} * (2 * j - levels)) - o.strike, 0.0));
  for (int level = levels - 1; level >= 0; --level)
    for (int j = 0; j <= level; ++j) node[j] = double{o.up} * node[j + 1] + double{o.down} * node[j];
  return static_cast<float>(node[0]);
}

Case make(Size size) {
  Random random(0xb10);
  std::vector<Option> options(at(size, 2U, 40U, 512U, 3072U));
  const int levels = at(size, 1024, 1024, 1024, 128);
  for (Option& o : options) o = random_option(random, levels);

  Case c;
  gpu::Application& app = c.application;
  const auto options_id = app.add("options", options);
  const auto call_id = app.add_uninitialized("call", options.size() * sizeof(float));
  app.upload(options_id);
  const char* kernel = size == Size::short_blocks ? "binomial_shallow" : "binomial";
  app.launch({kernel,
              {static_cast<std::uint32_t>(options.size())},
              {at(size, kBlock, kBlock, kBlock, 128U)},
              arguments(options_id, call_id)});
  app.download(call_id);

  c.reference = [options = std::move(options), levels, call_id](Case& out) {
    std::vector<float> call;
    for (const Option& o : options) call.push_back(value(o, levels));
    // Every level rounds a positive sum of positive terms twice, by 2^-24 each and as often up as down: about 2^-19
    // over 1024 levels; the exponentials of the last level bring 2^-21 of the price, at most 30.
    out.expect(call_id, call, 30 * 0x1p-20, 0x1p-17);
  };
  return c;
}

}  // namespace binomial

Benchmark benchmark_binomial() {
  return {.name = "binomial",
          .about = "European calls by backward induction on binomial trees, a tree a block",
          .suite = "CUDA SDK",
          .aliases = {"BINO"},
          .kernels = {{"binomial", "binomial"}},
          .make = binomial::make};
}

}  // namespace wm::zoo

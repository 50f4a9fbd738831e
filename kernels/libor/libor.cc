// libor: 4096 paths at large, 64 blocks of 64 threads; 80 rates, 40 steps, 15 swaptions. With short blocks it has
// 294,912 paths of one step and 9 swaptions, for which there is a kernel of its own.
#include <algorithm>
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace libor {

constexpr std::uint32_t kBlock = 64;
constexpr std::size_t kRates = 80;
constexpr std::size_t kSteps = 40;  // rates from here on price the swaptions, also after fewer steps
constexpr float kStart = 0.05F;
constexpr float kAccrual = 0.25F;
constexpr float kRootAccrual = 0.5F;

struct Model {
  std::vector<float> volatility;       // by time to a rate's start
  std::vector<std::int32_t> maturity;  // maturity of every swaption, in accruals
  std::vector<float> swap_rate;
};

Model make_model(std::int32_t max_years) {
  Model m;
  for (std::size_t i = 0; i < kRates; ++i) m.volatility.push_back(0.15F + 0.001F * static_cast<float>(i % 50));
  for (const std::int32_t years : {1, 2, 5, 7, 10})
    for (const float rate : {0.045F, 0.05F, 0.055F}) {
      if (years > max_years) continue;
      m.maturity.push_back(4 * years);
      m.swap_rate.push_back(rate);
    }
  return m;
}

// Twelve uniform numbers sum to nearly a normal one, in plain arithmetic that no host computes differently.
std::vector<float> normals(Random& random, std::size_t count) {
  std::vector<float> out(count);
  for (float& z : out) {
    z = -6;
    for (int i = 0; i < 12; ++i) z += random.uniform(0, 1);
  }
  return out;
}

// The portfolio's discounted payoff on one path of so many steps; its normal numbers are `stride` apart.
double payoff(const Model& m, std::size_t steps, const float* z, std::size_t stride) {
  std::vector<double> rate(kRates, kStart);
  for (std::size_t n = 0; n < steps; ++n) {
    double drift = 0;
    for (std::size_t i = n + 1; i < kRates; ++i) {
      const double sigma = m.volatility[i - n - 1];
      drift += kAccrual * sigma * rate[i] / (1 + kAccrual * rate[i]);
      rate[i] *= std::exp(sigma * (kAccrual * drift + kRootAccrual * z[n * stride] - kAccrual * sigma / 2));
    }
  }
  double value = 0;
  for (std::size_t k = 0; k < m.maturity.size(); ++k) {
    double bond = 1, annuity = 0;
    for (std::int32_t n = 0; n < m.maturity[k]; ++n) {
      bond /= 1 + kAccrual * rate[kSteps + n];
      annuity += kAccrual * bond;
    }
    value += 100 * std::max(1 - bond - m.swap_rate[k] * annuity, 0.0);
  }
  for (std::size_t n = 0; n < kSteps; ++n) value /= 1 + kAccrual * rate[n];
  return value;
}

Case make(Size size) {
  const std::uint32_t blocks = at(size, 2U, 32U, 64U, 4608U);
  const std::uint32_t steps = at(size, 40U, 40U, 40U, 1U);
  const std::uint32_t paths = blocks * kBlock;
  Random random(0x11b);
  Model model = make_model(at(size, 10, 10, 10, 5));
  auto z = normals(random, std::size_t{steps} * paths);

  Case c;
  gpu::Application& app = c.application;
  const auto normals_id = app.add("normals", z);
  const auto volatility_id = app.add("volatility", model.volatility);
  const auto maturity_id = app.add("maturity", model.maturity);
  const auto swap_rate_id = app.add("swap rate", model.swap_rate);
  const auto payoff_id = app.add_uninitialized("payoff", paths * sizeof(float));
  for (const auto id : {normals_id, volatility_id, maturity_id, swap_rate_id}) app.upload(id);
  auto inputs = arguments(normals_id, volatility_id, maturity_id, swap_rate_id,
                          static_cast<std::int32_t>(model.maturity.size()), kStart, kAccrual, kRootAccrual, payoff_id);
  app.launch({size == Size::short_blocks ? "libor_step" : "libor", {blocks}, {kBlock}, std::move(inputs)});
  app.download(payoff_id);

  c.reference = [model = std::move(model), z = std::move(z), steps, paths, payoff_id](Case& out) {
    std::vector<float> values;
    for (std::size_t path = 0; path < paths; ++path)
      values.push_back(static_cast<float>(payoff(model, steps, &z[path], paths)));
    // Forty steps multiply a rate by exponentials wrong by 2^-22 or so, together 1e-5 at worst; that is up to 1e-6 of a
    // bond, and a swaption pays 100 times the difference of such, 15 times over.
    out.expect(payoff_id, values, 1.5e-3, 1e-5);
  };
  return c;
}

}  // namespace libor

Benchmark benchmark_libor() {
  return {.name = "libor",
          .about = "Monte Carlo valuation of swaptions in the LIBOR market model: arrays a thread in local memory",
          .suite = "ISPASS",
          .aliases = {"LIB"},
          .kernels = {{"libor", "libor"}},
          .make = libor::make};
}

}  // namespace wm::zoo

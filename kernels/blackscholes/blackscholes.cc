// blackscholes: large has 480 blocks of 128 threads (Warped-Slicer, table II) for four million options.
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace blackscholes {

constexpr std::uint32_t kBlock = 128;
constexpr float kRiskfree = 0.02F;
constexpr float kVolatility = 0.30F;

double normal_cdf(double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); }

struct Options {
  std::vector<float> price, strike, years;
};

void value(const Options& in, std::vector<float>& call, std::vector<float>& put) {
  const double r = kRiskfree, v = kVolatility;
  for (std::size_t i = 0; i < in.price.size(); ++i) {
    const double s = in.price[i], x = in.strike[i], t = in.years[i];
    const double d1 = (std::log(s / x) + (r + v * v / 2) * t) / (v * std::sqrt(t));
    const double d2 = d1 - v * std::sqrt(t);
    const double c = s * normal_cdf(d1) - x * std::exp(-r * t) * normal_cdf(d2);
    call.push_back(static_cast<float>(c));
    put.push_back(static_cast<float>(c + x * std::exp(-r * t) - s));  // put-call parity
  }
}

Case make(Size size) {
  const std::uint32_t options = at(size, 50'001U, 1'000'003U, 4'000'000U);
  Random random(0xb15);
  Options in;
  in.price = uniform_floats(random, options, 5, 30);
  in.strike = uniform_floats(random, options, 1, 100);
  in.years = uniform_floats(random, options, 0.25F, 10);

  Case c;
  gpu::Application& app = c.application;
  const auto price_id = app.add("price", in.price);
  const auto strike_id = app.add("strike", in.strike);
  const auto years_id = app.add("years", in.years);
  const auto call_id = app.add_uninitialized("call", options * sizeof(float));
  const auto put_id = app.add_uninitialized("put", options * sizeof(float));
  for (const auto id : {price_id, strike_id, years_id}) app.upload(id);
  app.launch({"blackscholes",
              {at(size, 32U, 480U, 480U)},
              {kBlock},
              arguments(call_id, put_id, price_id, strike_id, years_id, kRiskfree, kVolatility, options)});
  app.download(call_id);
  app.download(put_id);

  c.reference = [in = std::move(in), call_id, put_id](Case& out) {
    std::vector<float> call, put;
    value(in, call, put);
    // The price is below 30, the discounted strike below 100, and the two values of the distribution are each wrong by
    // at most 4e-7: 7.5e-8 of the polynomial, the rest of exp2's 2^-22, the division and roundings, on a tail below a
    // half. The discount adds 2^-22 of the strike. An error in d shifts d1 and d2 alike, which cancels: the value's
    // derivative by such a shift is zero.
    const double bound = 130 * 4e-7 + 100 * 0x1p-22;
    out.expect(call_id, call, bound);
    out.expect(put_id, put, bound);
  };
  return c;
}

}  // namespace blackscholes

Benchmark benchmark_blackscholes() {
  return {.name = "blackscholes",
          .about = "European option prices by the Black-Scholes formula: streams memory, special functions between",
          .suite = "CUDA SDK",
          .aliases = {"BLK"},
          .kernels = {{"blackscholes", "blackscholes"}},
          .make = blackscholes::make};
}

}  // namespace wm::zoo

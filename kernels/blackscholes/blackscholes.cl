// European options by the closed formula, a grid-stride loop over the options.

// The normal distribution's tail beyond |d| as a polynomial in 1 / (1 + p |d|): Abramowitz and Stegun 26.2.17, whose
// error is below 7.5e-8.
static float normal_cdf(float d) {
  const float k = native_recip(1.0f + 0.2316419f * fabs(d));
  float poly = 1.330274429f;
  poly = poly * k - 1.821255978f;
  poly = poly * k + 1.781477937f;
  poly = poly * k - 0.356563782f;
  poly = poly * k + 0.31938153f;
  const float tail = 0.39894228f * native_exp(-0.5f * d * d) * (poly * k);
  return d > 0.0f ? 1.0f - tail : tail;
}

__kernel void blackscholes(__global float* restrict call, __global float* restrict put,
                           __global const float* restrict price, __global const float* restrict strike,
                           __global const float* restrict years, float riskfree, float volatility, uint options) {
  const uint threads = get_global_size(0);
#pragma unroll 1
  for (uint i = get_global_id(0); i < options; i += threads) {
    const float s = price[i];
    const float x = strike[i];
    const float t = years[i];
    const float spread = volatility * native_sqrt(t);
    const float drift = riskfree + 0.5f * volatility * volatility;
    const float d1 = native_divide(native_log(native_divide(s, x)) + drift * t, spread);
    const float d2 = d1 - spread;
    const float n1 = normal_cdf(d1);
    const float n2 = normal_cdf(d2);
    const float discounted = x * native_exp(-riskfree * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}

// Monte Carlo on the LIBOR market model, one path a thread: 80 forward rates of quarter-year accruals move together for
// 40 steps, then a portfolio of swaptions is valued on them and discounted. A thread's rates are an array it indexes,
// so they are in local memory and every step streams them through the caches.
#define RATES 80
#define STEPS 40
#define AFTER (RATES - STEPS)

__kernel void libor(__global const float* restrict normals, __global const float* restrict volatility,
                    __global const int* restrict maturity, __global const float* restrict swap_rate, int swaptions,
                    float start, float accrual, float root_accrual, __global float* restrict payoff) {
  const int path = get_global_id(0);
  const int paths = get_global_size(0);
  float rate[RATES];
#pragma unroll 1
  for (int i = 0; i < RATES; ++i) rate[i] = start;

  // One step of the log-Euler scheme: a rate's drift sums over the rates that are set before it.
#pragma unroll 1
  for (int n = 0; n < STEPS; ++n) {
    const float shock = root_accrual * normals[n * paths + path];
    float drift = 0.0f;
#pragma unroll 1
    for (int i = n + 1; i < RATES; ++i) {
      const float sigma = volatility[i - n - 1];
      const float weight = accrual * sigma;
      drift += native_divide(weight * rate[i], 1.0f + accrual * rate[i]);
      rate[i] *= native_exp(weight * drift + sigma * (shock - 0.5f * weight));
    }
  }

  // Bonds and annuities that start where the steps end.
  float bond[AFTER];
  float annuity[AFTER];
  float b = 1.0f;
  float s = 0.0f;
#pragma unroll 1
  for (int n = 0; n < AFTER; ++n) {
    b = native_divide(b, 1.0f + accrual * rate[STEPS + n]);
    s += accrual * b;
    bond[n] = b;
    annuity[n] = s;
  }
  float value = 0.0f;
#pragma unroll 1
  for (int k = 0; k < swaptions; ++k) {
    const int m = maturity[k] - 1;
    value += 100.0f * fmax(1.0f - bond[m] - swap_rate[k] * annuity[m], 0.0f);
  }
#pragma unroll 1
  for (int n = 0; n < STEPS; ++n) value = native_divide(value, 1.0f + accrual * rate[n]);
  payoff[path] = value;
}

#define FEW_RATES 60
#define FEW_AFTER (FEW_RATES - STEPS)

// The same after the first step only, for swaptions of at most FEW_AFTER accruals.
__kernel void libor_step(__global const float* restrict normals, __global const float* restrict volatility,
                         __global const int* restrict maturity, __global const float* restrict swap_rate, int swaptions,
                         float start, float accrual, float root_accrual, __global float* restrict payoff) {
  const int path = get_global_id(0);
  float rate[FEW_RATES];
#pragma unroll 1
  for (int i = 0; i < FEW_RATES; ++i) rate[i] = start;

  const float shock = root_accrual * normals[path];
  float drift = 0.0f;
#pragma unroll 1
  for (int i = 1; i < FEW_RATES; ++i) {
    const float sigma = volatility[i - 1];
    const float weight = accrual * sigma;
    drift += native_divide(weight * rate[i], 1.0f + accrual * rate[i]);
    rate[i] *= native_exp(weight * drift + sigma * (shock - 0.5f * weight));
  }

  float bond[FEW_AFTER];
  float annuity[FEW_AFTER];
  float b = 1.0f;
  float s = 0.0f;
#pragma unroll 1
  for (int n = 0; n < FEW_AFTER; ++n) {
    b = native_divide(b, 1.0f + accrual * rate[STEPS + n]);
    s += accrual * b;
    bond[n] = b;
    annuity[n] = s;
  }
  float value = 0.0f;
#pragma unroll 1
  for (int k = 0; k < swaptions; ++k) {
    const int m = maturity[k] - 1;
    value += 100.0f * fmax(1.0f - bond[m] - swap_rate[k] * annuity[m], 0.0f);
  }
#pragma unroll 1
  for (int n = 0; n < STEPS; ++n) value = native_divide(value, 1.0f + accrual * rate[n]);
  payoff[path] = value;
}

// Mathematical functions in both precisions.
#include "check.h"
__global__ void compute(const double* x, double* d, float* f) {
  const int i = threadIdx.x;
  const double v = x[i];
  d[i] = sin(v) + exp(-v) * log(v + 1) + sqrt(v) + pow(v + 1, 0.3) + atan2(v, 2.0) + erf(v) + tgamma(v + 1) + cbrt(v);
  const float w = static_cast<float>(v);
  f[i] = sinf(w) + expf(-w) * logf(w + 1) + sqrtf(w) + powf(w + 1, 0.3F) + atan2f(w, 2) + erff(w) + tanhf(w) + fmodf(w, 0.7F);
}
int main() {
  std::vector<double> x(64);
  for (int i = 0; i < 64; ++i) x[i] = i * 0.07;
  Buffer<double> dx(x), dd(64);
  Buffer<float> df(64);
  compute<<<1, 64>>>(dx.data, dd.data, df.data);
  const auto d = dd.read();
  const auto f = df.read();
  for (int i = 0; i < 64; ++i) {
    const double v = x[i];
    EXPECT(near(d[i], std::sin(v) + std::exp(-v) * std::log(v + 1) + std::sqrt(v) + std::pow(v + 1, 0.3) + std::atan2(v, 2.0) + std::erf(v) + std::tgamma(v + 1) + std::cbrt(v), 1e-12));
    const float w = static_cast<float>(v);
    EXPECT(near(f[i], std::sin(w) + std::exp(-w) * std::log(w + 1) + std::sqrt(w) + std::pow(w + 1, 0.3F) + std::atan2(w, 2.0F) + std::erf(w) + std::tanh(w) + std::fmod(w, 0.7F), 1e-5));
  }
  return passed("math_functions");
}

// One transformer layer, forward and backward: attention with a causal mask and a two-layer network, trained by gradient
// descent; the gradient is compared with finite differences.
#include "check.h"
const int T = 8, D = 16;  // positions, width
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k, bool ta, bool tb, bool add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const int row = i / n, column = i % n;
  float sum = add ? c[i] : 0;
  for (int j = 0; j < k; ++j) sum += (ta ? a[j * m + row] : a[row * k + j]) * (tb ? b[column * k + j] : b[j * n + column]);
  c[i] = sum;
}
__global__ void attend(const float* q, const float* k, float* p) {
  const int row = threadIdx.x;
  float score[T], top = -1e30F, sum = 0;
  for (int c = 0; c <= row; ++c) {
    score[c] = 0;
    for (int d = 0; d < D; ++d) score[c] += q[row * D + d] * k[c * D + d];
    score[c] *= rsqrtf(D);
    top = fmaxf(top, score[c]);
  }
  for (int c = 0; c <= row; ++c) sum += score[c] = expf(score[c] - top);
  for (int c = 0; c < T; ++c) p[row * T + c] = c <= row ? score[c] / sum : 0;
}
// The gradient of the scores from the gradient of the probabilities.
__global__ void attend_back(const float* p, const float* dp, float* ds) {
  const int row = threadIdx.x;
  float dot = 0;
  for (int c = 0; c < T; ++c) dot += p[row * T + c] * dp[row * T + c];
  for (int c = 0; c < T; ++c) ds[row * T + c] = p[row * T + c] * (dp[row * T + c] - dot) * rsqrtf(D);
}
__global__ void relu(float* x, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = fmaxf(x[i], 0); }
__global__ void relu_back(const float* x, float* dx, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && x[i] <= 0) dx[i] = 0; }
__global__ void loss(const float* y, const float* target, float* dy, float* total, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) { dy[i] = y[i] - target[i]; atomicAdd(total, 0.5F * dy[i] * dy[i]); }
}
void mm(const float* a, const float* b, float* c, int m, int n, int k, bool ta = false, bool tb = false, bool add = false) {
  matmul<<<(m * n + 63) / 64, 64>>>(a, b, c, m, n, k, ta, tb, add);
}
struct Layer {
  Buffer<float> q{T * D}, k{T * D}, v{T * D}, p{T * T}, o{T * D}, h{T * 2 * D}, y{T * D};
  Buffer<float> dy{T * D}, dh{T * 2 * D}, d_o{T * D}, dp{T * T}, ds{T * T}, dq{T * D}, total{std::vector<float>{0}};
  // Returns the loss; dwq gets the gradient of the query weights.
  float run(const float* x, const float* wq, const float* wk, const float* wv, const float* w1, const float* w2, const float* target, float* dwq) {
    mm(x, wq, q.data, T, D, D);
    mm(x, wk, k.data, T, D, D);
    mm(x, wv, v.data, T, D, D);
    attend<<<1, T>>>(q.data, k.data, p.data);
    mm(p.data, v.data, o.data, T, D, T);
    mm(o.data, w1, h.data, T, 2 * D, D);
    relu<<<4, 64>>>(h.data, T * 2 * D);
    mm(h.data, w2, y.data, T, D, 2 * D);
    CUDA(cudaMemset(total.data, 0, 4));
    loss<<<1, 32>>>(y.data, target, dy.data, total.data, T * D);
    mm(dy.data, w2, dh.data, T, 2 * D, D, false, true);
    relu_back<<<4, 64>>>(h.data, dh.data, T * 2 * D);
    mm(dh.data, w1, d_o.data, T, D, 2 * D, false, true);
    mm(d_o.data, v.data, dp.data, T, T, D, false, true);
    attend_back<<<1, T>>>(p.data, dp.data, ds.data);
    mm(ds.data, k.data, dq.data, T, D, T);
    mm(x, dq.data, dwq, D, D, T, true);
    return total.read()[0];
  }
};
int main() {
  Numbers numbers;
  const auto random = [&](int n) { std::vector<float> v(n); for (float& f : v) f = numbers.unit() - 0.5F; return v; };
  const auto wq = random(D * D);
  Buffer<float> x(random(T * D)), wk(random(D * D)), wv(random(D * D)), w1(random(2 * D * D)), w2(random(2 * D * D)), target(random(T * D)), dwq(D * D);
  Layer layer;
  Buffer<float> dw(wq);
  layer.run(x.data, dw.data, wk.data, wv.data, w1.data, w2.data, target.data, dwq.data);
  const auto gradient = dwq.read();
  for (const int i : {0, 37, 100, 255}) {
    auto up = wq, down = wq;
    up[i] += 0.05F, down[i] -= 0.05F;
    Buffer<float> wu(up), wd(down), unused(D * D);
    const float higher = layer.run(x.data, wu.data, wk.data, wv.data, w1.data, w2.data, target.data, unused.data);
    const float lower = layer.run(x.data, wd.data, wk.data, wv.data, w1.data, w2.data, target.data, unused.data);
    EXPECT(near(gradient[i], (higher - lower) / 0.1F, 2e-2));
  }
  return passed("transformer");
}

// A CUDA application that measures itself, for two of them beside each other. It knows nothing of warpmux.
//
//   pair latency SECONDS [high]    a kernel of about 27 µs (H200) every half millisecond on a stream of its own, with
//   the
//                                  highest priority if asked for; how long each takes
//   pair compute SECONDS           launches of about 5.5 ms that keep the arithmetic units busy; how many a second
//   pair memory SECONDS            launches of about 5 ms that copy memory; how many a second
//   pair calls SECONDS             empty kernels in a row; how long a launch call takes
//
// PAIR_BEGIN (seconds since 1970) is when measuring begins, so that two programs measure the same time; load begins at
// once. One line of JSON goes to standard output. Results are checked: a wrong one is counted in "wrong"; "late_ms" is
// how long after PAIR_BEGIN the program was ready.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr float kA = 0.999F, kB = 0.5F;

__global__ void chain(float* out, int n, float a, float b) {
  float x = threadIdx.x * 0.001F;
  for (int i = 0; i < n; ++i) x = fmaf(x, a, b);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void copy(float4* out, const float4* in, int n, int passes) {
  for (int p = 0; p < passes; ++p) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      const float4 v = in[i];
      out[i] = make_float4(v.x + p, v.y + p, v.z + p, v.w + p);
    }
  }
}

__global__ void nothing() {}

void must(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "pair: %s: %s\n", what, cudaGetErrorString(result));
  std::_Exit(42);
}

// The time that is measured.
struct Window {
  Clock::time_point begin = Clock::now(), end;
  double late_ms = 0;

  explicit Window(double seconds) {
    if (const char* text = std::getenv("PAIR_BEGIN")) {
      const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
      begin += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::atof(text) - now));
    }
    late_ms = std::max(0.0, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  bool is_over() const { return Clock::now() >= end; }
};

// The chain's result for the threads of the first block, as the host computes it.
bool is_right(const float* out, int threads, int n) {
  std::vector<float> got(threads);
  must(cudaMemcpy(got.data(), out, threads * sizeof(float), cudaMemcpyDeviceToHost), "read");
  for (int i = 0; i < threads; ++i) {
    float x = static_cast<float>(i) * 0.001F;
    for (int k = 0; k < n; ++k) x = std::fma(x, kA, kB);
    if (got[i] != x) return false;
  }
  return true;
}

void latency(double seconds, bool high) {
  constexpr int kBlocks = 132, kThreads = 128, kLength = 13'000;
  float* out = nullptr;
  must(cudaMalloc(&out, kBlocks * kThreads * sizeof(float)), "memory");
  cudaStream_t stream = nullptr;
  int least = 0, greatest = 0;
  must(cudaDeviceGetStreamPriorityRange(&least, &greatest), "range");
  must(high ? cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest)
            : cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
       "stream");
  const auto request = [&] {
    chain<<<kBlocks, kThreads, 0, stream>>>(out, kLength, kA, kB);
    must(cudaGetLastError(), "launch");
    must(cudaStreamSynchronize(stream), "synchronize");
  };
  for (int i = 0; i < 100; ++i) request();
  std::vector<double> times;
  const Window window(seconds);
  auto next = Clock::now();
  while (!window.is_over()) {
    next = std::max(next + std::chrono::microseconds(500), Clock::now());
    std::this_thread::sleep_until(next);
    const auto started = Clock::now();
    request();
    if (started >= window.begin)
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - started).count());
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) { return times[static_cast<std::size_t>(part * (times.size() - 1))]; };
  std::printf(
      "{\"kind\": \"latency\", \"requests\": %zu, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, "
      "\"max_us\": %.1f, \"late_ms\": %.0f, \"wrong\": %d}\n",
      times.size(), at(0.5), at(0.9), at(0.99), times.back(), window.late_ms, is_right(out, kThreads, kLength) ? 0 : 1);
}

template <typename Launch>
void batch(double seconds, const char* kind, Launch launch) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync), "event");
  launch(stream);
  must(cudaStreamSynchronize(stream), "synchronize");
  std::size_t launches = 0;
  const Window window(seconds);
  Clock::time_point first = Clock::now(), last = first;  // ends of launches, the first and the last that count
  launch(stream);  // one launch ahead, as an application that keeps the device busy does
  while (!window.is_over()) {
    must(cudaEventRecord(event, stream), "record");
    launch(stream);
    must(cudaEventSynchronize(event), "wait");
    last = Clock::now();
    if (last < window.begin) {
      first = last;
    } else {
      ++launches;
    }
  }
  const double time = std::chrono::duration<double>(last - first).count();
  must(cudaStreamSynchronize(stream), "synchronize");
  std::printf(
      "{\"kind\": \"%s\", \"launches\": %zu, \"launches_per_second\": %.2f, \"milliseconds\": %.3f, \"late_ms\": "
      "%.0f, ",
      kind, launches, launches / time, time * 1e3 / launches, window.late_ms);
}

void compute(double seconds) {
  constexpr int kBlocks = 132 * 8 * 125, kThreads = 256, kLength = 5'500;
  float* out = nullptr;
  must(cudaMalloc(&out, kBlocks * kThreads * sizeof(float)), "memory");
  batch(seconds, "compute", [&](cudaStream_t stream) {
    chain<<<kBlocks, kThreads, 0, stream>>>(out, kLength, kA, kB);
    must(cudaGetLastError(), "launch");
  });
  std::printf("\"wrong\": %d}\n", is_right(out, kThreads, kLength) ? 0 : 1);
}

void memory(double seconds) {
  constexpr int kCount = 1 << 26, kPasses = 10;  // 1 GiB each way and pass
  float4 *in = nullptr, *out = nullptr;
  must(cudaMalloc(&in, kCount * sizeof(float4)), "memory");
  must(cudaMalloc(&out, kCount * sizeof(float4)), "memory");
  std::vector<float> first(1024);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<float>(i % 97);
  must(cudaMemset(in, 0x3f, kCount * sizeof(float4)), "memory");
  must(cudaMemcpy(in, first.data(), first.size() * sizeof(float), cudaMemcpyHostToDevice), "write");
  batch(seconds, "memory", [&](cudaStream_t stream) {
    copy<<<132 * 64, 256, 0, stream>>>(out, in, kCount, kPasses);
    must(cudaGetLastError(), "launch");
  });
  std::vector<float> got(first.size());
  must(cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost), "read");
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != first[i] + (kPasses - 1);
  std::printf("\"wrong\": %d}\n", wrong);
}

// Medians over groups of 64 calls: the queue of the driver does not fill up.
void calls(double seconds) {
  constexpr int kGroup = 64;
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  std::vector<double> times;
  for (const Window window(seconds); !window.is_over();) {
    const auto started = Clock::now();
    for (int i = 0; i < kGroup; ++i) nothing<<<1, 32, 0, stream>>>();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - started).count() / kGroup);
    must(cudaStreamSynchronize(stream), "synchronize");
  }
  must(cudaGetLastError(), "launch");
  std::sort(times.begin(), times.end());
  std::printf("{\"kind\": \"calls\", \"groups\": %zu, \"launch_ns\": %.1f, \"p10_ns\": %.1f, \"wrong\": 0}\n",
              times.size(), times[times.size() / 2], times[times.size() / 10]);
}

}  // namespace

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
  const bool high = argc > 3 && std::strcmp(argv[3], "high") == 0;
  if (std::strcmp(kind, "latency") == 0) {
    latency(seconds, high);
  } else if (std::strcmp(kind, "compute") == 0) {
    compute(seconds);
  } else if (std::strcmp(kind, "memory") == 0) {
    memory(seconds);
  } else if (std::strcmp(kind, "calls") == 0) {
    calls(seconds);
  } else {
    std::fputs("pair latency|compute|memory|calls SECONDS [high]\n", stderr);
    return 2;
  }
}

// A CUDA application that measures itself, for two of them beside each other. It knows nothing of warpmux.
//
//   pair latency SECONDS [high]  a kernel of about 27 µs (H200) every half millisecond, on a stream of its own
//                                (with the highest priority, if asked for); how long each takes
//   pair probe SECONDS           the same kernel, with the times at which its blocks start and end on the device
//   pair compute SECONDS         launches of about 6.5 ms that keep the arithmetic units busy; how many a second
//   pair memory SECONDS          launches of about 5 ms that copy memory; how many a second
//   pair calls SECONDS           empty kernels in a row; how long a launch call takes
//
// One line of JSON goes to standard output. Results are checked: a wrong one is counted in "wrong".
#include <cmath>
#include <cstring>

#include "measure.h"

namespace {

constexpr float kA = 0.999F, kB = 0.5F;

__global__ void chain(float* out, int n, float a, float b) {
  float x = threadIdx.x * 0.001F;
  for (int i = 0; i < n; ++i) x = fmaf(x, a, b);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__device__ unsigned long long device_time() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// The same, with the start and the end of every block.
__global__ void timed_chain(float* out, unsigned long long* times, int n, float a, float b) {
  if (threadIdx.x == 0) times[2 * blockIdx.x] = device_time();
  float x = threadIdx.x * 0.001F;
  for (int i = 0; i < n; ++i) x = fmaf(x, a, b);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
  if (threadIdx.x == 0) times[2 * blockIdx.x + 1] = device_time();
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

cudaStream_t make_stream(bool high) {
  cudaStream_t stream = nullptr;
  int least = 0, greatest = 0;
  must(cudaDeviceGetStreamPriorityRange(&least, &greatest), "range");
  must(high ? cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest)
            : cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
       "stream");
  return stream;
}

constexpr int kBlocks = 132, kThreads = 128, kLength = 13'000;  // a request's

// Where the time of requests goes: between the start of the first block and the end of the last (span), until the last
// block has started (starts), in the longest block (block), and outside of the kernel. Quantiles of each over all
// requests, and their means over the slowest hundredth.
void probe(double seconds) {
  float* out = nullptr;
  unsigned long long* times = nullptr;
  must(cudaMalloc(&out, kBlocks * kThreads * sizeof(float)), "memory");
  must(cudaMalloc(&times, 2 * kBlocks * sizeof(*times)), "memory");
  const cudaStream_t stream = make_stream(false);
  std::vector<unsigned long long> seen(2 * kBlocks);
  struct Request {
    double total, span, starts, block;
  };
  std::vector<Request> requests;
  measure::latency(seconds, [&] {
    const auto started = measure::Clock::now();
    timed_chain<<<kBlocks, kThreads, 0, stream>>>(out, times, kLength, kA, kB);
    must(cudaGetLastError(), "launch");
    must(cudaStreamSynchronize(stream), "synchronize");
    const double total = measure::seconds_of(measure::Clock::now() - started) * 1e6;
    must(cudaMemcpyAsync(seen.data(), times, seen.size() * sizeof(*times), cudaMemcpyDeviceToHost, stream), "read");
    must(cudaStreamSynchronize(stream), "synchronize");
    unsigned long long first = ~0ULL, last = 0, last_start = 0, longest = 0;
    for (int i = 0; i < 2 * kBlocks; i += 2) {
      first = std::min(first, seen[i]);
      last_start = std::max(last_start, seen[i]);
      last = std::max(last, seen[i + 1]);
      longest = std::max(longest, seen[i + 1] - seen[i]);
    }
    requests.push_back({total, (last - first) * 1e-3, (last_start - first) * 1e-3, longest * 1e-3});
  });
  std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.total < b.total; });
  const auto print = [&](const char* name, auto value) {
    std::vector<double> sorted;
    double slow = 0;
    for (const Request& r : requests) sorted.push_back(value(r));
    const std::size_t hundredth = std::max<std::size_t>(requests.size() / 100, 1);
    for (std::size_t i = requests.size() - hundredth; i < requests.size(); ++i) slow += value(requests[i]) / hundredth;
    std::sort(sorted.begin(), sorted.end());
    measure::print_list(name, {measure::quantile(sorted, 0.5), measure::quantile(sorted, 0.9),
                               measure::quantile(sorted, 0.99), slow});
  };
  print("total_us", [](const Request& r) { return r.total; });
  print("span_us", [](const Request& r) { return r.span; });
  print("starts_us", [](const Request& r) { return r.starts; });
  print("block_us", [](const Request& r) { return r.block; });
  print("outside_us", [](const Request& r) { return r.total - r.span; });
  std::printf("\"wrong\": %d}\n", is_right(out, kThreads, kLength) ? 0 : 1);
}

void latency(double seconds, bool high) {
  float* out = nullptr;
  must(cudaMalloc(&out, kBlocks * kThreads * sizeof(float)), "memory");
  const cudaStream_t stream = make_stream(high);
  measure::latency(seconds, [&] {
    chain<<<kBlocks, kThreads, 0, stream>>>(out, kLength, kA, kB);
    must(cudaGetLastError(), "launch");
    must(cudaStreamSynchronize(stream), "synchronize");
  });
  std::printf("\"wrong\": %d}\n", is_right(out, kThreads, kLength) ? 0 : 1);
}

// `launch` takes the stream.
template <typename Launch>
void batch(double seconds, const char* kind, Launch launch) {
  const cudaStream_t stream = make_stream(false);
  cudaEvent_t event = nullptr;
  must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync), "event");
  launch(stream);
  must(cudaStreamSynchronize(stream), "synchronize");
  measure::batch(
      seconds, kind, [&] { launch(stream); }, [&] { must(cudaEventRecord(event, stream), "record"); },
      [&] { must(cudaEventSynchronize(event), "wait"); });
  must(cudaStreamSynchronize(stream), "synchronize");
}

void compute(double seconds) {
  constexpr int kGrid = 132 * 8 * 125, kBlock = 256, kSteps = 5'500;
  float* out = nullptr;
  must(cudaMalloc(&out, kGrid * kBlock * sizeof(float)), "memory");
  batch(seconds, "compute", [&](cudaStream_t stream) {
    chain<<<kGrid, kBlock, 0, stream>>>(out, kSteps, kA, kB);
    must(cudaGetLastError(), "launch");
  });
  std::printf("\"wrong\": %d}\n", is_right(out, kBlock, kSteps) ? 0 : 1);
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

void calls(double seconds) {
  const cudaStream_t stream = make_stream(false);
  measure::calls(
      seconds, [&] { nothing<<<1, 32, 0, stream>>>(); }, [&] { must(cudaStreamSynchronize(stream), "synchronize"); });
  must(cudaGetLastError(), "launch");
  std::printf("\"wrong\": 0}\n");
}

}  // namespace

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
  const bool high = argc > 3 && std::strcmp(argv[3], "high") == 0;
  if (std::strcmp(kind, "latency") == 0) {
    latency(seconds, high);
  } else if (std::strcmp(kind, "probe") == 0) {
    probe(seconds);
  } else if (std::strcmp(kind, "compute") == 0) {
    compute(seconds);
  } else if (std::strcmp(kind, "memory") == 0) {
    memory(seconds);
  } else if (std::strcmp(kind, "calls") == 0) {
    calls(seconds);
  } else {
    std::fputs("pair latency|probe|compute|memory|calls SECONDS [high]\n", stderr);
    return 2;
  }
}

// Whether green contexts (sets of SMs) can serve unmodified programs, and what they cost: a program that only knows its
// primary context makes a kernel and a stream; its launches are redirected to streams of green contexts.
//
//   green        one line of JSON: SMs per group, errors, times of a redirected launch, and the SMs that blocks saw
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cuda.h>
#include <set>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

__global__ void where(unsigned* sms, unsigned rounds) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  float x = threadIdx.x;
  for (unsigned i = 0; i < rounds; ++i) x = fmaf(x, 0.999F, 0.5F);
  if (threadIdx.x == 0) sms[blockIdx.x] = x == -1 ? 0 : sm;
}

__global__ void nothing() {}

int failures = 0;
bool check(const char* what, CUresult result) {
  if (result == CUDA_SUCCESS) return true;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  std::fprintf(stderr, "green: %s: %s\n", what, name == nullptr ? "?" : name);
  ++failures;
  return false;
}

double microseconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count() * 1e6;
}

// The median time of a call over 500 of them, 20 at a time.
template <typename Call, typename Wait>
double median(Call call, Wait wait) {
  std::vector<double> times;
  for (int i = 0; i < 25; ++i) {
    const auto started = Clock::now();
    for (int k = 0; k < 20; ++k) call();
    times.push_back(microseconds(started) / 20);
    wait();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  constexpr unsigned kBlocks = 1320;
  unsigned* sms = nullptr;
  cudaStream_t own = nullptr;
  if (cudaMalloc(&sms, kBlocks * sizeof(unsigned)) != cudaSuccess ||
      cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess) {
    std::puts("{\"error\": \"no GPU\"}");
    return 1;
  }
  const auto seen = [&](cudaStream_t stream) {
    std::vector<unsigned> values(kBlocks);
    where<<<kBlocks, 256, 0, stream>>>(sms, 2000);
    if (!check("launch", static_cast<CUresult>(cudaGetLastError()))) return std::size_t{0};
    cudaStreamSynchronize(stream);
    cudaMemcpy(values.data(), sms, kBlocks * sizeof(unsigned), cudaMemcpyDeviceToHost);
    return std::set<unsigned>(values.begin(), values.end()).size();
  };
  const std::size_t all = seen(own);

  CUdevResource all_sms{}, rest{};
  std::vector<CUdevResource> groups(32);
  unsigned count = 32;
  check("cuDeviceGetDevResource", cuDeviceGetDevResource(0, &all_sms, CU_DEV_RESOURCE_TYPE_SM));
  check("cuDevSmResourceSplitByCount", cuDevSmResourceSplitByCount(groups.data(), &count, &all_sms, &rest, 0, 8));
  // Sets of 1, 4 and 12 groups, as a policy would switch among them.
  std::vector<CUstream> streams;
  std::vector<std::size_t> found;
  double create_us = 0;
  for (const unsigned size : {1U, 4U, 12U}) {
    CUdevResourceDesc description = nullptr;
    CUgreenCtx green = nullptr;
    CUstream stream = nullptr;
    if (size > count) continue;
    const auto started = Clock::now();
    if (!check("cuDevResourceGenerateDesc", cuDevResourceGenerateDesc(&description, groups.data(), size)) ||
        !check("cuGreenCtxCreate", cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM)) ||
        !check("cuGreenCtxStreamCreate", cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0)))
      continue;
    create_us = microseconds(started);
    streams.push_back(stream);
    found.push_back(seen(stream));  // a kernel and memory of the primary context, in the current primary context
  }
  cudaEvent_t before = nullptr, after = nullptr;
  cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&after, cudaEventDisableTiming);
  const auto wait = [&] { cudaDeviceSynchronize(); };
  const double plain_us = median([&] { nothing<<<1, 32, 0, own>>>(); }, wait);
  double redirected_us = 0, switched_us = 0;
  const auto redirect = [&](CUstream stream) {
    check("record", cuEventRecord(before, own));
    check("wait", cuStreamWaitEvent(stream, before, 0));
    nothing<<<1, 32, 0, stream>>>();
    check("record in a green context", cuEventRecord(after, stream));
    check("wait for a green context", cuStreamWaitEvent(own, after, 0));
  };
  if (!streams.empty()) {
    redirected_us = median([&] { redirect(streams[0]); }, wait);
    std::size_t next = 0;
    switched_us = median([&] { redirect(streams[next++ % streams.size()]); }, wait);
  }
  if (cudaGetLastError() != cudaSuccess) ++failures;
  std::printf(
      "{\"kind\": \"green\", \"groups\": %u, \"sms_of_group\": %u, \"sms_rest\": %u, \"seen_all\": %zu, \"seen\": [",
      count, groups[0].sm.smCount, rest.sm.smCount, all);
  for (std::size_t i = 0; i < found.size(); ++i) std::printf("%s%zu", i == 0 ? "" : ", ", found[i]);
  std::printf(
      "], \"create_us\": %.1f, \"launch_us\": %.2f, \"redirected_us\": %.2f, \"switched_us\": %.2f, \"failures\": "
      "%d}\n",
      create_us, plain_us, redirected_us, switched_us, failures);
}

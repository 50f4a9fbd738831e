#include "gated_program.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "driver_calls.h"
#include "rounds.h"

namespace {

using wm::driver_calls::call;
using wm::driver_calls::cu;

// `sum`: a loop that adds `factor` (a constant that the host sets) n times, and counts its blocks in `blocks`.
// `scaled`: the same with dynamic shared memory. `spins`: may wait for another block. `straight`: has no loop.
constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.visible .const .align 4 .u32 factor = 3;
.visible .global .align 4 .u32 blocks;
.extern .shared .align 4 .b8 space[];
.visible .entry sum(.param .u64 out, .param .u32 n)
{
.reg .b32 %r<9>; .reg .b64 %d<6>; .reg .pred %p<3>;
ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; ld.const.u32 %r2, [factor];
mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x;
LOOP:
mad.lo.u32 %r3, %r4, %r2, %r3;
add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, %r1;
@%p1 bra LOOP;
mad.lo.u32 %r8, %r6, %r7, %r5;
mul.wide.u32 %d2, %r8, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r3;
setp.eq.u32 %p2, %r5, 0;
mov.u64 %d4, blocks; cvta.global.u64 %d5, %d4;
@%p2 red.global.add.u32 [blocks], 1;
ret;
}
.visible .entry scaled(.param .u64 out, .param .u32 n)
{
.reg .b32 %r<9>; .reg .b64 %d<6>; .reg .pred %p<3>;
ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];
mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x;
shl.b32 %r2, %r5, 2; mov.u32 %r8, space; add.u32 %r2, %r2, %r8; st.shared.u32 [%r2], %r3;
LOOP:
ld.shared.u32 %r3, [%r2]; mad.lo.u32 %r3, %r4, 3, %r3; st.shared.u32 [%r2], %r3;
add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, %r1;
@%p1 bra LOOP;
mad.lo.u32 %r8, %r6, %r7, %r5;
mul.wide.u32 %d2, %r8, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r3;
ret;
}
.visible .entry spins(.param .u64 out, .param .u32 n)
{
.reg .b32 %r<3>; .reg .b64 %d<2>; .reg .pred %p<2>;
ld.param.u64 %d1, [out];
LOOP:
ld.volatile.global.u32 %r1, [%d1];
setp.eq.u32 %p1, %r1, 12345;
@%p1 bra LOOP;
ret;
}
.visible .entry straight(.param .u64 out, .param .u32 n) { ret; }
)";

constexpr unsigned kBlocks = 3, kThreads = 64, kLength = 5000;

struct Kernels {
  void *context = nullptr, *module = nullptr, *library = nullptr;
  unsigned long long out = 0, blocks = 0, factor = 0;

  Kernels() = default;
  explicit Kernels(const std::string& kind) {
    int device = 0;
    cu("cuInit", 0U);
    cu("cuDeviceGet", &device, 0);
    cu("cuDevicePrimaryCtxRetain", &context, device);
    cu("cuCtxSetCurrent", context);
    load(kind);
  }
  // Into the current context.
  void load(const std::string& kind) {
    std::size_t bytes = 0;
    // The program may free its image after the call.
    std::vector<char> image(kPtx, kPtx + std::strlen(kPtx) + 1);
    if (kind == "library") {
      cu("cuLibraryLoadData", &library, static_cast<const void*>(image.data()), static_cast<int*>(nullptr),
         static_cast<void**>(nullptr), 0U, static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0U);
      cu("cuLibraryGetModule", &module, library);
    } else {
      cu("cuModuleLoadData", &module, static_cast<const void*>(image.data()));
    }
    std::fill(image.begin(), image.end(), ' ');
    cu("cuModuleGetGlobal_v2", &blocks, &bytes, module, "blocks");
    cu("cuModuleGetGlobal_v2", &factor, &bytes, module, "factor");
    cu("cuMemAlloc_v2", &out, std::size_t{kBlocks * kThreads * 4});
  }
  [[nodiscard]] void* function(const char* name) const {
    void* made = nullptr;
    if (library != nullptr) {
      cu("cuLibraryGetKernel", &made, library, name);
    } else {
      cu("cuModuleGetFunction", &made, module, name);
    }
    return made;
  }
  void launch(void* function, void* stream, unsigned shared_bytes, unsigned n) {
    void* parameters[] = {&out, &n};
    cu("cuLaunchKernel", function, kBlocks, 1U, 1U, kThreads, 1U, 1U, shared_bytes, stream,
       static_cast<void**>(parameters), static_cast<void**>(nullptr));
  }
  // With more blocks in the second dimension than a device has.
  int try_launch_tall(void* function, void* stream) {
    unsigned n = 1;
    void* parameters[] = {&out, &n};
    return call("cuLaunchKernel", function, 1U, 65536U, 1U, kThreads, 1U, 1U, 0U, stream,
                static_cast<void**>(parameters), static_cast<void**>(nullptr));
  }
  // Whether every thread's sum is that of n times a factor.
  [[nodiscard]] bool is_right(std::uint32_t factor_now, unsigned n) const {
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < n; ++i) expected += i * factor_now;
    std::vector<std::uint32_t> got(std::size_t{kBlocks} * kThreads);
    cu("cuMemcpyDtoH_v2", static_cast<void*>(got.data()), out, got.size() * 4);
    for (const std::uint32_t value : got) {
      if (value != expected) return false;
    }
    return true;
  }
};

// Sums in streams of their own, in threads at the same time.
void gated_threads(const char* length) {
  constexpr int kCount = 4;
  Kernels gpu("module");
  std::atomic<unsigned> launches{0}, right{0};
  std::vector<std::thread> running;
  for (int i = 0; i < kCount; ++i) {
    running.emplace_back([&] {
      cu("cuCtxSetCurrent", gpu.context);
      Kernels own = gpu;
      cu("cuMemAlloc_v2", &own.out, std::size_t{kBlocks * kThreads * 4});
      void *stream = nullptr, *sum = own.function("sum");
      cu("cuStreamCreate", &stream, 1U);
      for (Rounds rounds(length); rounds.next(); ++launches) {
        own.launch(sum, stream, 0, kLength);
        cu("cuStreamSynchronize", stream);
        right += own.is_right(3, kLength) ? 1 : 0;
      }
    });
  }
  for (std::thread& t : running) t.join();
  std::printf("{\"launches\": %u, \"right\": %u}\n", launches.load(), right.load());
}

// Contexts of the program's own, which come and go; two at a time.
void gated_contexts(const char* length) {
  unsigned launches = 0, right = 0;
  cu("cuInit", 0U);
  for (Rounds rounds(length); rounds.next();) {
    void* contexts[2] = {};
    for (void*& context : contexts) {
      cu("cuCtxCreate_v2", &context, 0U, 0);
      Kernels own;
      own.load("module");
      void* sum = own.function("sum");
      for (int k = 0; k < 20; ++k, ++launches) {
        own.launch(sum, nullptr, 0, kLength);
        cu("cuStreamSynchronize", static_cast<void*>(nullptr));
        right += own.is_right(3, kLength) ? 1 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
    for (void* context : contexts) cu("cuCtxDestroy_v2", context);
  }
  std::printf("{\"launches\": %u, \"right\": %u}\n", launches, right);
}

// A capture of another stream is in progress, in the mode that forbids most calls of all threads, while a kernel is
// first launched and its form with gates is made. The captured launch stays the program's own kernel.
void gated_capture(const char* length) {
  Kernels gpu("module");
  void *captured = nullptr, *stream = nullptr, *graph = nullptr, *executable = nullptr, *sum = gpu.function("sum");
  constexpr int kGlobalMode = 0;
  cu("cuStreamCreate", &captured, 1U);
  cu("cuStreamCreate", &stream, 1U);
  cu("cuStreamBeginCapture_v2", captured, kGlobalMode);
  unsigned launches = 0;
  for (Rounds rounds(length); rounds.next(); ++launches) {
    gpu.launch(sum, stream, 0, kLength);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  gpu.launch(sum, captured, 0, kLength);
  const int ended = call("cuStreamEndCapture", captured, &graph);
  std::size_t count = 1;
  void* node = nullptr;
  cu("cuGraphGetNodes", graph, &node, &count);
  struct {
    void* function;
    unsigned sizes[7];
    void **parameters, **extra;
    void *kernel, *context;
  } node_parameters{};
  cu("cuGraphKernelNodeGetParams_v2", node, static_cast<void*>(&node_parameters));
  cu("cuGraphInstantiateWithFlags", &executable, graph, 0ULL);
  cu("cuGraphLaunch", executable, stream);
  cu("cuStreamSynchronize", stream);
  std::printf("{\"launches\": %u, \"ended\": %d, \"own\": %d, \"right\": %d}\n", launches, ended,
              node_parameters.function == sum ? 1 : 0, gpu.is_right(3, kLength) ? 1 : 0);
}

}  // namespace

void gated(const char* length, const char* kind) {
  if (std::strcmp(kind, "threads") == 0) return gated_threads(length);
  if (std::strcmp(kind, "contexts") == 0) return gated_contexts(length);
  if (std::strcmp(kind, "capture") == 0) return gated_capture(length);
  Kernels gpu(kind);
  void* const sum = gpu.function("sum");
  void* const scaled = gpu.function("scaled");
  void* const spins = gpu.function("spins");
  void* const straight = gpu.function("straight");
  void* stream = nullptr;
  cu("cuStreamCreate", &stream, 1U);
  unsigned launches = 0, right = 0;
  constexpr unsigned kLargeShared = 60 * 1024;  // more than every kernel may have
  const int refused = call("cuLaunchKernel", scaled, 1U, 1U, 1U, kThreads, 1U, 1U, kLargeShared, stream,
                           static_cast<void**>(nullptr), static_cast<void**>(nullptr));
  if (std::strcmp(kind, "library") != 0) cu("cuFuncSetAttribute", scaled, 8, static_cast<int>(kLargeShared));
  for (Rounds rounds(length); rounds.next(); launches += 2) {
    const std::uint32_t factor = launches % 7 + 1;
    cu("cuMemcpyHtoD_v2", gpu.factor, static_cast<const void*>(&factor), std::size_t{4});
    gpu.launch(sum, stream, 0, kLength);
    cu("cuStreamSynchronize", stream);
    right += gpu.is_right(factor, kLength) ? 1 : 0;
    gpu.launch(scaled, stream, std::strcmp(kind, "library") == 0 ? kThreads * 4 : kLargeShared, kLength);
    cu("cuStreamSynchronize", stream);
    right += gpu.is_right(3, kLength) ? 1 : 0;
    gpu.launch(spins, stream, 0, 1);
    gpu.launch(straight, stream, 0, 1);
    cu("cuStreamSynchronize", stream);
  }
  const int empty_grid = call("cuLaunchKernel", sum, 0U, 1U, 1U, kThreads, 1U, 1U, 0U, stream,
                              static_cast<void**>(nullptr), static_cast<void**>(nullptr));
  const int large_block = call("cuLaunchKernel", sum, 1U, 1U, 1U, 2048U, 1U, 1U, 0U, stream,
                               static_cast<void**>(nullptr), static_cast<void**>(nullptr));
  const int tall_grid = gpu.try_launch_tall(sum, stream);
  std::uint32_t blocks = 0;
  cu("cuMemcpyDtoH_v2", static_cast<void*>(&blocks), gpu.blocks, std::size_t{4});
  unsigned functions = 0;
  cu("cuModuleGetFunctionCount", &functions, gpu.module);
  if (gpu.library != nullptr) {
    cu("cuLibraryUnload", gpu.library);
  } else {
    cu("cuModuleUnload", gpu.module);
  }
  std::printf(
      "{\"launches\": %u, \"right\": %u, \"blocks\": %u, \"expected_blocks\": %u, \"functions\": %u, "
      "\"refused\": %d, \"empty_grid\": %d, \"large_block\": %d, \"tall_grid\": %d}\n",
      launches, right, blocks, launches / 2 * kBlocks, functions, refused, empty_grid, large_block, tall_grid);
}

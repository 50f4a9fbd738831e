// A CUDA program for a GPU that programs share: it launches a kernel again and again, checks its results, and prints
// the simulated time that its launches took.
//
//   shared_cuda_program compute|stream|print|poll|fault|streams|sleep|register|connect|fork|values|endless|heap
//   [LAUNCHES [BLOCKS]]
//
// `poll` asks whether the launches are done instead of waiting; `fault` writes outside of its memory; `print` prints
// from a kernel; `streams` launches on two streams; `sleep` launches and then sleeps; `register` lets kernels
// work on memory of the program; `connect` ends at once; `fork` leaves a child that lives as long as the daemon does;
// the kernel of `endless` does not end; `values` waits for each launch while a second thread allocates memory and a
// stream waits for a value; a thread of each block of `heap` allocates 20 MB of a heap of 64 MB.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "driver_calls.h"

namespace {

using wm::driver_calls::call;
using wm::driver_calls::cu;
using wm::driver_calls::library;

constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.global .align 4 .u32 increment = 1;
.visible .entry compute(.param .u64 data)
{
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<4>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
mul.wide.u32 %d1, %r4, 4; ld.param.u64 %d2, [data]; add.s64 %d2, %d2, %d1; ld.global.u32 %r5, [%d2];
mov.u32 %r6, 0;
again: mad.lo.s32 %r5, %r5, 3, 1; mad.lo.s32 %r5, %r5, 5, 7; add.u32 %r6, %r6, 1;
setp.lt.u32 %p1, %r6, 64; @%p1 bra again;
st.global.u32 [%d2], %r5; ret;
}
.visible .entry stream(.param .u64 data)
{
.reg .b32 %r<8>; .reg .b64 %d<4>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
mul.wide.u32 %d1, %r4, 4; ld.param.u64 %d2, [data]; add.s64 %d2, %d2, %d1; ld.global.u32 %r5, [%d2];
mov.u64 %d3, increment; ld.global.u32 %r6, [%d3]; add.u32 %r5, %r5, %r6; st.global.u32 [%d2], %r5; ret;
}
.visible .entry endless(.param .u64 data)
{
.reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %d<2>;
ld.param.u64 %d1, [data];
again: ld.volatile.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
ret;
}
.visible .entry print(.param .u64 data)
{
.reg .b32 %r<2>; .reg .b64 %d<4>;
mov.u64 %d1, text; cvta.global.u64 %d1, %d1; mov.u64 %d2, 0;
{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [v], %d2;
call.uni (r), vprintf, (f, v); }
ret;
})";

constexpr const char* kHeapPtx = R"(.version 7.5
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry heap(.param .u64 data)
{
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<6>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
mul.wide.u32 %d1, %r4, 4; ld.param.u64 %d2, [data]; add.s64 %d2, %d2, %d1; ld.global.u32 %r5, [%d2];
mov.u64 %d3, 20000000; setp.ne.u32 %p1, %r3, 0; @%p1 bra add;
{ .param .b64 n; .param .b64 r; st.param.b64 [n], %d3; call.uni (r), malloc, (n); ld.param.b64 %d4, [r]; }
setp.eq.u64 %p1, %d4, 0; @%p1 ret;
add.s64 %d5, %d4, 19999996; st.u32 [%d5], %r5; ld.u32 %r5, [%d5];
{ .param .b64 p; st.param.b64 [p], %d4; call.uni free, (p); }
add: add.u32 %r5, %r5, 1; st.global.u32 [%d2], %r5; ret;
})";

// The child of a program that ends before it.
void outlive_the_daemon() {
  constexpr int kTenthsOfASecond = 900;
  const char* socket = std::getenv("WARPMUX_SERVED");
  for (int i = 0; i < kTenthsOfASecond && socket != nullptr && ::access(socket, F_OK) == 0; ++i) ::usleep(100'000);
}

unsigned computed(unsigned value) {
  for (int i = 0; i < 64; ++i) value = (value * 3 + 1) * 5 + 7;
  return value;
}

}  // namespace

int main(int count, char** words) {
  const std::string kind = count > 1 ? words[1] : "stream";
  const int launches = count > 2 ? std::atoi(words[2]) : 4;
  const unsigned blocks = count > 3 ? static_cast<unsigned>(std::atoi(words[3])) : 32;
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return 2;
  void *context = nullptr, *module = nullptr, *function = nullptr, *start = nullptr, *end = nullptr, *other = nullptr;
  cu("cuInit", 0U);
  cu("cuCtxCreate_v2", &context, 0U, 0);
  if (kind == "connect") return 0;
  if (kind == "fork" && ::fork() == 0) {
    outlive_the_daemon();
    std::_Exit(0);
  }
  constexpr int kMallocHeapSize = 2;
  if (kind == "heap") cu("cuCtxSetLimit", kMallocHeapSize, std::size_t{64} << 20);
  cu("cuModuleLoadData", &module, static_cast<const void*>(kind == "heap" ? kHeapPtx : kPtx));
  const bool computes = kind == "compute";
  cu("cuModuleGetFunction", &function, module,
     computes                                                 ? "compute"
     : kind == "print" || kind == "endless" || kind == "heap" ? kind.c_str()
                                                              : "stream");
  cu("cuEventCreate", &start, 0U);
  cu("cuEventCreate", &end, 0U);
  cu("cuStreamCreate", &other, 1U);
  const std::size_t n = std::size_t{blocks} * 128;
  std::vector<unsigned> values(n, 5);
  unsigned long long data = 0, own = 0;
  cu("cuMemAlloc_v2", &data, n * 4);
  cu("cuMemAlloc_v2", &own, n * 4);
  cu("cuMemcpyHtoD_v2", data, static_cast<const void*>(values.data()), n * 4);
  cu("cuMemsetD32_v2", own, 1U, n);
  if (kind == "register") {
    cu("cuMemHostRegister_v2", static_cast<void*>(values.data()), n * 4, 0U);
    cu("cuMemHostGetDevicePointer_v2", &data, static_cast<void*>(values.data()), 0U);
  }
  if (kind == "fault") data = 0x7e0000000000;
  void *parameters[] = {&data}, *own_parameters[] = {&own};
  const auto launch = [&](void* stream, void** arguments) {
    cu("cuLaunchKernel", function, blocks, 1U, 1U, 128U, 1U, 1U, 0U, stream, arguments, static_cast<void**>(nullptr));
  };
  void* none = nullptr;
  std::thread allocating;
  std::atomic<bool> is_done{false};
  if (kind == "values") {
    cu("cuMemsetD32_v2", own, 0U, n);
    cu("cuStreamWaitValue32_v2", other, own, 1U, 1U);
    allocating = std::thread([&] {
      cu("cuCtxSetCurrent", context);
      while (!is_done) {
        unsigned long long memory = 0;
        cu("cuMemAlloc_v2", &memory, std::size_t{64});
      }
    });
  }
  cu("cuEventRecord", start, none);
  for (int i = 0; i < launches; ++i) {
    launch(none, parameters);
    if (kind == "values") cu("cuStreamSynchronize", none);
    if (kind == "streams") launch(other, own_parameters);
  }
  cu("cuEventRecord", end, none);
  if (allocating.joinable()) {
    is_done = true;
    allocating.join();
    cu("cuStreamWriteValue32_v2", none, own, 1U, 0U);
  }
  if (kind == "sleep") ::sleep(60);
  unsigned long questions = 0;
  while (kind == "poll" && call("cuEventQuery", end) == 600) ++questions;
  const int waited = call("cuCtxSynchronize");
  if (kind == "fault") {
    std::printf("fault: %d\n", waited);
    return waited == 700 ? 0 : 1;
  }
  float milliseconds = 0;
  cu("cuEventElapsedTime", &milliseconds, start, end);
  if (kind == "register")
    cu("cuMemHostUnregister", static_cast<void*>(values.data()));
  else
    cu("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), data, n * 4);
  unsigned expected = 5;
  for (int i = 0; i < launches && kind != "print"; ++i) expected = computes ? computed(expected) : expected + 1;
  for (const unsigned v : values) {
    if (v == expected) continue;
    std::printf("%s: %u instead of %u\n", kind.c_str(), v, expected);
    return 1;
  }
  if (kind == "streams") {
    cu("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), own, n * 4);
    for (const unsigned v : values) {
      if (v != 1U + static_cast<unsigned>(launches)) return 1;
    }
  }
  std::printf("%s: correct, %.3f us%s\n", kind.c_str(), static_cast<double>(milliseconds) * 1e3,
              kind == "poll" && questions == 0 ? ", never asked" : "");
  return 0;
}

#include "placement.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "driver_calls.h"
#include "rounds.h"

namespace {

using wm::driver_calls::call;
using wm::driver_calls::cu;

// where: out[block] = 1 + the block's SM. add: *word = *word * 3 + 1. wait_for: waits until the flag is set.
constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry where(.param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %d<3>;
mov.u32 %r1, %smid; add.u32 %r1, %r1, 1; mov.u32 %r2, %ctaid.x; mul.wide.u32 %d1, %r2, 4;
ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r1; ret;
}
.visible .entry add(.param .u64 word)
{
.reg .b32 %r<2>; .reg .b64 %d<2>;
ld.param.u64 %d1, [word]; ld.global.u32 %r1, [%d1]; mad.lo.u32 %r1, %r1, 3, 1; st.global.u32 [%d1], %r1; ret;
}
.visible .entry wait_for(.param .u64 flag)
{
.reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %d<2>;
ld.param.u64 %d1, [flag];
again: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;
ret;
})";

constexpr unsigned kBlocks = 264;
constexpr int kNotReady = 600;

struct Kernels {
  void *context = nullptr, *module = nullptr, *where = nullptr, *add = nullptr, *wait_for = nullptr;
  unsigned long long memory = 0;

  explicit Kernels(bool is_primary = true) {
    cu("cuInit", 0U);
    if (is_primary) {
      cu("cuDevicePrimaryCtxRetain", &context, 0);
      cu("cuCtxSetCurrent", context);
    } else {
      cu("cuCtxCreate_v2", &context, 0U, 0);
    }
    cu("cuModuleLoadData", &module, static_cast<const void*>(kPtx));
    cu("cuModuleGetFunction", &where, module, "where");
    cu("cuModuleGetFunction", &add, module, "add");
    cu("cuModuleGetFunction", &wait_for, module, "wait_for");
    cu("cuMemAlloc_v2", &memory, std::size_t{kBlocks * 4});
    cu("cuMemsetD32_v2", memory, 0U, std::size_t{kBlocks});
  }
};

void launch(void* function, unsigned blocks, unsigned long long address, void* stream,
            const char* name = "cuLaunchKernel") {
  void* parameters[] = {&address};
  cu(name, function, blocks, 1U, 1U, 1U, 1U, 1U, 0U, stream, static_cast<void**>(parameters),
     static_cast<void**>(nullptr));
}

// The part of an SM's memory that the kernel wants as shared memory, in percent; -1: as the driver likes.
int carveout(void* function) {
  int value = 0;
  cu("cuFuncGetAttribute", &value, 9, function);
  return value;
}

void launch_captured(const Kernels& kernels, void* stream) {
  void *graph = nullptr, *executable = nullptr;
  cu("cuStreamBeginCapture_v2", stream, 2);
  launch(kernels.where, kBlocks, kernels.memory, stream);
  cu("cuStreamEndCapture", stream, &graph);
  cu("cuGraphInstantiateWithFlags", &executable, graph, 0ULL);
  cu("cuGraphLaunch", executable, stream);
}

// A launch in `busy` that waits for the word at `flag`; whether the stream, an event behind the launch and the context
// say that it is not done, and whether they say that it is, once the flag is set.
bool tells_that_it_is_busy(const Kernels& kernels, void* busy, void* other, unsigned long long flag) {
  void* event = nullptr;
  cu("cuEventCreate", &event, 2U);
  launch(kernels.wait_for, 1, flag, busy);
  cu("cuEventRecord", event, busy);
  const bool waits = call("cuStreamQuery", busy) == kNotReady && call("cuEventQuery", event) == kNotReady;
  cu("cuStreamWriteValue32", other, flag, 1U, 0U);
  cu("cuEventSynchronize", event);
  const bool is_done = call("cuEventQuery", event) == 0;
  cu("cuCtxSynchronize");
  cu("cuStreamWriteValue32", other, flag, 0U, 0U);
  cu("cuStreamSynchronize", other);
  cu("cuEventDestroy_v2", event);
  return waits && is_done && call("cuStreamQuery", busy) == 0;
}

// A stream in a green context of the program's own, whose launches the daemon does not place.
void* stream_of_own_green_context() {
  unsigned char all[256] = {}, group[256] = {}, rest[256] = {};
  void *description = nullptr, *green = nullptr, *stream = nullptr;
  unsigned count = 1;
  cu("cuDeviceGetDevResource", 0, static_cast<void*>(all), 1U);
  cu("cuDevSmResourceSplitByCount", static_cast<void*>(group), &count, static_cast<const void*>(all),
     static_cast<void*>(rest), 0U, 8U);
  cu("cuDevResourceGenerateDesc", &description, static_cast<void*>(group), 1U);
  cu("cuGreenCtxCreate", &green, description, 0, 1U);
  cu("cuGreenCtxStreamCreate", &stream, green, 1U, 0);
  return stream;
}

int distinct(const std::vector<unsigned>& sms) {
  return static_cast<int>(std::set<unsigned>(sms.begin(), sms.end()).size());
}

}  // namespace

void where(const char* kind, const char* length) {
  const bool is_thread = std::strcmp(kind, "thread") == 0;
  const Kernels kernels(std::strcmp(kind, "context") != 0);
  void* stream = nullptr;
  if (std::strcmp(kind, "null") != 0 && !is_thread) cu("cuStreamCreate", &stream, 1U);
  const char* name = is_thread ? "cuLaunchKernel_ptsz" : "cuLaunchKernel";
  void* const unplaced = std::strcmp(kind, "green") == 0 ? stream_of_own_green_context() : nullptr;
  int unplaced_carveout = -1;
  std::vector<unsigned> seen(kBlocks);
  for (Rounds rounds(length); rounds.next();) {
    if (unplaced != nullptr) {
      launch(kernels.where, kBlocks, kernels.memory, unplaced);
      cu("cuStreamSynchronize", unplaced);
      unplaced_carveout = carveout(kernels.where);
    }
    launch(kernels.where, kBlocks, kernels.memory, stream, name);
    cu(is_thread ? "cuStreamSynchronize_ptsz" : "cuStreamSynchronize", stream);
    cu("cuMemcpyDtoH_v2", static_cast<void*>(seen.data()), kernels.memory, seen.size() * 4);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (std::strcmp(kind, "captured") == 0) {
    launch_captured(kernels, stream);
    cu("cuStreamSynchronize", stream);
    cu("cuMemcpyDtoH_v2", static_cast<void*>(seen.data()), kernels.memory, seen.size() * 4);
  }
  const auto [first, last] = std::minmax_element(seen.begin(), seen.end());
  std::printf("{\"sms\": %d, \"first\": %d, \"last\": %d, \"carveout\": %d, \"unplaced_carveout\": %d}\n",
              distinct(seen), static_cast<int>(*first) - 1, static_cast<int>(*last) - 1, carveout(kernels.where),
              unplaced_carveout);
}

void ordered(const char* length) {
  const Kernels kernels;
  const unsigned long long word = kernels.memory, copy = word + 4, flag = word + 8;
  void *ahead = nullptr, *behind = nullptr;
  cu("cuStreamCreate", &ahead, 1U);
  int right = 0, told = 0, i = 0;
  for (Rounds rounds(length); rounds.next(); ++i) {
    void *blocking = nullptr, *event = nullptr;
    cu("cuStreamCreate", &behind, 1U);
    cu("cuStreamCreate", &blocking, 0U);
    cu("cuEventCreate", &event, 2U);
    cu("cuMemsetD32Async", word, 1U, std::size_t{1}, ahead);
    launch(kernels.add, 1, word, ahead);  // 4
    cu("cuMemcpyDtoDAsync_v2", copy, word, std::size_t{4}, ahead);
    launch(kernels.add, 1, copy, ahead);  // 13
    cu("cuEventRecord", event, ahead);
    cu("cuStreamWaitEvent", behind, event, 0U);
    launch(kernels.add, 1, copy, behind);  // 40
    launch(kernels.add, 1, copy, behind);  // 121
    cu("cuStreamDestroy_v2", behind);      // with work in it
    cu("cuCtxSynchronize");
    launch(kernels.add, 1, copy, nullptr);   // 364
    launch(kernels.add, 1, copy, blocking);  // 1093: a blocking stream waits for the NULL stream
    launch(kernels.add, 1, copy, nullptr);   // 3280: and the NULL stream for it
    unsigned value = 0;
    cu("cuMemcpyDtoH_v2", static_cast<void*>(&value), copy, std::size_t{4});
    right += value == 3280 ? 1 : 0;
    void* other = nullptr;
    cu("cuStreamCreate", &other, 1U);
    told += tells_that_it_is_busy(kernels, i % 2 == 0 ? ahead : nullptr, other, flag) ? 1 : 0;
    cu("cuStreamDestroy_v2", other);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    cu("cuEventDestroy_v2", event);
    cu("cuStreamDestroy_v2", blocking);
  }
  std::printf("{\"rounds\": %d, \"right\": %d, \"told\": %d}\n", i, right, told);
}

// Any sequence of calls of the CUDA driver API, with handles and addresses that are right, stale or wrong: each returns
// a result, and the device is usable afterwards.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/client/cuda/interface/functions.h"

namespace {

constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.global .align 4 .u32 word = 3;
.visible .entry store(.param .u64 out, .param .u32 value)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.s64 %d2, %d2, %d1;
ld.param.u32 %r2, [value]; st.global.u32 [%d2], %r2; ret;
})";

// Numbers from the input; 0 after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool more() const { return at_ < size_; }
  std::uint8_t byte() { return more() ? data_[at_++] : std::uint8_t{0}; }
  std::size_t size() { return std::size_t{byte()} << (byte() % 6); }
  // One of the handles made so far, perhaps destroyed meanwhile; or none.
  template <typename Handle>
  Handle of(const std::vector<Handle>& handles) {
    const std::uint8_t choice = byte();
    if (handles.empty() || choice % 8 == 7) return Handle{};
    return handles[choice % handles.size()];
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

struct Objects {
  std::vector<CUcontext> contexts;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUgraph> graphs;
  std::vector<CUgraphExec> executables;
  std::vector<CUdeviceptr> memory;
  std::vector<char> host = std::vector<char>(1U << 14);
};

template <typename Handle>
void keep(CUresult result, std::vector<Handle>& handles, Handle made) {
  if (result == CUDA_SUCCESS && handles.size() < 64) handles.push_back(made);
}

void memory_call(Input& in, Objects& o) {
  CUdeviceptr address = 0;
  void* host = nullptr;
  std::size_t bytes = 0, total = 0;
  switch (in.byte() % 10) {
    case 0:
      return keep(cuMemAlloc_v2(&address, in.size()), o.memory, address);
    case 1:
      return keep(cuMemAllocManaged(&address, in.size(), 1), o.memory, address);
    case 2:
      if (cuMemHostAlloc(&host, in.size(), 0) == CUDA_SUCCESS) o.memory.push_back(reinterpret_cast<CUdeviceptr>(host));
      return;
    case 3:
      (void)cuMemFree_v2(in.of(o.memory));
      return;
    case 4:
      (void)cuMemFreeHost(reinterpret_cast<void*>(in.of(o.memory)));
      return;
    case 5:
      (void)cuMemcpyHtoD_v2(in.of(o.memory) + in.byte(), o.host.data(), in.size());
      return;
    case 6:
      (void)cuMemcpyDtoD_v2(in.of(o.memory) + in.byte(), in.of(o.memory), in.size());
      return;
    case 7:
      (void)cuMemsetD32Async(in.of(o.memory), in.byte(), in.size(), in.of(o.streams));
      return;
    case 8:
      return keep(cuMemAllocAsync(&address, in.size(), in.of(o.streams)), o.memory, address);
    default:
      (void)cuMemGetAddressRange_v2(&address, &bytes, in.of(o.memory));
      (void)cuMemGetInfo_v2(&bytes, &total);
  }
}

void launch(Input& in, Objects& o) {
  CUdeviceptr out = in.of(o.memory);
  std::uint32_t value = in.byte();
  void* parameters[] = {&out, &value};
  (void)cuLaunchKernel(in.of(o.functions), in.byte() % 4, 1, 1, in.byte(), 1, 1, in.byte() % 2 * 512, in.of(o.streams),
                       parameters, nullptr);
}

void object_call(Input& in, Objects& o) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUcontext context = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  float milliseconds = 0;
  switch (in.byte() % 18) {
    case 0:
      return keep(cuStreamCreate(&stream, in.byte() % 3), o.streams, stream);
    case 1:
      (void)cuStreamDestroy_v2(in.of(o.streams));
      return;
    case 2:
      return keep(cuEventCreate(&event, in.byte() % 9), o.events, event);
    case 3:
      (void)cuEventDestroy_v2(in.of(o.events));
      return;
    case 4:
      (void)cuEventRecord(in.of(o.events), in.of(o.streams));
      return;
    case 5:
      (void)cuStreamWaitEvent(in.of(o.streams), in.of(o.events), 0);
      return;
    case 6:
      (void)cuEventElapsedTime(&milliseconds, in.of(o.events), in.of(o.events));
      return;
    case 7:
      return keep(cuModuleLoadData(&module, kPtx), o.modules, module);
    case 8:
      return keep(cuModuleGetFunction(&function, in.of(o.modules), "store"), o.functions, function);
    case 9:
      (void)cuCtxSynchronize();
      (void)cuModuleUnload(in.of(o.modules));
      return;
    case 10:
      return keep(cuCtxCreate_v2(&context, 0, 0), o.contexts, context);
    case 11:
      (void)cuCtxSetCurrent(in.of(o.contexts));
      return;
    case 12:
      (void)cuCtxDestroy_v2(in.of(o.contexts));
      return;
    case 13:
      (void)cuStreamBeginCapture_v2(in.of(o.streams), in.byte() % 3);
      return;
    case 14:
      return keep(cuStreamEndCapture(in.of(o.streams), &graph), o.graphs, graph);
    case 15:
      return keep(cuGraphInstantiateWithFlags(&executable, in.of(o.graphs), 0), o.executables, executable);
    case 16:
      (void)cuGraphLaunch(in.of(o.executables), in.of(o.streams));
      return;
    default:
      (void)cuGraphDestroy(in.of(o.graphs));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("WARPMUX_SIMULATE", "qos16", 1);
  ::setenv("WARPMUX_SIMULATED_MEMORY", "64 MB", 1);
  ::setenv("WARPMUX_THREADS", "1", 1);
  return cuInit(0) == CUDA_SUCCESS ? 0 : 1;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  Objects objects;
  CUcontext first = nullptr;
  if (cuCtxCreate_v2(&first, 0, 0) != CUDA_SUCCESS) __builtin_trap();
  objects.contexts.push_back(first);
  while (in.more()) {
    const std::uint8_t kind = in.byte() % 4;
    if (kind == 0) memory_call(in, objects);
    if (kind == 1) launch(in, objects);
    if (kind > 1) object_call(in, objects);
  }
  for (CUcontext context : objects.contexts) (void)cuCtxDestroy_v2(context);
  CUcontext current = nullptr;
  while (cuCtxPopCurrent_v2(&current) == CUDA_SUCCESS && current != nullptr) continue;
  return 0;
}

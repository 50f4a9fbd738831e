// Any sequence of calls of the CUDA driver API, with handles and addresses that are right, stale or wrong: each returns
// a result, and the device is usable afterwards.
#include <cstdlib>

#include "fuzz/cuda_capture_calls.h"
#include "fuzz/cuda_graph_calls.h"
#include "fuzz/cuda_objects.h"

namespace {

using wm::fuzz::Input;
using wm::fuzz::keep;
using wm::fuzz::Objects;

constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.global .align 4 .u32 word = 3;
.visible .entry store(.param .u64 out, .param .u32 value)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.s64 %d2, %d2, %d1;
ld.param.u32 %r2, [value]; st.global.u32 [%d2], %r2; ret;
}
.global .texref image;
.visible .entry fetch(.param .u64 handle, .param .u32 value)
{
.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<8>; .reg .pred %p;
mov.u32 %r1, %tid.x; ld.param.u64 %d1, [handle]; ld.param.u32 %r2, [value]; cvt.rn.f32.u32 %f1, %r2;
cvt.rn.f32.u32 %f2, %r1; setp.lt.u32 %p, %r2, 128; @%p bra references;
tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];
tex.level.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}], %f2; txq.width.b32 %r3, [%d1]; ret;
references: tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [image, {%f1, %f2}]; ret;
}
.visible .entry draw(.param .u64 handle, .param .u32 value)
{
.reg .b32 %r<8>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; ld.param.u64 %d1, [handle]; ld.param.u32 %r2, [value];
suld.b.2d.b32.clamp %r3, [%d1, {%r2, %r1}]; sust.b.2d.v2.b32.zero [%d1, {%r2, %r1}], {%r1, %r3};
sured.b.add.2d.u32.trap [%d1, {%r2, %r1}], %r1; ret;
})";

constexpr const char* kKernels[] = {"store", "fetch", "draw"};

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

CUDA_ARRAY3D_DESCRIPTOR descriptor(Input& in) {
  constexpr CUarray_format kFormats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_FLOAT,
                                         CU_AD_FORMAT_HALF, CU_AD_FORMAT_UNSIGNED_INT32};
  return {
      std::size_t{in.byte()}, std::size_t{in.byte()} % 64,          std::size_t{in.byte()} % 4, kFormats[in.byte() % 5],
      in.byte() % 5U,         static_cast<unsigned>(in.byte() % 16)};
}

CUDA_RESOURCE_DESC resource(Input& in, const Objects& o) {
  CUDA_RESOURCE_DESC r{};
  r.resType = static_cast<CUresourcetype>(in.byte() % 5);
  const CUDA_ARRAY3D_DESCRIPTOR d = descriptor(in);
  if (r.resType == CU_RESOURCE_TYPE_ARRAY) r.res.array.hArray = in.of(o.arrays);
  if (r.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) r.res.mipmap.hMipmappedArray = in.of(o.mipmapped);
  if (r.resType == CU_RESOURCE_TYPE_LINEAR) r.res.linear = {in.of(o.memory), d.Format, d.NumChannels, in.size()};
  if (r.resType == CU_RESOURCE_TYPE_PITCH2D)
    r.res.pitch2D = {in.of(o.memory), d.Format, d.NumChannels, d.Width, d.Height, in.size()};
  return r;
}

CUDA_TEXTURE_DESC sampling(Input& in) {
  CUDA_TEXTURE_DESC t{};
  for (auto& mode : t.addressMode) mode = static_cast<CUaddress_mode>(in.byte() % 5);
  t.filterMode = static_cast<CUfilter_mode>(in.byte() % 2);
  t.mipmapFilterMode = static_cast<CUfilter_mode>(in.byte() % 2);
  t.flags = in.byte() % 4;
  t.maxMipmapLevelClamp = in.byte();
  t.mipmapLevelBias = static_cast<float>(in.byte()) - 99;
  return t;
}

void texture_call(Input& in, Objects& o) {
  CUarray array = nullptr;
  CUmipmappedArray mipmapped = nullptr;
  CUtexref reference = nullptr;
  CUtexObject object = 0;
  const CUDA_ARRAY3D_DESCRIPTOR d = descriptor(in);
  CUDA_MEMCPY3D copy{};
  switch (in.byte() % 12) {
    case 0:
      return keep(cuArray3DCreate_v2(&array, &d), o.arrays, array);
    case 1:
      (void)cuArrayDestroy(in.of(o.arrays));
      return;
    case 2:
      return keep(cuMipmappedArrayCreate(&mipmapped, &d, in.byte() % 9), o.mipmapped, mipmapped);
    case 3:
      (void)cuMipmappedArrayDestroy(in.of(o.mipmapped));
      return;
    case 4:
      return keep(cuMipmappedArrayGetLevel(&array, in.of(o.mipmapped), in.byte() % 9), o.arrays, array);
    case 5: {
      const CUDA_RESOURCE_DESC r = resource(in, o);
      const CUDA_TEXTURE_DESC t = sampling(in);
      return keep(cuTexObjectCreate(&object, &r, &t, nullptr), o.memory, CUdeviceptr{object});
    }
    case 6: {
      const CUDA_RESOURCE_DESC r = resource(in, o);
      return keep(cuSurfObjectCreate(&object, &r), o.memory, CUdeviceptr{object});
    }
    case 7:
      (void)cuTexObjectDestroy(in.of(o.memory));
      (void)cuSurfObjectDestroy(in.of(o.memory));
      return;
    case 8:
      return keep(cuModuleGetTexRef(&reference, in.of(o.modules), "image"), o.references, reference);
    case 9:
      (void)cuTexRefSetArray(in.of(o.references), in.of(o.arrays), 1);
      (void)cuTexRefSetFlags(in.of(o.references), in.byte());
      return;
    case 10:
      (void)cuTexRefSetAddress_v2(nullptr, in.of(o.references), in.of(o.memory), in.size());
      (void)cuMemcpyHtoA_v2(in.of(o.arrays), in.byte(), o.host.data(), in.byte());
      return;
    default:
      copy.srcMemoryType = CU_MEMORYTYPE_HOST;
      copy.srcHost = o.host.data();
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.dstArray = in.of(o.arrays);
      copy.dstXInBytes = in.byte() % 8;
      copy.WidthInBytes = in.byte();
      copy.Height = in.byte() % 32;
      copy.Depth = in.byte() % 2;
      (void)cuMemcpy3D_v2(&copy);
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
      return keep(cuModuleGetFunction(&function, in.of(o.modules), kKernels[in.byte() % 3]), o.functions, function);
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

// One object of each kind, for inputs too short to make what they use.
void make_objects(Objects& o) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUgraph graph = nullptr;
  CUdeviceptr address = 0;
  keep(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), o.streams, stream);
  keep(cuEventCreate(&event, 0), o.events, event);
  keep(cuModuleLoadData(&module, kPtx), o.modules, module);
  keep(cuModuleGetFunction(&function, module, kKernels[0]), o.functions, function);
  keep(cuGraphCreate(&graph, 0), o.graphs, graph);
  keep(cuMemAlloc_v2(&address, 4096), o.memory, address);
}

// Ends what no context owns, so that inputs do not depend on each other.
void release(const Objects& o) {
  CUmemoryPool pool = nullptr;
  int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  (void)cuThreadExchangeStreamCaptureMode(&mode);
  (void)cuDeviceGetDefaultMemPool(&pool, 0);
  (void)cuDeviceSetMemPool(0, pool);
  for (CUgraphExec executable : o.executables) (void)cuGraphExecDestroy(executable);
  for (CUgraph graph : o.graphs) (void)cuGraphDestroy(graph);
  for (CUmemoryPool made : o.pools) (void)cuMemPoolDestroy(made);
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
  if (in.byte() % 4 != 0) make_objects(objects);
  while (in.more()) {
    const std::uint8_t kind = in.byte() % 10;
    if (kind == 0) memory_call(in, objects);
    if (kind == 1) launch(in, objects);
    if (kind == 2) texture_call(in, objects);
    if (kind == 3 || kind == 4) object_call(in, objects);
    if (kind == 5 || kind == 6) wm::fuzz::add_node(in, objects);
    if (kind == 7) wm::fuzz::graph_call(in, objects);
    if (kind == 8) wm::fuzz::executable_call(in, objects);
    if (kind == 9) in.byte() % 2 == 0 ? wm::fuzz::capture_call(in, objects) : wm::fuzz::pool_call(in, objects);
  }
  release(objects);
  for (CUcontext context : objects.contexts) (void)cuCtxDestroy_v2(context);
  CUcontext current = nullptr;
  while (cuCtxPopCurrent_v2(&current) == CUDA_SUCCESS && current != nullptr) continue;
  return 0;
}

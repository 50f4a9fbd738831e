// Calls of the CUDA driver API on captures and memory pools, chosen by the input.
#pragma once

#include "fuzz/cuda_graph_calls.h"

namespace wm::fuzz {

inline void capture_call(Input& in, Objects& o) {
  const CUstream stream = in.of(o.streams);
  CUgraph graph = nullptr;
  int status = 0, mode = in.byte() % 4;
  std::uint64_t id = 0;
  const CUgraphNode* dependencies = nullptr;
  std::size_t count = 0;
  Nodes nodes(in, o);
  switch (in.byte() % 9) {
    case 0:
      (void)cuStreamBeginCapture_v2(stream, mode);
      return;
    case 1:
      (void)cuStreamBeginCaptureToGraph(stream, in.of(o.graphs), nodes.at.data(), nullptr, nodes.count, mode);
      return;
    case 2:
      return keep(cuStreamEndCapture(stream, &graph), o.graphs, graph);
    case 3:
      if (cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &dependencies, &count) != CUDA_SUCCESS) return;
      for (std::size_t i = 0; i < count && status == CU_STREAM_CAPTURE_STATUS_ACTIVE; ++i)
        keep(CUDA_SUCCESS, o.nodes, dependencies[i]);
      if (graph != nullptr) keep(CUDA_SUCCESS, o.graphs, graph);
      return;
    case 4:
      (void)cuStreamUpdateCaptureDependencies(stream, nodes.at.data(), nodes.count, in.byte() % 3);
      return;
    case 5:
      (void)cuThreadExchangeStreamCaptureMode(&mode);
      return;
    case 6:
      (void)cuLaunchHostFunc(stream, host_function, o.host.data());
      return;
    case 7:
      (void)cuEventRecordWithFlags(in.of(o.events), stream, in.byte() % 2);
      return;
    default:
      (void)cuMemcpyHtoDAsync_v2(in.of(o.memory), o.host.data(), in.size(), stream);
  }
}

inline void pool_call(Input& in, Objects& o) {
  CUmemoryPool pool = nullptr;
  CUdeviceptr address = 0;
  std::uint64_t value = in.byte();
  CUmemPoolProps properties{};
  switch (in.byte() % 7) {
    case 0:
      properties.allocType = 1;
      properties.location.type = 1;
      properties.maxSize = in.size();
      return keep(cuMemPoolCreate(&pool, &properties), o.pools, pool);
    case 1:
      (void)cuMemPoolDestroy(in.of(o.pools));
      return;
    case 2:
      return keep(cuMemAllocFromPoolAsync(&address, in.size(), in.of(o.pools), in.of(o.streams)), o.memory, address);
    case 3:
      (void)cuMemFreeAsync(in.of(o.memory), in.of(o.streams));
      return;
    case 4:
      (void)cuMemPoolTrimTo(in.of(o.pools), in.size());
      return;
    case 5:
      (void)cuMemPoolSetAttribute(in.of(o.pools), in.byte() % 10, &value);
      (void)cuMemPoolGetAttribute(in.of(o.pools), in.byte() % 10, &value);
      return;
    default:
      (void)cuDeviceSetMemPool(0, in.of(o.pools));
      (void)cuDeviceGetMemPool(&pool, 0);
  }
}

}  // namespace wm::fuzz

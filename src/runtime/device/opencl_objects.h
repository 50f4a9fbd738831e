// The OpenCL objects behind the handles of backend.h. Only the OpenCL backend includes this.
#pragma once

#include "runtime/device/backend.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime {

template <typename Base, typename Object>
struct OpenClObject : Base {
  using Release = cl_int (*)(Object);
  OpenClObject(Object made, Release by) : native(made), release(by) {}
  ~OpenClObject() override { release(native); }
  Object native;
  Release release;
};
using OpenClQueue = OpenClObject<QueueObject, cl_command_queue>;
using OpenClSampler = OpenClObject<SamplerObject, cl_sampler>;
using OpenClProgram = OpenClObject<ProgramObject, cl_program>;
struct OpenClKernel final : OpenClObject<KernelObject, cl_kernel> {
  OpenClKernel(cl_kernel made, Release by, std::string called) : OpenClObject(made, by), name(std::move(called)) {}
  std::string name;
};
struct OpenClMemory final : OpenClObject<MemoryObject, cl_mem> {
  OpenClMemory(cl_mem made, Release by, MemoryHandle of = nullptr, std::byte* at = nullptr)
      : OpenClObject(made, by), parent(std::move(of)), address(at) {}
  MemoryHandle parent;  // the buffer that it is a part of, or shows as an image
  std::byte* address;   // the place of a buffer that the daemon stored in host memory; null: not known
};

inline cl_command_queue native(const QueueObject& queue) { return static_cast<const OpenClQueue&>(queue).native; }
inline cl_sampler native(const SamplerObject& sampler) { return static_cast<const OpenClSampler&>(sampler).native; }
inline cl_program native(const ProgramObject& program) { return static_cast<const OpenClProgram&>(program).native; }
inline cl_kernel native(const KernelObject& kernel) { return static_cast<const OpenClKernel&>(kernel).native; }
inline cl_mem native(const MemoryObject& memory) { return static_cast<const OpenClMemory&>(memory).native; }
inline cl_event native(EventHandle event) { return reinterpret_cast<cl_event>(event); }
inline cl_event* native(EventHandle* event) { return reinterpret_cast<cl_event*>(event); }
inline const MemoryHandle& parent(const MemoryObject& memory) {
  return static_cast<const OpenClMemory&>(memory).parent;
}

}  // namespace wm::runtime

// The objects of the CUDA backend.
#pragma once

#include <string>
#include <vector>

#include "rewrite/ptx/opencl_adapter.h"
#include "runtime/device/backend.h"
#include "runtime/device/cuda/device.h"

namespace wm::runtime::cuda {

// A client's queue: one stream for each priority that its launches have had. A launch of another priority than the one
// before waits for it by an event.
struct CudaQueue final : QueueObject {
  CudaQueue(Device& of, bool with_times) : device(of), timed(with_times) {}
  ~CudaQueue() override;

  // The stream for work of that priority, behind everything that is on the queue. Null: the driver makes none.
  Stream stream_for(int priority) const;
  // The stream that was used last.
  Stream current() const;

  Device& device;
  const bool timed;

 private:
  struct Level {
    int priority;
    Stream stream;
  };
  mutable std::vector<Level> levels_;
  mutable std::size_t current_ = 0;
  mutable Event switched_ = nullptr;
};

struct CudaImage;

struct CudaMemory : MemoryObject {
  enum class Owner { self, other };
  CudaMemory(Device& of, Address at, std::size_t size, Owner by = Owner::self)
      : device(of), address(at), bytes(size), owner(by) {}
  ~CudaMemory() override {
    if (owner == Owner::self && !parent) device.wipe_and_free(address, bytes);
  }
  // Null: it is a buffer.
  [[nodiscard]] virtual const CudaImage* image() const { return nullptr; }
  Device& device;
  Address address;
  std::size_t bytes;
  const Owner owner;
  MemoryHandle parent;  // the buffer that it is a part of
};

// Host memory that is registered with the driver.
struct CudaPinned final : MemoryObject {
  CudaPinned(Device& of, std::span<std::byte> range) : device(of), bytes(range) {}
  ~CudaPinned() override {
    device.make_current();
    device.cuda.unregister_host(bytes.data());
  }
  Device& device;
  std::span<std::byte> bytes;
};

// A kernel as workers, or why it has none.
struct WorkerKernel {
  std::string kernel;
  std::string refusal;
  std::uint32_t chunk = 1;
};

// A loaded module, which holds each kernel as it was compiled, with gates, and as workers.
struct LoadedModule {
  explicit LoadedModule(Device& of) : device(of) {}
  ~LoadedModule() {
    if (module == nullptr) return;
    device.make_current();
    device.cuda.unload_module(module);
  }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  Device& device;
  Module module = nullptr;
  std::vector<rewrite::AdaptedKernel> kernels;
  std::vector<rewrite::RefusedKernel> refused;
  std::vector<std::string> gated;  // kernels that have a form with gates
  std::vector<WorkerKernel> workers;
};

struct CudaProgram final : ProgramObject {
  ProgramHandle compiled;  // the compiler's own
  std::shared_ptr<LoadedModule> loaded;
  std::string load_log;  // why there is none, or which kernels it lacks; a part of the build log
};

struct CudaKernel final : KernelObject {
  KernelHandle compiled;  // the compiler's own, for queries
  std::shared_ptr<LoadedModule> loaded;
  rewrite::AdaptedKernel layout;
  Function function = nullptr;
  Function gated = nullptr;    // null: it has no loops
  Function workers = nullptr;  // null: it was refused
  int static_shared = 0, max_threads = 0, registers = 0;
  // Whether each form has been told how to divide an SM's memory.
  mutable bool is_divided = false, gated_is_divided = false;
};

inline const CudaQueue& of(const QueueObject& queue) { return static_cast<const CudaQueue&>(queue); }
inline const CudaMemory& of(const MemoryObject& memory) { return static_cast<const CudaMemory&>(memory); }
inline const CudaProgram& of(const ProgramObject& program) { return static_cast<const CudaProgram&>(program); }
inline const CudaKernel& of(const KernelObject& kernel) { return static_cast<const CudaKernel&>(kernel); }

}  // namespace wm::runtime::cuda

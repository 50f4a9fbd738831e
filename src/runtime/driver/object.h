// OpenCL's objects as this driver has them: what an application holds pointers to.
//
// Each begins with the dispatch table, as the ICD loader wants. Counts and everything whose answer is known live here;
// the daemon knows an object by its name. An object keeps those it was made from.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/driver/link.h"

namespace wm::runtime::driver {

const cl_icd_dispatch* dispatch_table();

// `What` is the object's mark: a pointer to something else is recognised by it.
template <std::uint32_t What>
struct Object {
  static constexpr std::uint32_t kMark = 0x776d0000 + What;
  const cl_icd_dispatch* dispatch = dispatch_table();
  std::atomic<std::uint32_t> mark{kMark};
  std::atomic<std::uint32_t> references{1};
};

template <typename T>
[[nodiscard]] bool valid(const T* object) {
  return object != nullptr && object->mark.load(std::memory_order_relaxed) == T::kMark;
}

// A count on an object, for as long as this lives. The object's own `release` takes it back.
template <typename T>
class Held {
 public:
  Held() = default;
  explicit Held(T* object) : object_(object) {
    if (object_ != nullptr) object_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Held(const Held& other) : Held(other.object_) {}
  Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Held& operator=(Held other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held() {
    if (object_ != nullptr) release(object_);
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// Gives one count back; the last one ends the object.
template <typename T>
void release(T* object) {
  if (object->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  object->mark.store(0, std::memory_order_relaxed);
  delete object;
}

// One count a time, as clRetainX and clReleaseX do it.
template <typename T>
cl_int retain_checked(T* object, cl_int otherwise) {
  if (!valid(object)) return otherwise;
  object->references.fetch_add(1, std::memory_order_relaxed);
  return CL_SUCCESS;
}
template <typename T>
cl_int release_checked(T* object, cl_int otherwise) {
  if (!valid(object)) return otherwise;
  release(object);
  return CL_SUCCESS;
}

struct Freed {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

// What an application sets for the end of an object, called latest first.
template <typename T>
using Farewells = std::vector<std::pair<void(CL_CALLBACK*)(T, void*), void*>>;

// The argument of a kernel, as it was last set.
struct SetArgument {
  bool set = false;
  Argument head;
  std::vector<std::byte> bytes;
};

// What is known about a kernel's parameter. Sizes that the device has accepted need not be asked for again.
struct Parameter {
  enum class Kind { unknown, value, memory, image, sampler, local } kind = Kind::unknown;
  std::size_t accepted = 0;  // the size of a value the device took; 0: none yet
};

}  // namespace wm::runtime::driver

struct _cl_platform_id : wm::runtime::driver::Object<1> {};

struct _cl_device_id : wm::runtime::driver::Object<2> {};

struct _cl_context : wm::runtime::driver::Object<3> {
  ~_cl_context();
  std::vector<cl_context_properties> properties;
  wm::runtime::driver::Farewells<cl_context> farewells;
  std::mutex mutex;
};

struct _cl_command_queue : wm::runtime::driver::Object<4> {
  ~_cl_command_queue();
  wm::runtime::driver::Held<_cl_context> context;
  std::uint64_t name = 0;
  std::atomic<cl_command_queue_properties> properties{0};
  std::vector<cl_queue_properties> given;  // as clCreateCommandQueueWithProperties was given them
  std::atomic<std::uint64_t> posted{0};    // commands so far
  std::atomic<std::uint64_t> ended{0};     // of an ordered queue: that many are known to have ended

  // Threads that meet in a queue order their commands as they come: what one knows of it may be old.
  std::atomic<std::thread::id> user{};
  std::atomic<bool> several_users{false};
  void use() {
    std::thread::id nobody{};
    const std::thread::id self = std::this_thread::get_id();
    if (!user.compare_exchange_strong(nobody, self) && nobody != self) several_users.store(true);
  }
  [[nodiscard]] bool in_order() const { return (properties.load() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
};

// Where a mapped region is, and how it was mapped.
struct MappedRegion {
  std::size_t origin[3] = {};
  std::size_t region[3] = {};
  std::size_t row_pitch = 0, slice_pitch = 0;
  cl_map_flags flags = 0;
};

struct _cl_mem : wm::runtime::driver::Object<5> {
  ~_cl_mem();
  wm::runtime::driver::Held<_cl_context> context;
  std::uint64_t name = 0;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_mem_flags flags = 0;
  std::size_t size = 0;
  void* host = nullptr;                       // of CL_MEM_USE_HOST_PTR
  wm::runtime::Mapping place;                 // where the buffer itself lies, where it is shared with the daemon
  wm::runtime::driver::Held<_cl_mem> parent;  // of a sub-buffer, or the buffer below an image
  std::size_t offset = 0;                     // in the parent
  std::vector<cl_mem_properties> properties;
  cl_image_format format{};
  cl_image_desc image{};
  std::size_t element = 0;                                        // bytes of an image's element
  std::size_t row = 0, slice = 0;                                 // an image's pitches in host memory
  std::mutex mutex;                                               // what follows
  std::unique_ptr<std::byte, wm::runtime::driver::Freed> shadow;  // what maps show where there is no host pointer
  std::multimap<void*, MappedRegion> maps;
  wm::runtime::driver::Farewells<cl_mem> farewells;

  [[nodiscard]] bool is_image() const { return type != CL_MEM_OBJECT_BUFFER; }
  // Bytes of it that are there: some drivers make sub-buffers that go on beyond their parents.
  [[nodiscard]] std::size_t backed() const {
    return parent && !is_image() ? std::min(size, parent->backed() - offset) : size;
  }
  // The buffer's own bytes in this process; null where it has none here.
  [[nodiscard]] std::byte* in_place() const;
  // Where mapped bytes of it lie in this process; a sub-buffer's are its parent's.
  std::byte* mapped_base();
};

struct _cl_sampler : wm::runtime::driver::Object<6> {
  ~_cl_sampler();
  wm::runtime::driver::Held<_cl_context> context;
  std::uint64_t name = 0;
  cl_bool normalized = CL_FALSE;
  cl_addressing_mode addressing = 0;
  cl_filter_mode filter = 0;
  std::vector<cl_sampler_properties> properties;
};

struct _cl_program : wm::runtime::driver::Object<7> {
  ~_cl_program();
  wm::runtime::driver::Held<_cl_context> context;
  std::uint64_t name = 0;
  std::string source;
  bool from_source = false;
  std::string options;  // as they were given when it was last built
  bool linked = false;
  std::atomic<std::uint32_t> kernels{0};  // alive
};

struct _cl_kernel : wm::runtime::driver::Object<8> {
  ~_cl_kernel();
  wm::runtime::driver::Held<_cl_program> program;
  std::uint64_t name = 0;
  std::string function;
  std::vector<wm::runtime::driver::Parameter> parameters;
  std::size_t most_items = 0;          // CL_KERNEL_WORK_GROUP_SIZE
  std::size_t compiled_local[3] = {};  // reqd_work_group_size, or zeros
  bool prints = false;
  std::mutex mutex;
  std::vector<wm::runtime::driver::SetArgument> arguments;
};

struct _cl_event : wm::runtime::driver::Object<9> {
  ~_cl_event();
  wm::runtime::driver::Held<_cl_context> context;
  wm::runtime::driver::Held<_cl_command_queue> queue;  // none: a user's
  cl_command_type type = 0;
  std::uint32_t slot = wm::runtime::kNoSlot;
  std::atomic<bool> user_set{false};
};

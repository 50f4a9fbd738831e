// The parts that all OpenCL objects of the client share: the dispatch table of the ICD loader, a tag that identifies
// the type, and the reference count.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace wm::runtime::client {

const cl_icd_dispatch* dispatch_table();

// The ICD loader requires the dispatch table first. `TypeTag` differs for each type of object, so that a pointer to
// something else is recognised as invalid.
template <std::uint32_t TypeTag>
struct Object {
  static constexpr std::uint32_t kTag = 0x776d0000 + TypeTag;
  const cl_icd_dispatch* dispatch = dispatch_table();
  std::atomic<std::uint32_t> tag{kTag};
  std::atomic<std::uint32_t> references{1};
};

template <typename T>
[[nodiscard]] bool valid(const T* object) {
  return object != nullptr && object->tag.load(std::memory_order_relaxed) == T::kTag;
}

// Drops one reference; the last one deletes the object.
template <typename T>
void release(T* object) {
  if (object->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  object->tag.store(0, std::memory_order_relaxed);
  delete object;
}

// Holds a reference to an object for its own lifetime.
template <typename T>
class Retained {
 public:
  Retained() = default;
  explicit Retained(T* object) : object_(object) {
    if (object_ != nullptr) object_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Retained(const Retained& other) : Retained(other.object_) {}
  Retained(Retained&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Retained& operator=(Retained other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Retained() {
    if (object_ != nullptr) release(object_);
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// clRetainX and clReleaseX; `invalid` is the error for a pointer that is not such an object.
template <typename T>
cl_int retain_checked(T* object, cl_int invalid) {
  if (!valid(object)) return invalid;
  object->references.fetch_add(1, std::memory_order_relaxed);
  return CL_SUCCESS;
}
template <typename T>
cl_int release_checked(T* object, cl_int invalid) {
  if (!valid(object)) return invalid;
  release(object);
  return CL_SUCCESS;
}

// The destructor callbacks of a context or memory object, called in reverse order.
template <typename T>
using DestructorCallbacks = std::vector<std::pair<void(CL_CALLBACK*)(T, void*), void*>>;

}  // namespace wm::runtime::client

#include "runtime/device/deferred_release.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace wm::runtime {

DeferredRelease::DeferredRelease(const Native& native, std::function<bool()> at_rest)
    : native_(native), at_rest_(std::move(at_rest)) {
  if (native.in_host_memory()) return;
  queue_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
  thread_ = std::thread([this] { run(); });
}

DeferredRelease::~DeferredRelease() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  there_.notify_all();
  if (thread_.joinable()) thread_.join();
  now();
  if (queue_ != nullptr) native_.cl.ReleaseCommandQueue(queue_);
}

void DeferredRelease::release(cl_mem memory, std::uint64_t bytes, std::function<void()> gone) {
  Thing thing{memory, bytes, std::move(gone)};
  if (native_.in_host_memory()) return give_back(thing);
  {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    things_.push_back(std::move(thing));
  }
  there_.notify_one();
}

void DeferredRelease::give_back(const Thing& thing) {
  if (queue_ != nullptr && thing.bytes != 0) wipe(thing.memory);
  native_.cl.ReleaseMemObject(thing.memory);
  thing.gone();
}

void DeferredRelease::wipe(cl_mem memory) {
  const NativeCalls& cl = native_.cl;
  static constexpr std::array<std::byte, 16> kNothing{};
  std::size_t bytes = 0;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl.GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  cl.GetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (type == CL_MEM_OBJECT_BUFFER) {
    const std::size_t pattern = bytes % kNothing.size() == 0 ? kNothing.size() : 1;
    cl.EnqueueFillBuffer(queue_, memory, kNothing.data(), pattern, 0, bytes, 0, nullptr, nullptr);
  } else {
    const auto fact = [&](cl_image_info name) {
      std::size_t value = 0;
      cl.GetImageInfo(memory, name, sizeof value, &value, nullptr);
      return std::max<std::size_t>(value, 1);
    };
    const bool row_of_rows = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const std::size_t layers = fact(CL_IMAGE_ARRAY_SIZE), origin[3] = {0, 0, 0};
    const std::size_t region[3] = {fact(CL_IMAGE_WIDTH), row_of_rows ? layers : fact(CL_IMAGE_HEIGHT),
                                   row_of_rows ? 1 : std::max(fact(CL_IMAGE_DEPTH), layers)};
    cl.EnqueueFillImage(queue_, memory, kNothing.data(), origin, region, 0, nullptr, nullptr);
  }
  cl.Finish(queue_);
}

void DeferredRelease::now() {
  std::vector<Thing> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(things_);
  }
  for (const Thing& thing : all) {
    give_back(thing);
    bytes_ -= thing.bytes;
  }
}

// One at a time: what comes to the device meanwhile waits for one release at most.
void DeferredRelease::run() {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(1);
  for (std::unique_lock lock(mutex_); !stop_;) {
    if (things_.empty()) {
      there_.wait(lock, [this] { return stop_ || !things_.empty(); });
    } else if (!at_rest_()) {
      there_.wait_for(lock, kBetweenLooks, [this] { return stop_; });
    } else {
      const Thing thing = std::move(things_.back());
      things_.pop_back();
      lock.unlock();
      give_back(thing);
      bytes_ -= thing.bytes;
      lock.lock();
    }
  }
}

}  // namespace wm::runtime

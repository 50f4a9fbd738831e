#include "runtime/device/cuda/device.h"

#include <array>
#include <fmt/format.h>

namespace wm::runtime::cuda {
namespace {

constexpr unsigned kNonBlockingStream = 1;
constexpr int kReleaseThreshold = 4;  // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD

}  // namespace

Status status_of(Code code) {
  switch (code) {
    case kSuccess:
      return status::kSuccess;
    case kInvalidValue:
      return status::kInvalidValue;
    case kOutOfMemory:
      return status::kMemoryAllocationFailure;
    default:
      return status::kOutOfResources;
  }
}

Result<std::unique_ptr<Device>> Device::open(const DriverCalls& calls) {
  std::unique_ptr<Device> device(new Device(calls));
  if (const Code code = calls.init(0); code != kSuccess) {
    return Error{fmt::format("the CUDA driver does not start: error {}", code)};
  }
  int count = 0;
  if (calls.device_count(&count) != kSuccess || count == 0) return Error{"the CUDA driver has no device"};
  if (calls.device_get(&device->device_, 0) != kSuccess) return Error{"the CUDA driver does not open its device"};
  if (const Code code = calls.retain_context(&device->context_, device->device_); code != kSuccess) {
    return Error{fmt::format("the device gives no context: CUDA error {}", code)};
  }
  device->make_current();
  if (auto facts = device->read_facts(); !facts) return facts.error();
  if (auto memory = device->prepare_memory(); !memory) return memory.error();
  return device;
}

// The context stays: drivers have threads that do not survive its end while the process runs.
Device::~Device() {
  make_current();
  destroy_unused_arrays();
  if (memory_stream_ != nullptr) cuda.destroy_stream(memory_stream_);
}

void Device::make_current() const {
  thread_local Context current = nullptr;
  if (current == context_) return;
  if (cuda.set_context(context_) == kSuccess) current = context_;
}

Result<void> Device::read_facts() {
  std::array<char, 128> name{};
  cuda.device_name(name.data(), static_cast<int>(name.size()) - 1, device_);
  facts_.name = name.data();
  cuda.driver_version(&facts_.driver_version);
  std::size_t bytes = 0;
  cuda.device_memory(&bytes, device_);
  facts_.memory_bytes = bytes;
  const auto read = [this](int& value, int what) {
    int answer = 0;
    if (cuda.device_attribute(&answer, what, device_) == kSuccess && answer > 0) value = answer;
  };
  read(facts_.multiprocessors, attribute::kMultiprocessors);
  read(facts_.threads_per_multiprocessor, attribute::kThreadsPerMultiprocessor);
  read(facts_.blocks_per_multiprocessor, attribute::kBlocksPerMultiprocessor);
  read(facts_.shared_per_multiprocessor, attribute::kSharedPerMultiprocessor);
  read(facts_.registers_per_multiprocessor, attribute::kRegistersPerMultiprocessor);
  read(facts_.shared_per_block, attribute::kSharedPerBlock);
  read(facts_.shared_per_block_optin, attribute::kSharedPerBlockOptin);
  read(facts_.reserved_shared_per_block, attribute::kReservedSharedPerBlock);
  read(facts_.max_threads_per_block, attribute::kMaxThreadsPerBlock);
  read(facts_.compute_major, attribute::kComputeMajor);
  read(facts_.compute_minor, attribute::kComputeMinor);
  read(facts_.clock_kilohertz, attribute::kClockKilohertz);
  if (facts_.compute_major < 7) return Error{"the CUDA backend needs compute capability 7.0 or later"};
  cuda.priority_range(&facts_.least_priority, &facts_.greatest_priority);
  return {};
}

// Freed memory stays in the driver's pool, so that a release never waits for kernels.
Result<void> Device::prepare_memory() {
  if (cuda.create_stream(&memory_stream_, kNonBlockingStream, facts_.least_priority) != kSuccess) {
    return Error{"the CUDA driver makes no stream"};
  }
  Pool pool = nullptr;
  if (cuda.default_pool(&pool, device_) == kSuccess) {
    std::uint64_t keep = ~std::uint64_t{0};
    cuda.set_pool_attribute(pool, kReleaseThreshold, &keep);
  }
  return {};
}

Code Device::allocate(Address& address, std::size_t bytes) {
  make_current();
  const std::lock_guard lock(memory_mutex_);
  Code code = with_unused_memory([&] { return cuda.allocate(&address, bytes, memory_stream_); });
  if (code != kSuccess) return code;
  // Other streams may use the memory once the allocation is complete on its own stream, which runs nothing else.
  code = cuda.synchronize_stream(memory_stream_);
  if (code != kSuccess) {
    cuda.free(address, memory_stream_);
    address = 0;
  }
  return code;
}

void Device::free(Address address) {
  if (address == 0) return;
  make_current();
  const std::lock_guard lock(memory_mutex_);
  cuda.free(address, memory_stream_);
}

void Device::wipe_and_free(Address address, std::size_t bytes) {
  if (address == 0) return;
  make_current();
  const std::lock_guard lock(memory_mutex_);
  if (bytes != 0) cuda.fill_8(address, 0, bytes, memory_stream_);
  cuda.free(address, memory_stream_);
}

Code Device::take_array(const ArrayDescription& description, Array& array) {
  make_current();
  {
    const std::lock_guard lock(arrays_mutex_);
    const auto unused = unused_arrays_.find(description);
    if (unused != unused_arrays_.end()) {
      array = unused->second;
      unused_arrays_.erase(unused);
      return kSuccess;
    }
  }
  return with_unused_memory([&] { return cuda.create_array(&array, &description); });
}

void Device::give_back_array(const ArrayDescription& description, Array array) {
  const std::lock_guard lock(arrays_mutex_);
  unused_arrays_.emplace(description, array);
}

bool Device::destroy_unused_arrays() {
  const std::lock_guard lock(arrays_mutex_);
  const bool any = !unused_arrays_.empty();
  for (const auto& [description, array] : unused_arrays_) cuda.destroy_array(array);
  unused_arrays_.clear();
  return any;
}

Code Device::allocate_words(Address& address, std::size_t bytes) {
  make_current();
  const std::lock_guard lock(memory_mutex_);
  Code code = with_unused_memory([&] { return cuda.allocate_words(&address, bytes); });
  if (code != kSuccess) return code;
  code = cuda.fill_32(address, 0, bytes / sizeof(std::uint32_t), memory_stream_);
  if (code == kSuccess) code = cuda.write_value(memory_stream_, address, 0, 0);
  if (code == kSuccess) code = cuda.synchronize_stream(memory_stream_);
  if (code != kSuccess) {
    cuda.free_words(address);
    address = 0;
  }
  return code;
}

void Device::free_words(Address address) {
  if (address == 0) return;
  make_current();
  cuda.free_words(address);
}

}  // namespace wm::runtime::cuda

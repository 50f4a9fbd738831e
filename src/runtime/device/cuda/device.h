// One NVIDIA GPU in one context of the CUDA driver.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "runtime/device/cuda/driver_api.h"
#include "runtime/protocol/status.h"

namespace wm::runtime::cuda {

// The facts that launches, limits and answers to clients need.
struct DeviceFacts {
  std::string name;
  int driver_version = 0;  // 13000: 13.0
  std::uint64_t memory_bytes = 0;
  int multiprocessors = 1, threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
  int shared_per_multiprocessor = 0, registers_per_multiprocessor = 65'536;
  int shared_per_block = 48 << 10, shared_per_block_optin = 48 << 10, reserved_shared_per_block = 0;
  int max_threads_per_block = 1024, compute_major = 0, compute_minor = 0, clock_kilohertz = 0;
  int least_priority = 0, greatest_priority = 0;  // streams have smaller numbers for greater priorities
};

class Device {
 public:
  static Result<std::unique_ptr<Device>> open(const DriverCalls& calls);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DriverCalls& cuda;
  [[nodiscard]] const DeviceFacts& facts() const { return facts_; }
  // The calling thread uses this device from now on. Every call into the driver needs that.
  void make_current() const;

  // Memory of the device. Allocating and freeing wait for no kernel.
  [[nodiscard]] Code allocate(Address& address, std::size_t bytes);
  void free(Address address);
  // The same, and nobody sees the contents again. Waits for no kernel either.
  void wipe_and_free(Address address, std::size_t bytes);
  // Arrays for images. The driver waits for kernels when it destroys one, so that they are kept for the next image of
  // the same description until memory is short. `array` may have contents of an earlier image.
  [[nodiscard]] Code take_array(const ArrayDescription& description, Array& array);
  void give_back_array(const ArrayDescription& description, Array array);
  // Calls the driver, and once more where memory was short and unused arrays had some.
  template <typename Call>
  Code with_unused_memory(Call call) {
    const Code code = call();
    return code == kOutOfMemory && destroy_unused_arrays() ? call() : code;
  }
  // For work that belongs to no queue.
  [[nodiscard]] Stream memory_stream() const { return memory_stream_; }
  // Zeroed memory for words that streams write (write_value), outside of the pool. An error: the driver gives none, or
  // its streams cannot write it. `free_words` may wait for kernels.
  [[nodiscard]] Code allocate_words(Address& address, std::size_t bytes);
  void free_words(Address address);

 private:
  explicit Device(const DriverCalls& calls) : cuda(calls_), calls_(calls) {}
  Result<void> read_facts();
  Result<void> prepare_memory();
  // Returns whether there were any.
  bool destroy_unused_arrays();

  const DriverCalls calls_;
  int device_ = 0;
  Context context_ = nullptr;
  DeviceFacts facts_;
  std::mutex memory_mutex_;
  Stream memory_stream_ = nullptr;  // allocations and releases are in its order
  std::mutex arrays_mutex_;
  std::multimap<ArrayDescription, Array> unused_arrays_;
};

// The status that a client sees for an error of the driver.
[[nodiscard]] Status status_of(Code code);

}  // namespace wm::runtime::cuda

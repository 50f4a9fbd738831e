// Words of pinned host memory that streams write when a command has completed, so that a completion is seen without a
// call of the driver: queries of events take the driver's lock, for which launches then wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/device/cuda/device.h"
#include "runtime/device/cuda/host_memory.h"

namespace wm::runtime::cuda {

class CompletionWords {
 public:
  CompletionWords(Device& device, HostMemory& host);
  ~CompletionWords();
  CompletionWords(const CompletionWords&) = delete;
  CompletionWords& operator=(const CompletionWords&) = delete;

  // A word and the number that is written to it, which it did not have before. No word: the driver writes none, or all
  // are in use.
  struct Ticket {
    std::atomic<std::uint32_t>* word = nullptr;
    std::uint32_t number = 0;
    [[nodiscard]] bool is_written() const { return word->load(std::memory_order_acquire) == number; }
  };
  // The stream writes the word after what it has now.
  [[nodiscard]] Ticket write_after(Stream stream);
  void give_back(const Ticket& ticket);

 private:
  Device& device_;
  HostMemory& host_;
  const std::span<std::byte> memory_;
  std::mutex mutex_;
  std::vector<std::atomic<std::uint32_t>*> free_;
  std::uint32_t last_number_ = 0;
};

}  // namespace wm::runtime::cuda

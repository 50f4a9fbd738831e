#include "runtime/device/cuda/completion_words.h"

#include <new>

namespace wm::runtime::cuda {
namespace {

constexpr std::size_t kCompletionWords = 4096;

}  // namespace

CompletionWords::CompletionWords(Device& device, HostMemory& host)
    : device_(device), host_(host), memory_(host.take(kCompletionWords * sizeof(std::uint32_t))) {
  if (memory_.empty()) return;
  for (std::size_t i = kCompletionWords; i-- != 0;) {
    free_.push_back(new (memory_.data() + i * sizeof(std::uint32_t)) std::atomic<std::uint32_t>(0));
  }
}

CompletionWords::~CompletionWords() {
  if (!memory_.empty()) host_.give_back(memory_);
}

CompletionWords::Ticket CompletionWords::write_after(Stream stream) {
  Ticket ticket;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    if (++last_number_ == 0) ++last_number_;  // a word has 0 before it is first written
    ticket = {free_.back(), last_number_};
    free_.pop_back();
  }
  // With unified addressing, pinned memory has the same address on the device.
  if (device_.cuda.write_value(stream, reinterpret_cast<Address>(ticket.word), ticket.number, 0) == kSuccess) {
    return ticket;
  }
  give_back(ticket);
  return {};
}

void CompletionWords::give_back(const Ticket& ticket) {
  if (ticket.word == nullptr) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(ticket.word);
}

}  // namespace wm::runtime::cuda

// Replies in flight to an SM, returned in order of arrival.
//
// They are added in any order between quanta; within a quantum none is added.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cycle/memory/message.h"

namespace wm::sim {

class ReplyQueue {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  void add(const Message& reply) {
    replies_.push_back(reply);
    sorted_ = false;
  }
  // Sorts the added replies; called before a quantum.
  void sort();
  // When the next reply arrives, as of the last sort().
  [[nodiscard]] std::uint64_t next_arrival() const { return head_ < replies_.size() ? replies_[head_].time : kNever; }
  // The next reply; there must be one. It stays in place until the next sort().
  const Message& take() { return replies_[head_++]; }

 private:
  std::vector<Message> replies_;
  std::size_t head_ = 0;  // those before it were taken
  bool sorted_ = true;
};

}  // namespace wm::sim

#include "sim/cycle/sm/reply_queue.h"

#include <algorithm>

namespace wm::sim {

void ReplyQueue::sort() {
  if (sorted_) return;
  sorted_ = true;
  replies_.erase(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(head_));
  head_ = 0;
  std::sort(replies_.begin(), replies_.end(), [](const Message& a, const Message& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.line != b.line ? a.line < b.line : a.token < b.token;
  });
}

}  // namespace wm::sim

#include "sim/cycle/noc/exchange.h"

#include <utility>

namespace wm::sim {

Exchange::Exchange(std::uint32_t senders, std::uint32_t receivers) : sent_(senders), senders_of_(receivers) {
  for (Sent& sent : sent_) {
    sent.begin.resize(receivers + 1);
    sent.first.resize(receivers);
  }
}

// A counting sort: `begin` first counts, then is where the next message of each receiver goes, which is in the end
// where those of the receiver after it begin.
void Exchange::sort_by_receiver(Sent& sent, const std::vector<Message>& messages) const {
  sent.is_new = true;
  std::fill(sent.begin.begin(), sent.begin.end(), 0);
  std::fill(sent.first.begin(), sent.first.end(), ~std::uint64_t{0});
  for (const std::uint32_t r : sent.receivers) ++sent.begin[r];
  std::uint32_t before = 0;
  for (std::uint32_t& begin : sent.begin) begin = std::exchange(before, before + begin);
  sent.messages.resize(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::uint32_t r = sent.receivers[i];
    sent.messages[sent.begin[r]++] = messages[i];
    sent.first[r] = std::min(sent.first[r], messages[i].time);
  }
  std::copy_backward(sent.begin.begin(), sent.begin.end() - 1, sent.begin.end());
  sent.begin.front() = 0;
}

void Exchange::update_first() {
  for (Sent& sent : sent_) {
    if (!sent.is_new) continue;
    for (std::uint32_t r = 0; r < senders_of_.size(); ++r) {
      sent.first[r] = ~std::uint64_t{0};
      for (std::uint32_t i = sent.begin[r]; i < sent.begin[r + 1]; ++i)
        sent.first[r] = std::min(sent.first[r], sent.messages[i].time);
    }
  }
}

}  // namespace wm::sim

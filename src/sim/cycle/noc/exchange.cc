#include "sim/cycle/noc/exchange.h"

#include <utility>

namespace wm::sim {

Exchange::Exchange(std::uint32_t senders, std::uint32_t receivers)
    : sent_(senders), lines_of_header_((1 + receivers) / CacheLine{}.words.size() + 1), senders_of_(receivers) {
  headers_.resize(senders * lines_of_header_);
  for (Sent& sent : sent_) sent.begin.resize(receivers + 1);
}

// A counting sort: `begin` first counts, then is where the next message of each receiver goes, which is in the end
// where those of the receiver after it begin.
void Exchange::sort_by_receiver(Sent& sent, const std::vector<Message>& messages) {
  std::fill(sent.begin.begin(), sent.begin.end(), 0);
  for (const std::uint32_t r : sent.receivers) ++sent.begin[r];
  std::uint32_t before = 0;
  for (std::uint32_t& begin : sent.begin) begin = std::exchange(before, before + begin);
  sent.messages.resize(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) sent.messages[sent.begin[sent.receivers[i]]++] = messages[i];
  std::copy_backward(sent.begin.begin(), sent.begin.end() - 1, sent.begin.end());
  sent.begin.front() = 0;
}

void Exchange::note_first(std::uint32_t sender) {
  const Sent& sent = sent_[sender];
  std::uint64_t* const header = this->header(sender);
  *header = phase_;
  for (std::uint32_t r = 0; r < senders_of_.size(); ++r) {
    std::uint64_t first = kNone;
    for (std::uint32_t i = sent.begin[r]; i < sent.begin[r + 1]; ++i) first = std::min(first, sent.messages[i].time);
    header[1 + r] = first;
  }
}

void Exchange::update_first() {
  for (std::uint32_t s = 0; s < sent_.size(); ++s)
    if (has_sent(s)) note_first(s);
}

}  // namespace wm::sim

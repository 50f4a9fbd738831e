#include "sim/cycle/noc/exchange.h"

#include <utility>

namespace wm::sim {

Exchange::Exchange(std::uint32_t senders, std::uint32_t receivers)
    : sent_(senders), receivers_(senders), senders_of_(receivers) {
  const std::size_t words = 1 + receivers + (receivers + 2) / 2;  // a header has so many
  lines_of_header_ = (words + CacheLine{}.words.size() - 1) / CacheLine{}.words.size();
  headers_.resize(senders * lines_of_header_);
}

// A counting sort: `begin` first counts, then is where the next message of each receiver goes, which is in the end
// where those of the receiver after it begin.
void Exchange::sort_by_receiver(std::uint32_t sender, const std::vector<Message>& messages) {
  const std::span<std::uint32_t> begins{begin_of(sender), senders_of_.size() + 1};
  const std::vector<std::uint32_t>& receivers = receivers_[sender].of_message;
  std::vector<Message>& sorted = sent_[sender].messages;
  std::fill(begins.begin(), begins.end(), 0);
  for (const std::uint32_t r : receivers) ++begins[r];
  std::uint32_t before = 0;
  for (std::uint32_t& begin : begins) begin = std::exchange(before, before + begin);
  if (sorted.size() < messages.size()) sorted.resize(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) sorted[begins[receivers[i]]++] = messages[i];
  std::copy_backward(begins.begin(), begins.end() - 1, begins.end());
  begins.front() = 0;
}

void Exchange::note_first(std::uint32_t sender) {
  std::uint64_t* const header = this->header(sender);
  *header = phase_;
  for (std::uint32_t r = 0; r < senders_of_.size(); ++r) {
    std::uint64_t first = kNone;
    for (const Message& m : messages(sender, r)) first = std::min(first, m.time);
    header[1 + r] = first;
  }
}

void Exchange::update_first() {
  for (std::uint32_t s = 0; s < sent_.size(); ++s)
    if (has_sent(s)) note_first(s);
}

}  // namespace wm::sim

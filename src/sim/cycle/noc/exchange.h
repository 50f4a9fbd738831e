// Messages on their way from the units that run in one phase of a quantum to those that run in the next.
//
// Senders send their messages in parallel, each once in a phase at most. `close` then tells receivers when the first
// ones arrive, and receivers take theirs in parallel, before anything is sent again: sender by sender, the messages of
// each in the order in which it sent them. So messages go from one unit's thread to another's at once, and their order
// depends on no thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/cycle/memory/message.h"

namespace wm::sim {

class Exchange {
 public:
  Exchange(std::uint32_t senders, std::uint32_t receivers);

  // receiver_of(message) is the receiver's number.
  template <typename ReceiverOf>
  void send(std::uint32_t sender, const std::vector<Message>& messages, ReceiverOf receiver_of) {
    if (messages.empty()) return;
    std::vector<std::uint32_t>& receivers = receivers_[sender].of_message;
    receivers.clear();
    for (const Message& m : messages) receivers.push_back(receiver_of(m));
    sort_by_receiver(sender, messages);
    note_first(sender);
  }

  // Calls change(message, receiver) for all messages since `close`; update_first() must follow.
  template <typename Change>
  void visit(Change change) {
    for (std::uint32_t s = 0; s < sent_.size(); ++s) {
      if (!has_sent(s)) continue;
      for (std::uint32_t r = 0; r < senders_of_.size(); ++r)
        for (Message& m : messages(s, r)) change(m, r);
    }
  }
  void update_first();

  // Calls expect(receiver, time) with the arrival of the first message of each sender.
  template <typename Expect>
  void close(Expect expect) {
    for (std::uint32_t s = 0; s < sent_.size(); ++s) {
      if (!has_sent(s)) continue;
      const std::uint64_t* first = header(s) + 1;
      for (std::uint32_t r = 0; r < senders_of_.size(); ++r) {
        if (first[r] == kNone) continue;
        senders_of_[r].push_back(s);
        expect(r, first[r]);
      }
    }
    ++phase_;
  }
  [[nodiscard]] bool waits_for(std::uint32_t receiver) const { return !senders_of_[receiver].empty(); }

  // Calls receive(message) for the messages to the receiver, and removes them.
  template <typename Receive>
  void take(std::uint32_t receiver, Receive receive) {
    // Another thread has just written most of these lines: they are on their way together instead of one by one.
    for (const std::uint32_t s : senders_of_[receiver]) __builtin_prefetch(begin_of(s) + receiver);
    for (const std::uint32_t s : senders_of_[receiver]) prefetch(messages(s, receiver));
    for (const std::uint32_t s : senders_of_[receiver])
      for (const Message& m : messages(s, receiver)) receive(m);
    senders_of_[receiver].clear();
  }

 private:
  // On cache lines of their own, since senders run on different threads. The vector only grows, so that its own line is
  // seldom written and every thread keeps it.
  struct alignas(64) Sent {
    std::vector<Message> messages;  // by receiver
  };
  struct alignas(64) Receivers {
    std::vector<std::uint32_t> of_message;  // in the order of sending
  };
  struct alignas(64) CacheLine {
    std::array<std::uint64_t, 8> words;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  void sort_by_receiver(std::uint32_t sender, const std::vector<Message>& messages);
  void note_first(std::uint32_t sender);
  [[nodiscard]] std::uint64_t* header(std::uint32_t sender) {
    return headers_[std::size_t{sender} * lines_of_header_].words.data();
  }
  // By receiver: where its messages begin among the sender's, and behind the last where they end.
  [[nodiscard]] std::uint32_t* begin_of(std::uint32_t sender) {
    return reinterpret_cast<std::uint32_t*>(header(sender) + 1 + senders_of_.size());
  }
  [[nodiscard]] std::span<Message> messages(std::uint32_t sender, std::uint32_t receiver) {
    const std::uint32_t* const begin = begin_of(sender) + receiver;
    return {sent_[sender].messages.data() + begin[0], begin[1] - begin[0]};
  }
  static void prefetch(std::span<const Message> messages) {
    const char* const bytes = reinterpret_cast<const char*>(messages.data());
    for (std::size_t i = 0; i < messages.size_bytes(); i += sizeof(CacheLine)) __builtin_prefetch(bytes + i);
  }
  [[nodiscard]] bool has_sent(std::uint32_t sender) { return *header(sender) == phase_; }

  std::vector<Sent> sent_;            // by sender
  std::vector<Receivers> receivers_;  // by sender
  // By sender: the phase in which it sent last, and for each receiver when the first of its messages arrives, or kNone.
  // `close` reads these lines, one behind the other, and none of the messages, which other threads have just written.
  std::vector<CacheLine> headers_;
  std::size_t lines_of_header_;
  std::uint64_t phase_ = 1;
  std::vector<std::vector<std::uint32_t>> senders_of_;  // by receiver, with messages for it
};

}  // namespace wm::sim

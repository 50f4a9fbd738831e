// Messages on their way from the units that run in one phase of a quantum to those that run in the next.
//
// Senders send their messages in parallel, each once in a phase at most. `close` then tells receivers when the first
// ones arrive, and receivers take theirs in parallel, before anything is sent again: sender by sender, the messages of
// each in the order in which it sent them. So messages go from one unit's thread to another's at once, and their order
// depends on no thread.
#pragma once

#include <algorithm>
#include <cstdint>
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
    Sent& sent = sent_[sender];
    sent.receivers.clear();
    for (const Message& m : messages) sent.receivers.push_back(receiver_of(m));
    sort_by_receiver(sent, messages);
  }

  // Calls change(message, receiver) for all messages since `close`; update_first() must follow.
  template <typename Change>
  void visit(Change change) {
    for (Sent& sent : sent_)
      if (sent.is_new)
        for (std::uint32_t r = 0; r < senders_of_.size(); ++r)
          for (std::uint32_t i = sent.begin[r]; i < sent.begin[r + 1]; ++i) change(sent.messages[i], r);
  }
  void update_first();

  // Calls expect(receiver, time) with the arrival of the first message of each sender.
  template <typename Expect>
  void close(Expect expect) {
    for (std::uint32_t s = 0; s < sent_.size(); ++s) {
      if (!sent_[s].is_new) continue;
      sent_[s].is_new = false;
      for (std::uint32_t r = 0; r < senders_of_.size(); ++r) {
        if (sent_[s].begin[r] == sent_[s].begin[r + 1]) continue;
        senders_of_[r].push_back(s);
        expect(r, sent_[s].first[r]);
      }
    }
  }
  [[nodiscard]] bool waits_for(std::uint32_t receiver) const { return !senders_of_[receiver].empty(); }

  // Calls receive(message) for the messages to the receiver, and removes them.
  template <typename Receive>
  void take(std::uint32_t receiver, Receive receive) {
    for (const std::uint32_t s : senders_of_[receiver])
      for (std::uint32_t i = sent_[s].begin[receiver]; i < sent_[s].begin[receiver + 1]; ++i)
        receive(sent_[s].messages[i]);
    senders_of_[receiver].clear();
  }

 private:
  // A sender's messages, on cache lines of their own: senders run on different threads.
  struct alignas(64) Sent {
    std::vector<Message> messages;         // by receiver
    std::vector<std::uint32_t> receivers;  // in the order of sending
    std::vector<std::uint32_t> begin;      // by receiver: where its messages begin, and behind the last where they end
    std::vector<std::uint64_t> first;      // by receiver: when the first of its messages arrives
    bool is_new = false;                   // sent since `close`
  };

  void sort_by_receiver(Sent& sent, const std::vector<Message>& messages) const;

  std::vector<Sent> sent_;                              // by sender
  std::vector<std::vector<std::uint32_t>> senders_of_;  // by receiver, with messages for it
};

}  // namespace wm::sim

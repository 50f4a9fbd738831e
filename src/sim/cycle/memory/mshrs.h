// Miss-status holding registers of one cache: the sectors in flight and the accesses that wait for them.
//
// A second miss to sectors in flight joins the first and sends nothing. When all entries, or the waiters of one entry,
// are taken, `accept` says so and the cache stalls that request; nothing is dropped.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "sim/cycle/memory/tags.h"

namespace wm::sim {

struct MshrSpec {
  std::uint32_t entries = 64;
  std::uint32_t waiters = 8;  // limit of one entry
};

class Mshrs {
 public:
  using Waiter = std::uint32_t;

  explicit Mshrs(const MshrSpec& spec);

  struct Outcome {
    bool accepted = false;
    Sectors send = 0;     // sectors to request; 0: all are in flight already
    bool opened = false;  // nothing of the line was in flight
  };
  Outcome accept(LineAddress line, Sectors wanted, Waiter waiter);

  // `sectors` of `line` have arrived: hands every waiter that now has all it wanted to `wake`, in arrival order.
  template <std::invocable<Waiter> Wake>
  void fill(LineAddress line, Sectors sectors, Wake&& wake) {
    Entry* e = find(line);
    if (e == nullptr) return;
    e->pending &= static_cast<Sectors>(~sectors);
    std::uint32_t* link = &e->first;
    std::uint32_t kept = kNone;
    while (*link != kNone) {
      const std::uint32_t i = *link;
      Node& n = nodes_[i];
      n.missing &= static_cast<Sectors>(~sectors);
      if (n.missing != 0) {
        kept = i;
        link = &n.next;
        continue;
      }
      const Waiter w = n.waiter;
      *link = n.next;
      n.next = free_node_;
      free_node_ = i;
      --e->count;
      wake(w);
    }
    e->last = kept;
    if (e->pending == 0) release(*e);
  }

  [[nodiscard]] std::uint32_t in_use() const { return used_; }
  [[nodiscard]] bool full() const { return used_ == spec_.entries; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Entry {
    LineAddress line = 0;
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t count = 0;
    Sectors pending = 0;  // 0: a free entry
  };
  struct Node {
    Waiter waiter = 0;
    std::uint32_t next = kNone;
    Sectors missing = 0;
  };
  [[nodiscard]] std::uint32_t bucket(LineAddress line) const {
    return static_cast<std::uint32_t>((line * 0x9e3779b97f4a7c15ULL) >> 40) & mask_;
  }
  Entry* find(LineAddress line);
  std::uint32_t take_node();
  void release(Entry& entry);

  MshrSpec spec_;
  std::uint32_t mask_;
  std::uint32_t used_ = 0;
  std::uint32_t free_node_ = kNone;
  std::vector<Entry> table_;  // open addressing, at most half full
  // As many as were in use at once so far. There is room for all, so that a pointer to one stays valid; memory that is
  // not used yet costs no time when a machine with hundreds of caches is made.
  std::vector<Node> nodes_;
};

}  // namespace wm::sim

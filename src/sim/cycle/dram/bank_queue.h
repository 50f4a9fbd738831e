// Requests that wait for a DRAM channel, bank by bank in the order they came, with direct access to
// those that hit the open row of their bank: a DRAM scheduler examines banks, not single requests.
#pragma once

#include <cstdint>
#include <vector>

namespace wm::sim {

struct DramRequest {
  std::uint64_t row = 0;
  std::uint64_t arrived = 0;  // command clock
  std::uint32_t bank = 0;
  std::uint32_t bytes = 0;
  std::uint32_t token = 0;  // the caller's, returned with the completion
  bool write = false;
  std::uint8_t kernel = 0;  // kernel index, for accounting
};

class BankQueue {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};
  static constexpr std::uint32_t kMaxBanks = 64;

  // At most kMaxBanks; all of them closed.
  BankQueue(std::uint32_t banks, std::uint32_t capacity) : banks_(banks) { entries_.reserve(capacity); }

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Banks with requests, as bits.
  [[nodiscard]] std::uint64_t waiting() const { return waiting_; }
  [[nodiscard]] const DramRequest& operator[](Index i) const { return entries_[i].request; }
  // Sequence number of the arrival.
  [[nodiscard]] std::uint64_t number(Index i) const { return entries_[i].number; }
  // The oldest request of a bank that has some, and the oldest of those that hit its open row.
  [[nodiscard]] Index oldest(std::uint32_t bank) const { return banks_[bank].first; }
  [[nodiscard]] Index hit(std::uint32_t bank) const { return banks_[bank].hit; }
  // The next request of the same bank; kNone: there is none.
  [[nodiscard]] Index after(Index i) const { return entries_[i].next; }
  // When the oldest hit of a bank, or its oldest request where none hits, has arrived.
  [[nodiscard]] std::uint64_t head_arrived(std::uint32_t bank) const { return banks_[bank].head_arrived; }
  // Whether the row of the request is open in its bank.
  [[nodiscard]] bool hits(const DramRequest& request) const { return banks_[request.bank].open_row == request.row; }
  // The oldest hit of a bank that has arrived by the clock; kNone: none has.
  [[nodiscard]] Index hit_arrived(std::uint32_t bank, std::uint64_t clock) const {
    Index i = banks_[bank].hit;
    while (i != kNone && entries_[i].request.arrived > clock) i = hit_after(i);
    return i;
  }
  // When the first hit of a bank arrives; some clock up to `clock` if one has arrived by then.
  [[nodiscard]] std::uint64_t first_hit_arrival(std::uint32_t bank, std::uint64_t clock) const {
    std::uint64_t first = ~std::uint64_t{0};
    for (Index i = banks_[bank].hit; i != kNone && first > clock; i = hit_after(i))
      first = first < entries_[i].request.arrived ? first : entries_[i].request.arrived;
    return first;
  }

  void push(const DramRequest& request) {
    Index i = free_;
    if (i == kNone) {
      i = static_cast<Index>(entries_.size());
      entries_.emplace_back();
    } else {
      free_ = entries_[i].next;
    }
    entries_[i] = {request, numbers_++, kNone};
    Bank& bank = banks_[request.bank];
    (bank.first == kNone ? bank.first : entries_[bank.last].next) = i;
    bank.last = i;
    if (bank.hit == kNone && request.row == bank.open_row) bank.hit = i;
    update_head(bank);
    waiting_ |= std::uint64_t{1} << request.bank;
    ++size_;
  }

  void remove(Index i) {
    Bank& bank = banks_[entries_[i].request.bank];
    Index before = kNone;
    for (Index at = bank.first; at != i; at = entries_[at].next) before = at;
    if (bank.hit == i) bank.hit = hit_after(i);
    (before == kNone ? bank.first : entries_[before].next) = entries_[i].next;
    if (bank.last == i) bank.last = before;
    if (bank.first == kNone) waiting_ &= ~(std::uint64_t{1} << entries_[i].request.bank);
    update_head(bank);
    entries_[i].next = free_;
    free_ = i;
    --size_;
  }

  // The bank has another row open, or none (a row without requests).
  void open(std::uint32_t bank, std::uint64_t row) {
    banks_[bank].open_row = row;
    banks_[bank].hit = hit_from(banks_[bank].first, row);
    update_head(banks_[bank]);
  }

 private:
  struct Entry {
    DramRequest request;
    std::uint64_t number = 0;
    Index next = kNone;  // next request of its bank, or next free entry
  };
  struct Bank {
    std::uint64_t open_row = ~std::uint64_t{0};
    std::uint64_t head_arrived = 0;
    Index first = kNone;
    Index last = kNone;
    Index hit = kNone;
  };
  // The next request of the same bank that hits the open row.
  [[nodiscard]] Index hit_after(Index i) const {
    return hit_from(entries_[i].next, banks_[entries_[i].request.bank].open_row);
  }
  [[nodiscard]] Index hit_from(Index i, std::uint64_t row) const {
    while (i != kNone && entries_[i].request.row != row) i = entries_[i].next;
    return i;
  }

  void update_head(Bank& bank) const {
    const Index head = bank.hit != kNone ? bank.hit : bank.first;
    if (head != kNone) bank.head_arrived = entries_[head].request.arrived;
  }

  std::vector<Entry> entries_;
  std::vector<Bank> banks_;
  std::uint64_t waiting_ = 0;
  std::uint64_t numbers_ = 0;
  std::uint32_t size_ = 0;
  Index free_ = kNone;
};

}  // namespace wm::sim

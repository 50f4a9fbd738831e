#include "sim/cycle/dram/fr_fcfs.h"

#include <algorithm>
#include <bit>

namespace wm::sim {

FrFcfs::FrFcfs(const DramSpec& spec, std::uint32_t read_queue, std::uint32_t write_queue,
               std::uint32_t commands_per_clock)
    : channel_(spec),
      read_capacity_(read_queue),
      write_capacity_(write_queue),
      reads_(spec.banks, read_queue),
      writes_(spec.banks, write_queue),
      commands_(commands_per_clock) {}

bool FrFcfs::accepts(bool write) const {
  return write ? writes_.size() < write_capacity_ : reads_.size() < read_capacity_;
}

void FrFcfs::push(const DramRequest& request) {
  (request.write ? writes_ : reads_).push(request);
  chosen_ = false;
}

const FrFcfs::Choice& FrFcfs::next_choice(const BankQueue& queue) {
  if (!chosen_) choice_ = choose(queue);
  chosen_ = true;
  return choice_;
}

// Reads go first; writes get the bus when their queue is three quarters full, or nothing else waits, and keep it until
// a quarter is left.
void FrFcfs::update_mode() {
  if (draining_) {
    draining_ = !writes_.empty() && (reads_.empty() || writes_.size() > write_capacity_ / 4);
  } else {
    draining_ = !writes_.empty() && (reads_.empty() || writes_.size() * 4 >= write_capacity_ * 3);
  }
}

FrFcfs::Choice FrFcfs::choose(const BankQueue& queue) const {
  Choice best;
  bool best_column = false;
  // First ready wins; at the same clock a column command goes before a row command, then the older one.
  const auto consider = [&](BankQueue::Index i, std::uint64_t ready, DramCommand command, bool column) {
    const std::uint64_t at = channel_.after_refresh(std::max(ready, queue[i].arrived));
    if (at > best.at) return;
    if (at == best.at && (column != best_column ? best_column : queue.number(i) > queue.number(best.index))) return;
    best = {at, i, command};
    best_column = column;
  };
  for (std::uint64_t m = queue.waiting(); m != 0; m &= m - 1) {
    const auto bank = static_cast<std::uint32_t>(std::countr_zero(m));
    const auto ready = [&](DramCommand command) { return std::max(channel_.earliest(command, bank), now_); };
    BankQueue::Index i = queue.hit(bank);
    if (i == BankQueue::kNone) {
      // The oldest request of a bank decides its row.
      const DramCommand command =
          channel_.open_row(bank) == DramChannel::kClosed ? DramCommand::activate : DramCommand::precharge;
      consider(queue.oldest(bank), ready(command), command, false);
      continue;
    }
    // Of those that hit the oldest goes first, unless it has yet to come.
    const DramCommand command = queue[i].write ? DramCommand::write : DramCommand::read;
    const std::uint64_t at = ready(command);
    for (; i != BankQueue::kNone; i = queue.hit_after(i)) {
      consider(i, at, command, true);
      if (queue[i].arrived <= at) break;
    }
  }
  return best;
}

std::uint64_t FrFcfs::advance(std::uint64_t until, std::deque<DramDone>& done) {
  bool finished = false;
  while (true) {
    update_mode();
    BankQueue& queue = draining_ ? writes_ : reads_;
    if (queue.empty()) return ~std::uint64_t{0};
    const Choice c = next_choice(queue);
    if (c.at >= until || finished) return c.at;
    const DramRequest r = queue[c.index];
    chosen_ = false;
    // So many commands a clock, then the next.
    sent_ = c.at == clock_ ? sent_ + 1 : 1;
    clock_ = c.at;
    now_ = sent_ < commands_ ? c.at : c.at + 1;
    if (c.command == DramCommand::precharge || c.command == DramCommand::activate) {
      channel_.issue(c.command, r.bank, r.row, c.at);
      reads_.open(r.bank, channel_.open_row(r.bank));
      writes_.open(r.bank, channel_.open_row(r.bank));
      use_[r.kernel].activates += c.command == DramCommand::activate ? 1 : 0;
      continue;
    }
    const std::uint64_t at = channel_.issue(c.command, r.bank, r.bytes, c.at);
    ++use_[r.kernel].columns;
    if (!r.write) done.push_back({at, r.token});
    queue.remove(c.index);
    finished = true;
  }
}

}  // namespace wm::sim

#include "sim/cycle/dram/fr_fcfs.h"

#include <algorithm>

namespace wm::sim {

FrFcfs::FrFcfs(const DramSpec& spec, std::uint32_t read_queue, std::uint32_t write_queue,
               std::uint32_t commands_per_clock)
    : channel_(spec), read_capacity_(read_queue), write_capacity_(write_queue), commands_(commands_per_clock) {
  reads_.reserve(read_queue);
  writes_.reserve(write_queue);
}

bool FrFcfs::accepts(bool write) const {
  return write ? writes_.size() < write_capacity_ : reads_.size() < read_capacity_;
}

void FrFcfs::push(const DramRequest& request) {
  (request.write ? writes_ : reads_).push_back(request);
  chosen_ = false;
}

const FrFcfs::Choice& FrFcfs::next_choice(const std::vector<DramRequest>& queue) {
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

FrFcfs::Choice FrFcfs::choose(const std::vector<DramRequest>& queue) const {
  Choice best;
  bool best_column = false;
  std::uint64_t banks_done = 0;  // nothing further in the queue can go before what was seen (at most 64 banks)
  std::uint64_t banks_hit = 0;   // a request that hits waits: the row stays open for it
  for (const DramRequest& r : queue) banks_hit |= std::uint64_t{channel_.open_row(r.bank) == r.row ? 1U : 0U} << r.bank;
  for (std::uint32_t i = 0; i < queue.size(); ++i) {
    const DramRequest& r = queue[i];
    const std::uint64_t bit = std::uint64_t{1} << r.bank;
    if ((banks_done & bit) != 0) continue;
    const bool hit = (banks_hit & bit) != 0;
    if (hit && channel_.open_row(r.bank) != r.row) continue;
    DramCommand command = r.write ? DramCommand::write : DramCommand::read;
    if (!hit)
      command = channel_.open_row(r.bank) == DramChannel::kClosed ? DramCommand::activate : DramCommand::precharge;
    const std::uint64_t ready = std::max(channel_.earliest(command, r.bank), now_);
    // The oldest request of a bank decides its row. Of those that hit the oldest goes first, unless it has yet to come.
    if (!hit || r.arrived <= ready) banks_done |= bit;
    const std::uint64_t at = channel_.after_refresh(std::max(ready, r.arrived));
    // First ready wins; at the same clock a column command goes before a row command, then the older one.
    if (at < best.at || (at == best.at && hit && !best_column)) {
      best = {at, i, command};
      best_column = hit;
    }
  }
  return best;
}

std::uint64_t FrFcfs::advance(std::uint64_t until, std::deque<DramDone>& done) {
  bool finished = false;
  while (true) {
    update_mode();
    std::vector<DramRequest>& queue = draining_ ? writes_ : reads_;
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
      use_[r.kernel].activates += c.command == DramCommand::activate ? 1 : 0;
      continue;
    }
    const std::uint64_t at = channel_.issue(c.command, r.bank, r.bytes, c.at);
    ++use_[r.kernel].columns;
    if (!r.write) done.push_back({at, r.token});
    queue.erase(queue.begin() + c.index);
    finished = true;
  }
}

}  // namespace wm::sim

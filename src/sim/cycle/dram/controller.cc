#include "sim/cycle/dram/controller.h"

#include <algorithm>

namespace wm::sim {

DramController::DramController(const DramSpec& spec, const DramQueues& queues, std::string_view scheduler)
    : scheduler_(make_dram_scheduler(scheduler)),
      channel_(spec),
      read_capacity_(queues.reads),
      write_capacity_(queues.writes),
      reads_(spec.banks, queues.reads),
      writes_(spec.banks, queues.writes),
      commands_(queues.commands_per_clock) {}

bool DramController::accepts(bool write) const {
  return write ? writes_.size() < write_capacity_ : reads_.size() < read_capacity_;
}

void DramController::push(const DramRequest& request) {
  BankQueue& queue = request.write ? writes_ : reads_;
  // A choice among requests of the other kind holds while those keep the bus (update_mode).
  if (request.write == draining_)
    chosen_ = chosen_ && std::visit([&](auto& scheduler) { return scheduler.keeps(queue, request); }, scheduler_);
  queue.push(request);
}

const DramChoice& DramController::next_choice(const BankQueue& queue) {
  if (!chosen_) {
    const DramWaiting waiting{queue, channel_, now_};
    choice_ = std::visit([&](auto& scheduler) { return scheduler.choose(waiting); }, scheduler_);
  }
  chosen_ = true;
  return choice_;
}

// Reads go first; writes get the bus when their queue is three quarters full, or nothing else waits, and keep it until
// a quarter is left.
void DramController::update_mode() {
  const bool was_draining = draining_;
  if (draining_) {
    draining_ = !writes_.empty() && (reads_.empty() || writes_.size() > write_capacity_ / 4);
  } else {
    draining_ = !writes_.empty() && (reads_.empty() || writes_.size() * 4 >= write_capacity_ * 3);
  }
  if (draining_ != was_draining) chosen_ = false;
}

std::uint64_t DramController::advance(std::uint64_t until, std::deque<DramDone>& done) {
  bool finished = false;
  while (true) {
    update_mode();
    BankQueue& queue = draining_ ? writes_ : reads_;
    if (queue.empty()) return ~std::uint64_t{0};
    const DramChoice c = next_choice(queue);
    if (c.at >= until || finished) return c.at;
    const DramRequest r = queue[c.index];
    chosen_ = false;
    // After so many commands in one clock the next one follows in the next clock.
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

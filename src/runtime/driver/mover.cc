#include "runtime/driver/mover.h"

#include <algorithm>
#include <cstring>

namespace wm::runtime::driver {

Mover::~Mover() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Mover::add(Link& link, std::uint32_t slot, cl_mem memory, std::byte* to, const std::byte* from, std::size_t size) {
  link.hold_slot(slot);
  const std::lock_guard lock(mutex_);
  moves_.push_back({slot, Held<_cl_mem>(memory), to, from, size});
  if (!thread_.joinable()) thread_ = std::thread([this, &link] { watch(link); });
  changed_.notify_all();
}

bool Mover::will_touch(const std::byte* bytes, std::size_t size) {
  const std::lock_guard lock(mutex_);
  return std::any_of(moves_.begin(), moves_.end(),
                     [&](const Move& m) { return m.to < bytes + size && bytes < m.to + m.size; });
}

void Mover::wait_for(const std::byte* bytes, std::size_t size) {
  const auto touches = [&](const Move& m) { return m.to < bytes + size && bytes < m.to + m.size; };
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || std::none_of(moves_.begin(), moves_.end(), touches); });
}

void Mover::move(Link& link, const Move& m) {
  if (link.state(m.slot) == CL_RUNNING) {
    link.settle();  // what was read before, and is written now
    std::memcpy(m.to, m.from, m.size);
    Writer done(Op::host_done);
    done.put(UserEvent{m.slot, CL_COMPLETE});
    link.post(done);
  }
  link.give_slot(m.slot);
}

void Mover::watch(Link& link) {
  for (;;) {
    const std::uint32_t seen = link.changes();
    auto due = moves_.end();
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !moves_.empty(); });
      if (stop_) return;
      due = std::find_if(moves_.begin(), moves_.end(), [&](const Move& m) { return link.state(m.slot) <= CL_RUNNING; });
      if (due == moves_.end()) {
        lock.unlock();
        link.wait_for_change(seen);
        continue;
      }
    }
    move(link, *due);  // nobody else takes it from the list
    std::list<Move> done;
    {
      const std::lock_guard lock(mutex_);
      done.splice(done.end(), moves_, due);
    }
    changed_.notify_all();
  }
}

}  // namespace wm::runtime::driver

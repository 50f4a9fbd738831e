#include "runtime/program/compilers.h"

#include <algorithm>
#include <thread>

namespace wm::runtime {

Compilers::Compilers() : Compilers(at_once(std::thread::hardware_concurrency())) {}

unsigned Compilers::at_once(unsigned processors) { return std::max(processors, 2U); }

bool Compilers::precedes(const Waiting& a, const Waiting& b) const {
  const ClientState &x = clients_.at(a.client), &y = clients_.at(b.client);
  return x.running != y.running ? x.running < y.running : x.last_start < y.last_start;
}

void Compilers::admit() {
  while (idle_ != 0) {
    Waiting* next = nullptr;
    for (Waiting& w : waiting_) {
      if (!w.admitted && (next == nullptr || precedes(w, *next))) next = &w;
    }
    if (next == nullptr) return;
    next->admitted = true;
    --idle_;
    ClientState& client = clients_.at(next->client);
    ++client.running;
    client.last_start = ++starts_;
  }
}

void Compilers::acquire(const void* client) {
  std::unique_lock lock(mutex_);
  const auto self = waiting_.insert(waiting_.end(), Waiting{client});
  ++clients_[client].requests;
  admit();
  changed_.wait(lock, [&] { return self->admitted; });
  waiting_.erase(self);
}

void Compilers::release(const void* client) {
  {
    const std::lock_guard lock(mutex_);
    const auto state = clients_.find(client);
    --state->second.running;
    if (--state->second.requests == 0) clients_.erase(state);
    ++idle_;
    admit();
  }
  changed_.notify_all();
}

std::size_t Compilers::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(waiting_.begin(), waiting_.end(), [](const Waiting& w) { return !w.admitted; }));
}

}  // namespace wm::runtime

#include "runtime/driver/link.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace wm::runtime::driver {
namespace {

constexpr int kLookAgain = 50;  // milliseconds after which a waiting thread asks whether the daemon still lives
constexpr std::uint64_t kReplyBytes = 4096;

template <Plain T>
std::span<const std::byte> view_of(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

}  // namespace

Link::Link(Descriptor socket, SharedArea area, bool host_memory, const Answers& answers)
    : socket_(std::move(socket)),
      area_(std::move(area)),
      host_memory_(host_memory),
      answers_(answers),
      ring_(&area_.head().ring, area_.ring()) {
  free_slots_.reserve(kSlots);
  for (std::uint32_t i = kSlots; i-- > 0;) free_slots_.push_back(i);
}

Result<std::unique_ptr<Link>> Link::connect(const std::string& path) {
  auto socket = connect_to(path);
  if (!socket) return socket.error();
  Hello hello;
  if (const char* priority = std::getenv("WARPMUX_PRIORITY")) hello.priority = std::atoi(priority);
  if (const char* share = std::getenv("WARPMUX_SHARE")) {
    hello.share = static_cast<std::uint32_t>(std::clamp(std::atof(share), 0.001, 1000.0) * 1000);
  }
  std::snprintf(hello.name, sizeof hello.name, "%s", program_invocation_short_name);
  if (!send_packet(*socket, view_of(hello))) return Error{path + ": the daemon hung up"};
  auto answer = receive_packet(*socket, 10'000);
  if (!answer || answer->bytes.size() != sizeof(Welcome)) return Error{path + ": no answer that makes sense"};
  Welcome welcome;
  std::memcpy(&welcome, answer->bytes.data(), sizeof welcome);
  if (welcome.magic != kMagic || welcome.version != kVersion) return Error{path + ": a daemon of another version"};
  welcome.reason[sizeof welcome.reason - 1] = 0;
  if (welcome.accepted == 0) return Error{path + ": " + welcome.reason};
  auto area = SharedArea::attach(answer->file);
  if (!area) return area.error();
  return std::unique_ptr<Link>(
      new Link(std::move(*socket), std::move(*area), welcome.host_memory != 0, welcome.answers));
}

bool Link::lost() {
  if (lost_.load(std::memory_order_relaxed)) return true;
  if (!gone(socket_)) return false;
  if (!lost_.exchange(true)) std::fputs("warpmux: the daemon is gone; OpenCL calls fail from here on\n", stderr);
  return true;
}

bool Link::post(Writer& message) {
  const auto bytes = message.finish();
  if (bytes.size() > kLargestMessage) return false;
  const std::lock_guard lock(writing_);
  while (!lost_.load(std::memory_order_relaxed)) {
    if (ring_.try_write(bytes)) return true;
    ring_.wait_for_room(kLookAgain);
    if (lost()) return false;
  }
  return false;
}

std::int32_t Link::call(Writer& message, std::vector<std::byte>* answer) {
  for (std::uint64_t room = kReplyBytes;;) {
    const Chunk chunk = take_chunk(room, true);
    if (chunk.size == 0) return lost() ? kGone : -6;  // CL_OUT_OF_HOST_MEMORY
    std::byte* at = this->at(chunk);
    Word& state = *new (at) Word(0);
    message.reply_to(chunk);
    const bool sent = post(message);
    while (sent && state.load(std::memory_order_acquire) == 0) {
      if (spin_until([&] { return state.load(std::memory_order_acquire) != 0; })) break;
      sleep_on(state, 0, kLookAgain);
      if (state.load(std::memory_order_acquire) == 0 && lost()) break;
    }
    if (!sent || state.load(std::memory_order_acquire) == 0) return kGone;  // the chunk is lost with the daemon
    Reply reply;
    std::memcpy(&reply, at, sizeof reply);
    const std::uint64_t needed = sizeof reply + reply.size;
    if (needed > chunk.size && answer != nullptr) {  // asked again with enough room
      give_chunk(chunk);
      room = needed;
      continue;
    }
    if (answer != nullptr) answer->assign(at + sizeof reply, at + needed);
    give_chunk(chunk);
    return reply.status;
  }
}

std::uint32_t Link::take_slot(std::int32_t state) {
  const std::lock_guard lock(dividing_);
  if (free_slots_.empty()) collect_slots();
  if (free_slots_.empty()) return kNoSlot;
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  holds_[index] = 1;
  EventSlot& s = slot(index);
  s.queued = s.submitted = s.started = s.ended = 0;
  s.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  return index;
}

void Link::hold_slot(std::uint32_t slot) {
  const std::lock_guard lock(dividing_);
  ++holds_[slot];
}

void Link::give_slot(std::uint32_t slot) {
  const std::lock_guard lock(dividing_);
  if (--holds_[slot] != 0) return;
  (raw_state(slot) <= 0 ? free_slots_ : retired_).push_back(slot);
  constexpr std::size_t kWorthLooking = 8192;
  if (retired_.size() > kWorthLooking) collect_slots();
}

void Link::collect_slots() {
  const auto ended =
      std::stable_partition(retired_.begin(), retired_.end(), [this](auto s) { return raw_state(s) > 0; });
  free_slots_.insert(free_slots_.end(), ended, retired_.end());
  retired_.erase(ended, retired_.end());
}

std::int32_t Link::state(std::uint32_t slot) {
  const std::int32_t now = raw_state(slot);
  if (now <= 0) {
    settle();
    return now;
  }
  return lost_.load(std::memory_order_relaxed) ? kGone : now;
}

std::int32_t Link::wait(std::uint32_t slot, std::int32_t until) {
  EventSlot& s = this->slot(slot);
  // A CPU needs the processor for the work itself; for a GPU's end its own driver would look all the time.
  const bool to_spare = !host_memory_ && worth_spinning() >= std::chrono::microseconds(50);
  while (raw_state(slot) > until) {
    if (spin_until([&] { return raw_state(slot) <= until; }, worth_spinning() * (to_spare ? 4 : 1))) break;
    s.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t now = s.state.load(std::memory_order_seq_cst);
    if (static_cast<std::int32_t>(now) > until) sleep_on(s.state, now, kLookAgain);
    s.sleepers.fetch_sub(1, std::memory_order_seq_cst);
    if (raw_state(slot) > until && lost()) return kGone;
  }
  settle();
  return raw_state(slot);
}

void Link::set_state(std::uint32_t slot, std::int32_t state) { publish(area_.head(), this->slot(slot), state); }

void Link::wait_for_change(std::uint32_t seen) {
  AreaHead& head = area_.head();
  head.watchers.fetch_add(1, std::memory_order_seq_cst);
  if (head.changes.load(std::memory_order_seq_cst) == seen) sleep_on(head.changes, seen, kLookAgain);
  head.watchers.fetch_sub(1, std::memory_order_seq_cst);
  (void)lost();
}

void Link::when_ended(std::uint32_t slot, const Chunk& chunk, std::span<const std::byte> host,
                      std::function<void()> deliver) {
  const std::lock_guard lock(settling_);
  endings_.push_back({slot, chunk, host, std::move(deliver)});
  ++unsettled_;
  const std::lock_guard dividing(dividing_);
  ++holds_[slot];
}

std::uint32_t Link::delivery_into(const void* host, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(host);
  std::uint32_t slot = kNoSlot;
  const std::lock_guard lock(settling_);
  for (const Ending& e : endings_) {
    const std::byte* begin = e.host.data();
    if (!e.host.empty() && begin < first + size && first < begin + e.host.size()) slot = e.slot;
  }
  return slot;
}

bool Link::awaits_delivery(const void* host, std::size_t size) {
  settle();
  return delivery_into(host, size) != kNoSlot;
}

void Link::wait_for_deliveries(const void* host, std::size_t size) {
  for (;;) {
    const std::uint32_t slot = delivery_into(host, size);
    if (slot == kNoSlot) return;
    if (wait(slot) == kGone && lost()) return;
  }
}

void Link::settle() {
  if (unsettled_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(settling_);
  for (auto it = endings_.begin(); it != endings_.end();) {
    const std::int32_t now = raw_state(it->slot);
    if (now > 0) {
      ++it;
      continue;
    }
    if (now == 0 && it->deliver) it->deliver();
    if (it->chunk.size != 0) give_chunk(it->chunk);
    give_slot(it->slot);
    it = endings_.erase(it);
    --unsettled_;
  }
}

}  // namespace wm::runtime::driver

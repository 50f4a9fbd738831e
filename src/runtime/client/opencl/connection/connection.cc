#include "runtime/client/opencl/connection/connection.h"

#include <cstring>
#include <new>

namespace wm::runtime::client {
namespace {

constexpr std::uint64_t kInitialReplyBytes = 4096;
constexpr std::int32_t kOutOfHostMemory = -6;  // CL_OUT_OF_HOST_MEMORY
// Smaller buffers are stored in the daemon: a region costs a system call and whole pages.
constexpr std::uint64_t kMinSharedBuffer = 16 * 1024;

}  // namespace

Connection::Connection(std::unique_ptr<Channel> channel)
    : channel_(std::move(channel)), events_(*channel_), memory_(*channel_), completions_(events_, memory_) {}

Result<std::unique_ptr<Connection>> Connection::connect(const std::string& path) {
  auto channel = Channel::connect(path);
  if (!channel) return channel.error();
  return std::unique_ptr<Connection>(new Connection(std::move(*channel)));
}

std::int32_t Connection::call(Writer& message, std::vector<std::byte>* answer) {
  for (std::uint64_t room = kInitialReplyBytes;;) {
    const Chunk chunk = allocate(room, IfFull::wait);
    if (chunk.size == 0) return lost() ? kDaemonLost : kOutOfHostMemory;
    std::byte* at = address(chunk);
    Word& state = *new (at) Word(0);
    message.reply_to(chunk);
    const bool sent = post(message);
    while (sent && state.load(std::memory_order_acquire) == 0) {
      if (spin_until([&] { return state.load(std::memory_order_acquire) != 0; })) break;
      sleep_on(state, 0, kLostCheckInterval);
      if (state.load(std::memory_order_acquire) == 0 && lost()) break;
    }
    // The chunk is not freed: a daemon that is still running could write to it.
    if (!sent || state.load(std::memory_order_acquire) == 0) return kDaemonLost;
    Reply reply;
    std::memcpy(&reply, at, sizeof reply);
    const std::uint64_t needed = sizeof reply + reply.size;
    if (needed > chunk.size && answer != nullptr) {  // asks again, with enough room for the answer
      free(chunk);
      room = needed;
      continue;
    }
    if (answer != nullptr) answer->assign(at + sizeof reply, at + needed);
    free(chunk);
    return reply.status;
  }
}

std::int32_t Connection::state(EventId event) {
  const std::int32_t state = events_.state(event);
  if (state <= 0) {
    process_completions();
    return state;
  }
  return channel_->known_lost() ? kDaemonLost : state;
}

std::int32_t Connection::wait(EventId event, std::int32_t until) {
  const std::int32_t state = events_.wait(event, until);
  if (state == kDaemonLost && events_.state(event) > until) return kDaemonLost;
  process_completions();
  return events_.state(event);
}

Chunk Connection::allocate(std::uint64_t size, IfFull if_full) {
  process_completions();
  for (;;) {
    if (const auto chunk = memory_.allocate_staging(size)) return *chunk;
    if (size > kStagingBytes || if_full == IfFull::use_region || !wait_for_staging()) {
      return memory_.allocate_region(size);
    }
    if (lost()) return {};
  }
}

// False: no command holds staging memory that it could free.
bool Connection::wait_for_staging() {
  const EventId oldest = completions_.oldest_staging_user();
  if (oldest == kNoEvent) return false;
  const std::uint32_t seen = changes();
  if (events_.state(oldest) > 0) wait_for_change(seen);
  process_completions();
  return true;
}

std::uint32_t Connection::request_buffer_region(std::uint64_t size, Mapping& map) {
  if (!channel_->device_uses_host_memory() || size < kMinSharedBuffer) return 0;
  return channel_->request_region(SharedMemoryPool::round_to_pages(size), map);
}

bool Connection::has_pending_delivery(const void* host, std::size_t size) {
  process_completions();
  return completions_.last_delivery_into(host, size) != kNoEvent;
}

void Connection::wait_for_deliveries(const void* host, std::size_t size) {
  for (;;) {
    const EventId event = completions_.last_delivery_into(host, size);
    if (event == kNoEvent) return;
    if (wait(event) == kDaemonLost && lost()) return;
  }
}

}  // namespace wm::runtime::client

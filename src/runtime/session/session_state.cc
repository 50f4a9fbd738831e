#include "runtime/session/session_state.h"

#include <cstring>

namespace wm::runtime {

void SessionState::answer(const MessageHeader& header, Status status, std::span<const std::byte> bytes) {
  const auto [to, region] = shared.find(header.reply);
  if (to.size() < sizeof(Reply)) return;
  const Reply reply{0, status, bytes.size()};
  const std::lock_guard lock(answer_mutex);
  std::memcpy(to.data() + offsetof(Reply, status), &reply.status, sizeof reply.status);
  std::memcpy(to.data() + offsetof(Reply, size), &reply.size, sizeof reply.size);
  const std::size_t written = std::min(bytes.size(), to.size() - sizeof reply);
  if (written != 0) std::memcpy(to.data() + sizeof reply, bytes.data(), written);
  auto& state = *reinterpret_cast<Word*>(to.data());
  state.store(1, std::memory_order_release);
  wake_all(state);
}

void SessionState::run_later(std::function<void()> work) {
  tasks.run([owner = client.lock(), work = std::move(work)] { work(); });
}

}  // namespace wm::runtime

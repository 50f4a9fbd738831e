#include "runtime/schedule/printf_output.h"

#include <algorithm>
#include <cstring>

namespace wm::runtime {

bool PrintfOutput::begin(const CommandPtr& command) {
  if (current_) {
    if (command->state() == Command::State::waiting) command->enter(Command::State::awaiting_printf);
    waiting_.push_back(command);
    return false;
  }
  current_ = command;
  output_.begin();
  return true;
}

CommandPtr PrintfOutput::end(const CommandPtr& command, bool mixed) {
  if (finish_first_ && command->status == status::kComplete) submission_.finish(*command->queue->handle);
  const std::string text = output_.end();
  const auto room = command->launch->printed;
  if (!mixed && !command->client->closed() && room.size() > sizeof(std::uint64_t)) {
    const std::uint64_t size = std::min(text.size(), room.size() - sizeof size);
    std::memcpy(room.data(), &size, sizeof size);
    std::memcpy(room.data() + sizeof size, text.data(), size);
  }
  current_.reset();
  if (waiting_.empty()) return nullptr;
  CommandPtr next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

std::vector<CommandPtr> PrintfOutput::take(const Client& client) {
  const auto theirs = std::stable_partition(waiting_.begin(), waiting_.end(),
                                            [&](const CommandPtr& c) { return c->client.get() != &client; });
  std::vector<CommandPtr> taken(theirs, waiting_.end());
  waiting_.erase(theirs, waiting_.end());
  return taken;
}

}  // namespace wm::runtime

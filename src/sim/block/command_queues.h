// Hardware command queues and the dispatcher that inspects them (ISCA 2014, section 2.2).
//
// Streams are mapped to queues in turn. The dispatcher issues a queue's first command to its engine and inspects that
// queue again only when the command has completed; commands of different queues are independent.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/block/kernel_model.h"

namespace wm::sim {

struct Command {
  enum class Kind : std::uint8_t { copy_to_device, copy_to_host, launch };
  Kind kind = Kind::launch;
  std::uint32_t process = 0;
  std::uint32_t stream = 0;             // index among all streams of the system
  std::uint64_t bytes = 0;              // size of a copy
  const KernelModel* kernel = nullptr;  // kernel of a launch
  bool awaited = false;                 // the process's thread waits until the command has completed
};

class CommandQueues {
 public:
  explicit CommandQueues(std::uint32_t queues) : queues_(queues) {}

  [[nodiscard]] std::uint32_t queue_of(std::uint32_t stream) const {
    return stream % static_cast<std::uint32_t>(queues_.size());
  }
  // True: the command is the first of an idle queue and is to be issued now.
  bool push(const Command& command) {
    Queue& q = queues_[queue_of(command.stream)];
    q.commands.push_back(command);
    return !q.busy;
  }
  // Marks the queue's first command as issued.
  const Command& issue(std::uint32_t queue) {
    queues_[queue].busy = true;
    return queues_[queue].commands.front();
  }
  [[nodiscard]] const Command& first(std::uint32_t queue) const { return queues_[queue].commands.front(); }
  // The issued command has completed. `more`: the queue has another one to issue.
  Command complete(std::uint32_t queue, bool& more) {
    Queue& q = queues_[queue];
    const Command done = q.commands.front();
    q.commands.pop_front();
    q.busy = false;
    more = !q.commands.empty();
    return done;
  }

 private:
  struct Queue {
    std::deque<Command> commands;
    bool busy = false;
  };
  std::vector<Queue> queues_;
};

}  // namespace wm::sim

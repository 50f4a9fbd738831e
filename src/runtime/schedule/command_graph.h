// The dependencies between commands: the order of queues and the events of wait lists. Guarded by the scheduler's lock.
#pragma once

#include <deque>
#include <span>

#include "runtime/schedule/admission.h"
#include "runtime/schedule/completion.h"

namespace wm::runtime {

class CommandGraph {
 public:
  CommandGraph(const Admission& admission, CompletionSource& completions)
      : admission_(admission), completions_(completions) {}

  // A command that runs after those of its queue and of these events.
  void add(const CommandPtr& command, std::span<const EventId> waits);
  // Makes it the command of its event. A client that reuses the event of a command that has not completed displaces
  // that command, which is remembered: user events never complete by themselves.
  static void register_event(const CommandPtr& command);
  // The open command of an event; null: there is none.
  [[nodiscard]] static CommandPtr find(const Client& client, EventId event);
  // User events and host accesses of a client that has gone: no other client completes them.
  [[nodiscard]] static std::vector<CommandPtr> take_unfinishable(Client& client);

  void make_ready(CommandPtr command) { ready_.push_back(std::move(command)); }
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }
  // The next command whose dependencies are met.
  [[nodiscard]] CommandPtr take_ready();

  // The command is on its device queue: commands that may follow it there are ready.
  void release_followers(const CommandPtr& on);
  // The command is done: its dependents are ready, or, if they followed it on the device queue, have one fewer
  // unobserved predecessor; `observed` is called for those that have none left.
  template <std::invocable<const CommandPtr&> Observed>
  void release_dependents(Command& command, Status status, Observed&& observed);
  // Its event has its final state.
  static void close_event(const CommandPtr& command, Status status);

 private:
  void add_edge(const CommandPtr& command, const CommandPtr& on, bool order_only);
  void order_in_queue(const CommandPtr& command, bool explicit_waits);

  const Admission& admission_;
  CompletionSource& completions_;
  std::deque<CommandPtr> ready_;
};

template <std::invocable<const CommandPtr&> Observed>
void CommandGraph::release_dependents(Command& command, Status status, Observed&& observed) {
  const auto dependents = std::move(command.dependencies.dependents);
  command.dependencies.dependents.clear();
  for (const Command::Edge& edge : dependents) {
    Command::Dependencies& next = edge.command->dependencies;
    if (status < 0 && !edge.order_only) next.failed = true;
    if (edge.same_queue) {
      if (--next.unobserved == 0) observed(edge.command);
    } else if (--next.unmet == 0) {
      make_ready(edge.command);
    }
  }
}

}  // namespace wm::runtime

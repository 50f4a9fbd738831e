#include "runtime/schedule/command_graph.h"

#include <algorithm>

namespace wm::runtime {

void CommandGraph::add_edge(const CommandPtr& command, const CommandPtr& on, bool order_only) {
  if (on == nullptr || on == command || on->state() == Command::State::done) return;
  Command::Edge edge{command, order_only, false};
  // The device keeps the order of commands on one device queue.
  edge.same_queue =
      order_only && on->on_device() && on->queue == command->queue && admission_.may_follow(*command, *on);
  if (!edge.same_queue && on->on_device()) completions_.expect(*on);
  ++(edge.same_queue ? command->dependencies.unobserved : command->dependencies.unmet);
  if (edge.same_queue) command->dependencies.on_queue = on;
  on->dependencies.dependents.push_back(std::move(edge));
}

void CommandGraph::order_in_queue(const CommandPtr& command, bool explicit_waits) {
  Queue& queue = *command->queue;
  if (queue.in_order) {
    add_edge(command, queue.last.lock(), true);
    queue.last = command;
    return;
  }
  add_edge(command, queue.barrier.lock(), true);
  std::erase_if(queue.open, [](const auto& weak) {
    const CommandPtr open = weak.lock();
    return open == nullptr || open->state() == Command::State::done;
  });
  const bool after_all = only_orders(command->type) && !explicit_waits;
  for (const auto& weak : queue.open) {
    if (after_all) add_edge(command, weak.lock(), true);
  }
  queue.open.push_back(command);
  if (command->type == CommandType::barrier) queue.barrier = command;
}

void CommandGraph::add(const CommandPtr& command, std::span<const EventId> waits) {
  Command::Dependencies& dependencies = command->dependencies;
  const ClientState& client = command->client->state;
  for (const EventId event : waits) {
    if (const auto it = client.open.find(event); it != client.open.end()) add_edge(command, it->second, false);
    if (client.failed.contains(event)) dependencies.failed = true;
  }
  order_in_queue(command, !waits.empty() || dependencies.failed);
  if (command->event != kNoEvent) register_event(command);
  if (dependencies.unmet == 0) make_ready(command);
}

void CommandGraph::register_event(const CommandPtr& command) {
  ClientState& client = command->client->state;
  CommandPtr& place = client.open[command->event];
  if (place) {
    std::erase_if(client.displaced, [](const CommandPtr& c) { return c->state() == Command::State::done; });
    client.displaced.push_back(std::move(place));
  }
  place = command;
  client.failed.erase(command->event);
}

CommandPtr CommandGraph::find(const Client& client, EventId event) {
  const auto it = client.state.open.find(event);
  return it == client.state.open.end() ? nullptr : it->second;
}

std::vector<CommandPtr> CommandGraph::take_unfinishable(Client& client) {
  std::vector<CommandPtr> found = std::move(client.state.displaced);
  client.state.displaced.clear();
  for (const auto& [event, command] : client.state.open) found.push_back(command);
  std::erase_if(found, [](const CommandPtr& c) { return c->queue && c->state() != Command::State::host_access; });
  return found;
}

CommandPtr CommandGraph::take_ready() {
  CommandPtr command = std::move(ready_.front());
  ready_.pop_front();
  return command;
}

void CommandGraph::release_followers(const CommandPtr& on) {
  Command& command = *on;
  for (Command::Edge& edge : command.dependencies.dependents) {
    const CommandPtr& next = edge.command;
    if (!edge.order_only || edge.same_queue || next->queue != command.queue || !admission_.may_follow(*next, command)) {
      continue;
    }
    edge.same_queue = true;
    ++next->dependencies.unobserved;
    next->dependencies.on_queue = on;
    if (--next->dependencies.unmet == 0) make_ready(next);
  }
}

void CommandGraph::close_event(const CommandPtr& command, Status status) {
  if (command->event == kNoEvent) return;
  ClientState& client = command->client->state;
  const auto place = client.open.find(command->event);
  if (place != client.open.end() && place->second == command) client.open.erase(place);
  if (status < 0) client.failed[command->event] = status;
  command->client->show_completion(*command);
}

}  // namespace wm::runtime

#include "runtime/daemon/scheduler.h"

#include <algorithm>
#include <chrono>

#include "runtime/daemon/device_limits.h"
#include "runtime/daemon/session.h"

namespace wm::runtime {
namespace {

constexpr std::uint32_t kMostUnflushed = 7;
constexpr cl_int kFailedBefore = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

bool only_orders(Work work) { return work == Work::marker || work == Work::barrier; }
bool for_device(Work work) { return !only_orders(work) && work != Work::host; }

struct Call {
  Scheduler* scheduler;
  NodePtr node;
  std::shared_ptr<Squad> squad;
};

}  // namespace

Scheduler::Scheduler(Native& native, Census& census, const gpu::SmLimits& device,
                     std::unique_ptr<policy::Policy> policy, bool pass_through, double short_launch)
    : native_(native),
      census_(census),
      policy_(std::move(policy)),
      pass_through_(pass_through),
      short_alone_(3 * short_launch),
      short_in_company_(short_launch),
      one_by_one_(native.in_host_memory()),
      releases_(native, [&census] { return census.events == 0; }),
      words_(native),
      bells_(native),
      local_reserve_(local_reserve(native)),
      machine_(device, 1, !one_by_one_) {
  policy_->on(policy::Started{}, machine_);
  if (native.in_host_memory()) {
    listener_ = std::thread([this] { listen(); });
    return;
  }
  listener_ = std::thread([this] { look(); });
  constexpr int kCarriers = 4;
  for (int i = 0; i < kCarriers; ++i) carriers_.emplace_back([this] { carry_on(); });
}

Scheduler::~Scheduler() {
  // The device calls back for what it still runs.
  while (census_.events != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  {
    const std::lock_guard lock(news_mutex_);
    stop_ = true;
  }
  news_.notify_all();
  cargo_there_.notify_all();
  listener_.join();
  for (std::thread& carrier : carriers_) carrier.join();
}

std::uint64_t Scheduler::now() const {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void Scheduler::depend(const NodePtr& node, const NodePtr& on, bool order) {
  if (on == nullptr || on == node || on->state == Node::State::done) return;
  Node::Edge edge{node, order, false};
  // Already on the native queue that this one goes to: the device keeps their order. Workers may be sent again, and
  // would be overtaken.
  edge.early =
      order && on->state == Node::State::submitted && !on->workers && on->queue == node->queue && may_follow(*node);
  if (!edge.early && on->state == Node::State::submitted) make_heard(*on);
  ++(edge.early ? node->trails : node->waits);
  on->after.push_back(std::move(edge));
}

bool Scheduler::may_follow(const Node& node) const {
  if (!for_device(node.work) || node.carried || !node.queue || !node.queue->in_order) return false;
  if (node.launch != nullptr && node.launch->prints) return false;
  if (node.launch == nullptr || pass_through_) return true;
  const Standing& client = node.client->standing;
  if (client.riders >= kMostRiders) return false;
  const bool by_itself = alone(*node.client);
  return (by_itself && !node.launch->form->workers) || is_short(node, client.ahead_nanoseconds, by_itself);
}

void Scheduler::order_in_queue(const NodePtr& node, bool explicit_waits) {
  Queue& queue = *node->queue;
  if (queue.in_order) {
    depend(node, queue.last.lock(), true);
    queue.last = node;
    return;
  }
  depend(node, queue.barrier.lock(), true);
  std::erase_if(queue.open, [](const auto& weak) {
    const NodePtr open = weak.lock();
    return open == nullptr || open->state == Node::State::done;
  });
  const bool after_all = only_orders(node->work) && !explicit_waits;
  for (const auto& weak : queue.open) {
    if (after_all) depend(node, weak.lock(), true);
  }
  queue.open.push_back(node);
  if (node->work == Work::barrier) queue.barrier = node;
}

void Scheduler::add(const NodePtr& node, std::span<const std::uint32_t> waits) {
  const std::lock_guard lock(mutex_);
  Standing& client = node->client->standing;
  ++client.figures.outstanding;
  ++client.figures.commands;
  ++node->client->outstanding;
  node->client->outstanding_bytes += node->message_bytes;
  ++census_.commands;
  node->received = now();
  for (const std::uint32_t slot : waits) {
    if (const auto it = client.open.find(slot); it != client.open.end()) depend(node, it->second, false);
    if (client.failed.contains(slot)) node->doomed = true;
  }
  order_in_queue(node, !waits.empty() || node->doomed);
  if (node->slot != kNoSlot) put_in_slot(node);
  if (node->waits == 0) ready_.push_back(node);
  work();
}

// A slot is one command's until it has ended. What a client that holds otherwise displaces is remembered: user events
// have no end of their own, and whatever waits for them would stay.
void Scheduler::put_in_slot(const NodePtr& node) {
  Standing& client = node->client->standing;
  NodePtr& place = client.open[node->slot];
  if (place) {
    std::erase_if(client.displaced, [](const NodePtr& n) { return n->state == Node::State::done; });
    client.displaced.push_back(std::move(place));
  }
  place = node;
  client.failed.erase(node->slot);
}

void Scheduler::add_user_event(const std::shared_ptr<Session>& client, std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  auto node = std::make_shared<Node>();
  node->client = client;
  node->slot = slot;
  put_in_slot(node);
  ++client->standing.figures.outstanding;
  ++client->outstanding;
  ++census_.commands;
}

void Scheduler::set_user_event(Session& client, std::uint32_t slot, cl_int status) {
  const std::lock_guard lock(mutex_);
  const auto it = client.standing.open.find(slot);
  if (it == client.standing.open.end() || it->second->queue) return;
  finish(NodePtr(it->second), std::min(status, cl_int{CL_COMPLETE}));
  work();
}

void Scheduler::end_host_access(Session& client, std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  const auto it = client.standing.open.find(slot);
  if (it == client.standing.open.end() || !it->second->lent) return;
  finish(NodePtr(it->second), CL_COMPLETE);
  work();
}

void Scheduler::drop(Session& client) {
  const std::lock_guard lock(mutex_);
  // What nobody will end any more ends here; what waits for it is swept out with it.
  std::vector<NodePtr> users;
  for (const auto& [slot, node] : client.standing.open) {
    if (!node->queue || node->lent) users.push_back(node);
  }
  users.insert(users.end(), client.standing.displaced.begin(), client.standing.displaced.end());
  std::erase_if(users, [](const NodePtr& node) { return node->queue && !node->lent; });
  client.standing.displaced.clear();
  for (const NodePtr& node : users) finish(node, kFailedBefore);
  // Kernels that have arrived and not started leave the company.
  std::vector<NodePtr> waiting;
  for (const auto& [id, node] : running_) {
    if (node->client.get() == &client && node->state == Node::State::waiting) waiting.push_back(node);
  }
  for (const NodePtr& node : waiting) finish(node, kFailedBefore);
  drop_printers(client);
  call_off_workers(client);
  abandon_kernels(client);
  work();
}

// Everything that follows from what has just happened.
void Scheduler::work() {
  machine_.set_now(Cycles{now()});
  while (!ready_.empty() || regroup_) {
    while (!ready_.empty()) {
      const NodePtr node = std::move(ready_.front());
      ready_.pop_front();
      submit(node);
    }
    if (!regroup_) continue;
    regroup_ = false;
    policy_->on(policy::Regrouped{}, machine_);
    shrink_to_caps();
    machine_.dispatch([this](policy::KernelId kernel, std::uint32_t groups) { start(kernel, groups); },
                      errands_ != 0 ? 1 : 0);
  }
}

void Scheduler::submit(const NodePtr& node) {
  const bool dropped = node->doomed || node->client->closed();
  if (!dropped && node->slot != kNoSlot) node->client->show(node->slot, CL_SUBMITTED);
  if (dropped) {
    finish(node, kFailedBefore);
  } else if (node->work == Work::host) {
    node->lent = true;
    node->client->show(node->slot, CL_RUNNING);
  } else if (!for_device(node->work)) {
    finish(node, CL_COMPLETE);
  } else if (waits_to_print(node)) {
    printers_.push_back(node);
  } else if (node->launch && node->trails != 0 && (pass_through_ || has_kernel(*node->client))) {
    ride(node);
  } else if (node->launch) {
    arrive(node);
  } else if (node->carried) {
    carry(node);
  } else {
    cl_event event = nullptr;
    node->submitted = now();
    const cl_int status = node->run(node->queue->native.get(), &event);
    if (status == CL_SUCCESS) begin_errand(*node);
    on_device(node, status, event);
  }
}

// The device has it, or has refused it.
void Scheduler::on_device(const NodePtr& node, cl_int status, cl_event event, const std::shared_ptr<Squad>& squad,
                          cl_command_queue to) {
  if (status != CL_SUCCESS) {
    doubt_ = true;
    finish(node, status);
    return;
  }
  ++census_.events;
  node->state = Node::State::submitted;
  if (node->slot != kNoSlot) node->client->show(node->slot, CL_RUNNING);
  const cl_command_queue queue = to != nullptr ? to : node->queue->native.get();
  if (native_.in_host_memory()) {
    native_.cl.SetEventCallback(event, CL_COMPLETE, &Scheduler::on_ended, new Call{this, node, squad});
  } else {
    watch(queue, to == nullptr && node->queue->in_order, {node, event, CL_QUEUED, squad});
  }
  // A flush costs as much as a tenth of a launch; the next one's will do.
  const bool may_wait = node->followed && node->queue->in_order && !squad && !native_.in_host_memory();
  if (may_wait && node->queue->unflushed < kMostUnflushed) {
    ++node->queue->unflushed;
  } else {
    native_.cl.Flush(queue);
    node->queue->unflushed = 0;
  }
  // Workers may be sent again: what follows on the native queue would overtake them.
  if (squad) return;
  node->queue->sent = node;
  let_follow(*node);
}

void Scheduler::let_follow(Node& node) {
  for (Node::Edge& edge : node.after) {
    if (!edge.order || edge.early || edge.node->queue != node.queue || !may_follow(*edge.node)) continue;
    edge.early = true;
    ++edge.node->trails;
    if (--edge.node->waits == 0) ready_.push_back(edge.node);
  }
}

void CL_CALLBACK Scheduler::on_ended(cl_event event, cl_int status, void* data) {
  const std::unique_ptr<Call> call(static_cast<Call*>(data));
  {
    const std::lock_guard lock(call->scheduler->news_mutex_);
    call->scheduler->ended_.push_back({std::move(call->node), event, status, std::move(call->squad)});
    call->scheduler->pending_.store(true, std::memory_order_release);
  }
  call->scheduler->news_.notify_one();
}

void Scheduler::listen() {
  for (;;) {
    std::vector<Ended> ended;
    {
      std::optional<Cycles> alarm;
      bool busy = false;  // something is on the device
      {
        const std::lock_guard lock(mutex_);
        alarm = machine_.next_alarm();
        busy = census_.events != 0;
      }
      if (busy) spin_until([this] { return pending_.load(std::memory_order_acquire); });
      std::unique_lock lock(news_mutex_);
      const auto news = [this] { return stop_ || !ended_.empty(); };
      if (alarm) {
        using Clock = std::chrono::steady_clock;
        news_.wait_until(lock, Clock::time_point(Clock::duration(alarm->count)), news);
      } else {
        news_.wait(lock, news);
      }
      if (stop_ && ended_.empty()) return;
      ended.swap(ended_);
      pending_.store(false, std::memory_order_relaxed);
    }
    const std::lock_guard lock(mutex_);
    machine_.set_now(Cycles{now()});
    for (const Ended& e : ended) hear(e);
    ring();
    work();
  }
}

// What the policy wanted to be told by now.
void Scheduler::ring() {
  if (const auto due = machine_.next_alarm(); due && *due <= machine_.now()) {
    machine_.ring(*policy_);
    regroup_ = true;
  }
}

void Scheduler::hear(const Ended& ended) {
  Node& node = *ended.node;
  if (ended.status == CL_COMPLETE && !is_timed(node)) {
    guess_times(node, ended);
  } else if (ended.status == CL_COMPLETE && ended.time != 0 && !ended.times) {
    // Heard by its bell, and the driver does not tell yet: as we saw it, on the device's clock.
    note_times(node, {0, guessed_start(node, ended) + device_ahead_, ended.time + device_ahead_});
    node.queue->last_end = ended.time;
  } else if (ended.status == CL_COMPLETE) {
    note_times(node, ended.times ? *ended.times : times_of(ended.event, true));
  }
  if (ended.status < 0) doubt_ = true;
  if (ended.event != nullptr) native_.cl.ReleaseEvent(ended.event);
  --census_.events;
  if (ended.squad) return squad_ended(ended);
  node.status = ended.status;
  node.ended = true;
  if (node.trails == 0) finish(ended.node, ended.status);
}

Scheduler::DeviceTimes Scheduler::times_of(cl_event event, bool queued) const {
  const auto time = [&](cl_profiling_info name) {
    cl_ulong value = 0;
    native_.cl.GetEventProfilingInfo(event, name, sizeof value, &value, nullptr);
    return std::uint64_t{value};
  };
  return {queued ? time(CL_PROFILING_COMMAND_QUEUED) : 0, time(CL_PROFILING_COMMAND_START),
          time(CL_PROFILING_COMMAND_END)};
}

// The driver's mark is set some time after ours, a long time where we were interrupted between them: what is seen is
// never too little. Clocks drift by less than a part in 2048; one that leaps was set anew.
void Scheduler::compare_clocks(std::uint64_t ahead) {
  constexpr std::int64_t kLeap = 1'000'000'000;
  const std::uint64_t at = now();
  const std::uint64_t before = clocks_compared_;
  const auto drift = static_cast<std::int64_t>((at - before) / 2048);
  const auto more = static_cast<std::int64_t>(ahead - device_ahead_);
  const bool late = before != 0 && more > drift && more < kLeap;
  device_ahead_ = late ? device_ahead_ + static_cast<std::uint64_t>(drift) : ahead;
  clocks_compared_ = at;
}

void Scheduler::note_times(Node& node, const DeviceTimes& times) {
  node.ended_at = std::max(node.ended_at, times.ended);
  if (node.started_at != 0) return;  // not its first squad
  node.started_at = times.started;
  // The other two are the daemon's, on the device's clock.
  if (times.queued != 0) compare_clocks(times.queued - node.submitted);
  node.submitted_at = std::min(node.submitted + device_ahead_, node.started_at);
  node.queued_at = std::min(node.received + device_ahead_, node.submitted_at);
}

// Where the device was not asked: since it was given it, or since the one before ended.
std::uint64_t Scheduler::guessed_start(const Node& node, const Ended& ended) {
  return std::min(std::max(node.submitted, node.queue->last_end), ended.time);
}

// Of several that were seen to have ended at once each took its part.
void Scheduler::guess_times(Node& node, const Ended& ended) {
  Queue& queue = *node.queue;
  const std::uint64_t start = guessed_start(node, ended);
  node.ended_at = start + (ended.time - start) / ended.among;
  if (node.started_at == 0) node.started_at = start;
  queue.last_end = node.ended_at;
}

void Scheduler::finish(const NodePtr& node, cl_int status) {
  if (node->state == Node::State::done) return;
  node->state = Node::State::done;
  node->status = status;
  Standing& client = node->client->standing;
  --client.figures.outstanding;
  --node->client->outstanding;
  node->client->outstanding_bytes -= node->message_bytes;
  --census_.commands;
  if (node->kernel != policy::kNobody) {
    running_.erase(node->kernel.index);
    machine_.finish(node->kernel);
    policy_->on(policy::KernelDone{node->kernel}, machine_);
    regroup_ = true;
  }
  if (node->held) {
    machine_.give_back(node->held->footprint, node->held->groups);
    std::erase(left_behind_, node);
    regroup_ = true;
  }
  if (node->rides) end_ride(*node);
  if (node->errand) end_errand(*node);
  // Of what never was on the device: the daemon's times, on the device's clock.
  if (node->queue && node->ended_at == 0) {
    node->queued_at = node->received + device_ahead_;
    node->submitted_at = node->started_at = node->ended_at = now() + device_ahead_;
  }
  if (node->launch && node->ended) {
    client.figures.device_nanoseconds += node->ended_at - node->started_at;
    client.figures.workers = 0;
    learn(*node);
  }
  if (node == printing_) end_printing(node);
  if (node->slot != kNoSlot) {
    const auto place = client.open.find(node->slot);
    if (place != client.open.end() && place->second == node) client.open.erase(place);
    if (status < 0) client.failed[node->slot] = status;
    node->client->show_end(*node);
  }
  release_dependents(*node, status);
  // Lets go of the objects it used.
  if (node->carried) sweeper_.take(std::make_shared<decltype(node->run)>(std::move(node->run)));
  node->run = nullptr;
  node->launch.reset();
  node->workers.reset();
}

void Scheduler::release_dependents(Node& node, cl_int status) {
  const auto after = std::move(node.after);
  node.after.clear();
  for (const Node::Edge& edge : after) {
    Node& next = *edge.node;
    if (status < 0 && !edge.order) next.doomed = true;
    if (edge.early) {
      if (--next.trails != 0) continue;
      if (next.ended) {
        finish(edge.node, next.status);
      } else if (next.rides) {
        adopt(edge.node);
      }
    } else if (--next.waits == 0) {
      ready_.push_back(edge.node);
    }
  }
}

Figures Scheduler::figures(const Session& client) {
  const std::lock_guard lock(mutex_);
  Figures figures = client.standing.figures;
  for (const auto& [id, node] : running_) {
    if (node->client.get() != &client || node->state != Node::State::submitted) continue;
    figures.running_nanoseconds = std::max(figures.running_nanoseconds, now() - node->submitted);
  }
  return figures;
}

std::vector<Scheduler::Leftover> Scheduler::leftovers() {
  const std::lock_guard lock(mutex_);
  std::vector<Leftover> all;
  for (const NodePtr& node : left_behind_) {
    all.push_back({node->client, node->launch->kernel->name, now() - node->submitted, now() - node->held->since});
  }
  return all;
}

}  // namespace wm::runtime

// The scheduler under random commands of three clients, on devices of every kind: every command ends, nothing is left,
// and the course of every run is as written down in golden_schedule.csv.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

#include "policy/policy.h"
#include "runtime/schedule/callback_completion.h"
#include "runtime/schedule/fixture.h"
#include "runtime/schedule/golden_run.h"
#include "runtime/schedule/polling_completion.h"
#include "runtime/schedule/scheduler.h"

namespace wm::runtime::test {
namespace {

// Decides at random, so that these runs depend on no policy of the project.
class RandomDecisions final : public policy::Policy {
 public:
  explicit RandomDecisions(std::uint64_t seed) : random_(seed) {}

  void on(const policy::Started&, policy::Machine& gpu) override {
    if (gpu.can(policy::Can::quotas)) gpu.set_epoch(Cycles{400'000});
  }
  void on(const policy::KernelSetChanged&, policy::Machine& gpu) override {
    for (const policy::Kernel& k : gpu.kernels()) decide(gpu, k.id);
  }
  void on(const policy::Epoch&, policy::Machine& gpu) override {
    for (const policy::Kernel& k : gpu.kernels()) {
      for (const policy::Sm& sm : gpu.sms()) gpu.set_quota(sm.id, k.id, policy::kNoQuota);
    }
  }
  void on(const policy::QuotaSpent& e, policy::Machine& gpu) override { gpu.add_quota(e.sm, e.kernel, 5'000'000); }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  void decide(policy::Machine& gpu, policy::KernelId kernel) {
    const policy::SmId sm{below(static_cast<std::uint32_t>(gpu.sms().size()))};
    const std::uint32_t number = 1 + below(6);
    switch (below(gpu.can(policy::Can::own_sms) ? 12 : 6)) {
      case 0:
      case 1:
        return gpu.cap(sm, kernel, number);
      case 2:
        return gpu.cap(sm, kernel, policy::kNoCap);
      case 3:
        return gpu.order(std::span(&kernel, 1));
      case 4:
        return gpu.wake_at(Cycles{gpu.now().count + 100'000}, number);
      case 6:
      case 7:
        return gpu.give(sm, kernel, policy::Preempt::drain);
      case 8:
        return gpu.share(sm);
      case 9:
        return gpu.set_quota(sm, kernel, 2'000'000 * number);
      default:
        return;
    }
  }

  std::mt19937_64 random_;
};

struct Device {
  const char* name;
  Capabilities capabilities;
  AdmissionOptions options;
  bool has_flags = false;

  friend void PrintTo(const Device& device, std::ostream* out) { *out << device.name; }
};

Capabilities sharing() {
  Capabilities c = polled_device();
  c.shares_launches = c.gates = c.free_timestamps = true;
  return c;
}
Capabilities with_sms() {
  Capabilities c = sharing();
  c.limits_workers_by_unit = true;
  return c;
}
Capabilities printing() {
  Capabilities c = callback_device();
  c.printf_needs_finish = true;
  return c;
}

std::vector<Device> devices() {
  return {{"cpu", callback_device(), {}},
          {"printing cpu", printing(), {.short_launch = 0}},
          {"gpu", polled_device(), {}},
          {"gpu with flags", polled_device(), {.short_launch = 20'000}, true},
          {"fifo", callback_device(), {.pass_through = true}},
          {"fifo gpu", polled_device(), {.pass_through = true}, true},
          {"shared launches", sharing(), {.headroom = 0.25, .gates = true}},
          {"sms", with_sms(), {.short_launch = 0, .isolated_short_launch = 0, .real_sms = true}},
          {"sms and short launches", with_sms(), {.real_sms = true}, true}};
}

class RandomSchedule {
 public:
  RandomSchedule(const Device& device, unsigned seed) : random_(seed), device_(device), backend_(device.capabilities) {
    backend_.has_flags = device.has_flags;
    scheduler_.emplace(backend_, counts_, std::make_unique<RandomDecisions>(seed), device.options, clock_);
    for (std::uint64_t i = 0; i < 3; ++i) {
      clients_.push_back(std::make_shared<FakeClient>());
      for (const bool in_order : {true, false}) {
        queues_.push_back(make_queue(in_order, i != 1));
        queues_.back()->number = queues_.size();
      }
    }
    clients_[1]->state.statistics.priority = 3;
    clients_[1]->state.statistics.goal_nanoseconds = 200'000;
    clients_[2]->state.statistics.goal_part = 0.4;
    clients_[2]->state.statistics.share = 2;
  }

  std::string outcome(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (i % 180 == 179) {
        scheduler_->set_policy(std::make_unique<RandomDecisions>(static_cast<std::uint64_t>(i)), device_.options);
      }
      step();
      write_down();
    }
    end();
    return fmt::format("{} submitted {} flushed {} complete,{}", backend_.submitted.size(), backend_.flushes, complete_,
                       digest_.text());
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void launch(std::size_t client, const std::shared_ptr<Queue>& queue, std::vector<EventId> waits) {
    static constexpr double kTimes[] = {0, 1000, 2500, 10'000, 50'000, 400'000};
    const std::uint32_t kernel = below(3);
    LaunchOptions options;
    options.groups = 1 + below(below(3) == 0 ? 4 : 60);
    options.workers = below(3) != 0;
    options.group_nanoseconds = kTimes[below(6)];
    options.prints = below(9) == 0;
    options.event = event();
    CommandPtr command = make_launch(clients_[client], queue, std::string(1, static_cast<char>('a' + kernel)), options);
    command->start_awaited = true;  // refused commands do not end the queues of a run
    LaunchPlan& plan = *command->launch;
    plan.kernel->function = kernel + 1;
    plan.local_bytes = 64 * below(3);
    if (below(4) == 0) {
      plan.dimensions = 2;
      plan.global[1] = 8;
      plan.local[1] = 4;
    }
    plan.offset = {below(3), below(3), 0};
    plan.local_given = below(5) != 0;
    plan.may_run_unmodified = below(5) != 0;
    auto form = std::make_shared<KernelForm>(*plan.form);
    form->chunk = kernel == 2 ? 2 : kernel;
    form->max_chunk = 1 + 3 * kernel;
    form->registers = 16 * below(3);
    form->extra_local_bytes = 32 * below(2);
    plan.form = form;
    command->message_bytes = 100;
    command->next_queued = below(4) == 0;
    digest_.add(scheduler_->prefers_unmodified(*clients_[client], plan));
    digest_.add(scheduler_->local_size_of_workers(plan).value_or(Size3{})[0]);
    add(command, std::move(waits));
  }
  // Half of the commands have an event.
  EventId event() { return below(2) == 0 ? kNoEvent : next_event_++; }
  void add(const CommandPtr& command, std::vector<EventId> waits) {
    commands_.push_back(command);
    scheduler_->add(command, waits);
  }

  void request() {
    const std::uint32_t client = below(3);
    const auto& queue = queues_[client * 2 + (below(4) == 0 ? 1 : 0)];
    std::vector<EventId> waits;
    if (below(4) == 0 && next_event_ > 3) waits.push_back(next_event_ - 1 - below(3));
    const std::uint32_t what = below(16);
    if (what < 9) return launch(client, queue, waits);
    if (what < 12) return add(make_transfer(backend_, clients_[client], queue, event()), waits);
    if (what == 12) return add(make_command(clients_[client], queue, CommandType::marker, event()), waits);
    if (what == 13) return add(make_command(clients_[client], queue, CommandType::barrier, event()), waits);
    if (what == 14) {
      user_events_.emplace_back(client, next_event_);
      scheduler_->add_user_event(clients_[client], next_event_++);
      return;
    }
    host_accesses_.emplace_back(client, next_event_);
    add(make_command(clients_[client], queue, CommandType::host_access, next_event_++), waits);
  }

  void answer() {
    if (!user_events_.empty()) {
      const auto [client, event] = user_events_.front();
      user_events_.erase(user_events_.begin());
      scheduler_->set_user_event(*clients_[client], event, below(8) == 0 ? -14 : status::kComplete);
    }
    if (!host_accesses_.empty()) {
      const auto [client, event] = host_accesses_.front();
      scheduler_->end_host_access(*clients_[client], event);
      if (clients_[client]->shown(event) <= 0) host_accesses_.erase(host_accesses_.begin());
    }
  }

  // The oldest command of some queue ends.
  void complete_one() {
    const std::size_t first = backend_.submitted.empty() ? 0 : below(6);
    std::size_t found = backend_.submitted.size(), seen = 0;
    std::vector<const QueueObject*> passed;
    for (std::size_t i = 0; i < backend_.submitted.size(); ++i) {
      const FakeBackend::Submitted& s = backend_.submitted[i];
      if (s.complete || s.event == nullptr) continue;
      if (std::find(passed.begin(), passed.end(), s.queue) != passed.end()) continue;
      found = i;
      if (seen++ == first) break;
      passed.push_back(s.queue);
    }
    if (found == backend_.submitted.size()) return;
    for (const auto& word : backend_.queue_words) {
      if (const auto alive = word.lock()) alive->value += below(40);
    }
    const KernelLaunch& l = backend_.submitted[found].launch;
    if (l.workers) {
      auto& counters = const_cast<FakeCounters&>(static_cast<const FakeCounters&>(*l.workers->counters));
      counters.taken += below(50);
      counters.started += l.workers->workers;
      counters.complete = below(3) != 0;
    }
    const Status status = below(150) == 0 ? status::kOutOfResources : below(60) == 0 ? -54 : status::kComplete;
    const std::uint64_t ended = clock_.time - 100 * below(4);
    backend_.complete(found, status, ended - 500 - 100 * below(5), ended);
    ++complete_;
  }

  void observe() {
    if (auto* callbacks = dynamic_cast<CallbackCompletion*>(&scheduler_->completions())) callbacks->deliver();
    if (auto* polling = dynamic_cast<PollingCompletion*>(&scheduler_->completions())) polling->poll();
  }

  void step() {
    // Round numbers meet the limits of the code exactly.
    static constexpr std::uint64_t kPauses[] = {0,    0,      100,    500,    1000,   2000,    3000,    5000,
                                                5000, 10'000, 10'000, 20'000, 50'000, 100'000, 200'000, 300'000};
    clock_.time += kPauses[below(16)];
    const std::uint32_t what = below(20);
    if (what < 8) {
      if (below(50) == 0) backend_.next_status = -5;
      request();
    } else if (what < 15) {
      complete_one();
    } else if (what == 15) {
      answer();
    } else if (what == 16 && below(4) == 0) {
      const std::uint32_t client = below(3);
      const int priority = static_cast<int>(below(5));
      scheduler_->set_weights(*clients_[client], priority, 1 + below(4));
    } else if (what == 18 && below(4) == 0) {  // many launches on one queue
      const std::uint32_t client = below(3);
      for (int i = 0; i < 20; ++i) launch(client, queues_[client * 2], {});
    } else if (what == 17 && below(12) == 0 && !clients_[0]->gone) {
      clients_[0]->gone = true;
      scheduler_->drop(*clients_[0]);
      clients_[0] = std::make_shared<FakeClient>();
      queues_[0] = make_queue(true);
      queues_[1] = make_queue(false);
      queues_[0]->number = next_queue_++;
      queues_[1]->number = next_queue_++;
      std::erase_if(user_events_, [](const auto& e) { return e.first == 0; });
      std::erase_if(host_accesses_, [](const auto& e) { return e.first == 0; });
    }
    observe();
  }

  void write_down() {
    for (; written_ < backend_.submitted.size(); ++written_) {
      const FakeBackend::Submitted& s = backend_.submitted[written_];
      digest_.add(s.what, s.event != nullptr, s.sharing.priority, s.sharing.max_groups_per_unit, s.sharing.unit_share,
                  s.sharing.yields, s.sharing.holds_gates, s.launch.dimensions);
      for (const std::size_t d : {0U, 1U, 2U}) {
        digest_.add(s.launch.offset[d], s.launch.global[d], s.launch.local.value_or(Size3{})[d]);
      }
      if (const auto& w = s.launch.workers) {
        digest_.add(w->workers, w->chunk, w->beside_queue, w->before != nullptr, w->groups_before);
      }
    }
    digest_.add(backend_.flushes, backend_.finishes, backend_.open_events, counts_.events.load(),
                counts_.commands.load(), scheduler_->orphaned_kernels().size(), scheduler_->take_failed_command());
    for (const auto& word : backend_.control_words) {
      if (const auto alive = word.lock()) digest_.add(alive->value);
    }
    for (const auto& weak : backend_.tables) {
      const auto table = weak.lock();
      if (!table) continue;
      digest_.add(table->begun, table->changes, table->questions);
      for (const std::uint32_t n : table->workers) digest_.add(n);
      for (const std::uint32_t n : table->quotas) digest_.add(n);
    }
    for (const auto& client : clients_) {
      const ClientStatistics s = scheduler_->statistics(*client);
      digest_.add(s.commands, s.launches, s.outstanding, s.device_nanoseconds, s.waited_nanoseconds,
                  s.turnaround_nanoseconds, s.isolated_nanoseconds, s.estimated_launches, s.as_workers,
                  s.queued_workers, s.repeated_workers, s.running_nanoseconds, s.workers, s.kernel, s.priority, s.share,
                  client->state.pipelined_launches, client->state.pipelined_nanoseconds, client->outstanding.load(),
                  client->outstanding_bytes.load());
      for (const auto& [event, state] : client->states) digest_.add(event, state);
    }
    for (const CommandPtr& c : commands_) {
      if (c->state() != Command::State::done) continue;
      digest_.add(c->status, c->times.received, c->times.ready, c->times.submitted, c->times.device_queued,
                  c->times.device_submitted, c->times.device_started, c->times.device_ended);
    }
    std::erase_if(commands_, [](const CommandPtr& c) { return c->state() == Command::State::done; });
  }

  // All commands end, one way or the other.
  void end() {
    for (const auto& client : clients_) {
      client->gone = true;
      scheduler_->drop(*client);
    }
    for (int i = 0; i < 3000 && counts_.commands != 0; ++i) {
      clock_.time += 50'000;
      complete_one();
      observe();
    }
    write_down();
    EXPECT_EQ(counts_.commands, 0);
    EXPECT_EQ(counts_.events, 0);
    EXPECT_EQ(backend_.open_events, 0U);
    EXPECT_TRUE(scheduler_->orphaned_kernels().empty());
  }

  std::mt19937_64 random_;
  const Device& device_;
  FakeBackend backend_;
  ManualClock clock_;
  ObjectCounts counts_;
  std::optional<Scheduler> scheduler_;
  std::vector<std::shared_ptr<FakeClient>> clients_;
  std::vector<std::shared_ptr<Queue>> queues_;  // two for each client, in order and out of order
  std::vector<CommandPtr> commands_;
  std::vector<std::pair<std::uint32_t, EventId>> user_events_, host_accesses_;
  EventId next_event_ = 1;
  std::uint64_t next_queue_ = 100;
  std::size_t written_ = 0, complete_ = 0;
  Digest digest_;
};

class GoldenScheduler : public testing::TestWithParam<Device> {};

TEST_P(GoldenScheduler, RunsAsWrittenDown) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    expect_golden(fmt::format("scheduler {} {}", GetParam().name, seed), RandomSchedule(GetParam(), seed).outcome(540));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, GoldenScheduler, testing::ValuesIn(devices()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace wm::runtime::test

// Both machines of the runtime under random launches, decisions and observations: resources always add up, and the
// course of every run is as written down in golden_schedule.csv.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

#include "runtime/schedule/device_machine.h"
#include "runtime/schedule/golden_run.h"
#include "runtime/schedule/sm_machine.h"

namespace wm::runtime::test {
namespace {

using policy::KernelId;
using policy::kNoKernel;
using policy::SmId;

constexpr std::uint32_t kSms = 4;
constexpr gpu::SmLimits kLimits{.total = {2048, 65536, 1 << 16, 16}, .warp_threads = 32};

// Adds every event to the digest.
struct HearingPolicy final : policy::Policy {
  explicit HearingPolicy(Digest& into) : digest(into) {}
  void on(const policy::SmReady& e, policy::Machine&) override { hear(1, e.sm.index, e.owner.index); }
  void on(const policy::SmIdle& e, policy::Machine&) override { hear(2, e.sm.index, 0); }
  void on(const policy::QuotaSpent& e, policy::Machine&) override { hear(3, e.sm.index, e.kernel.index); }
  void on(const policy::Epoch& e, policy::Machine&) override { hear(4, e.length.count, 0); }
  void on(const policy::Wake& e, policy::Machine&) override { hear(5, e.tag, 0); }
  void hear(int what, std::uint64_t first, std::uint64_t second) {
    digest.add(what, first, second);
    ++events;
  }
  Digest& digest;
  std::uint32_t events = 0;
};

// The counts of the workers that have one id, over all launches of its stream.
struct Workers {
  std::vector<std::uint32_t> workers = std::vector<std::uint32_t>(kSms), done = workers, begun = workers;
  std::uint32_t left = 0;  // groups of this launch that are not done
};

template <typename Machine>
class RandomRun {
 public:
  template <typename... Arguments>
  explicit RandomRun(unsigned seed, Arguments&&... arguments)
      : random_(seed), machine_(std::forward<Arguments>(arguments)...) {}

  std::string outcome(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      step();
      write_down();
      check_resources();
    }
    return fmt::format("{} launches {} workers {} events,{}", launches_, started_, policy_.events, digest_.text());
  }

 private:
  static constexpr bool kHasSms = std::is_same_v<Machine, SmMachine>;

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  SmId any_sm() { return {below(static_cast<std::uint32_t>(machine_.sms().size()))}; }
  // A kernel with a launch, or none.
  KernelId any_kernel() {
    const auto kernels = machine_.kernels();
    return kernels.empty() ? kNoKernel : kernels[below(static_cast<std::uint32_t>(kernels.size()))].id;
  }

  void arrive() {
    static constexpr gpu::Resources kFootprints[] = {
        {512, 0, 0, 1}, {128, 4096, 0, 1}, {256, 0, 12 << 10, 1}, {64, 640, 512, 1}};
    const std::uint64_t stream = below(7);
    if (stream != 0 && active_.contains(stream)) return;
    RuntimeMachine::KernelArrival launch{.function = below(3),
                                         .priority = static_cast<int>(below(4)),
                                         .share = 1.0 + below(3),
                                         .footprint = kFootprints[below(4)],
                                         .groups = below(5) == 0 ? below(4) : below(300),
                                         .divisible = below(4) != 0,
                                         .stream = stream,
                                         .goal_nanoseconds = 500.0 * below(3),
                                         .isolated_nanoseconds = 700.0 * below(3),
                                         .group_instructions = below(2) == 0 ? 1U : 40U,
                                         .chunk = 1 + below(3)};
    const bool is_started = !launch.divisible && below(3) == 0;
    const KernelId id = is_started ? machine_.arrive_started(launch) : machine_.arrive(launch);
    if (stream != 0) active_[stream] = id;
    if constexpr (kHasSms) {
      if (machine_.begin_counts(id)) counts_[id.index] = {};
    }
    Workers& counted = counts_[id.index];
    std::fill(counted.workers.begin(), counted.workers.end(), 0U);
    counted.left = std::max(launch.groups, 1U);
    divisible_[id.index] = launch.divisible;
    ++launches_;
  }

  void forget_stream(KernelId id) {
    std::erase_if(active_, [&](const auto& entry) { return entry.second == id; });
  }

  void end(KernelId id) {
    if (divisible_[id.index] || below(2) == 0) {
      counts_[id.index].done[0] += counts_[id.index].left;  // the last groups ended unobserved
      machine_.finish(id);
    } else {  // the kernel outlives its client
      orphans_.push_back({machine_.find(id)->footprint, machine_.holds(id)});
      machine_.abandon(id);
    }
    forget_stream(id);
  }

  // Some groups end, some workers leave, and the machine is told.
  void progress(KernelId id) {
    Workers& counted = counts_[id.index];
    if (!divisible_[id.index]) return;
    if constexpr (kHasSms) {
      std::uint32_t room = counted.left;
      for (std::uint32_t sm = 0; sm < kSms; ++sm) {
        const std::uint32_t ended = std::min(below(6), counted.left);
        counted.done[sm] += ended;
        counted.left -= ended;
        counted.begun[sm] += machine_.quotas(id)[sm] != 0 ? below(8) : 0;
        counted.workers[sm] = std::min(below(3) == 0 ? below(5) : machine_.worker_limits(id)[sm], room);
        room -= counted.workers[sm];
      }
      SmMachine::Observed seen{counted.workers, counted.done, counted.begun};
      if (below(3) == 0) seen.untaken = below(counted.left + 1);
      seen.some_not_placed = below(5) == 0;
      machine_.observe(id, seen);
      if (below(12) == 0 && counted.left != 0) machine_.all_left(id);
    } else {
      counted.left -= std::min(counted.left, below(20));
      const std::uint32_t workers = below(5);
      machine_.left(id, workers, machine_.find(id)->blocks - counted.left);
    }
  }

  void decide(KernelId id) {
    const SmId sm = any_sm();
    const std::uint32_t many = below(100), few = many % 9;
    const bool lifts = below(5) == 0;
    switch (below(kHasSms ? 9 : 5)) {
      case 0:
        machine_.cap(sm, id, lifts ? policy::kNoCap : few);
        break;
      case 1: {
        const KernelId first[] = {id, any_kernel()};
        machine_.order(first);
        break;
      }
      case 2:
        machine_.set_weights(id, static_cast<int>(few), 1 + many);
        break;
      case 3:
        machine_.set_epoch(Cycles{many % 3 * 30'000});
        break;
      case 4:
        machine_.wake_at(Cycles{machine_.now().count / 10'000 * 10'000 + many % 8 * 10'000}, many);
        break;
      case 5:
        if constexpr (kHasSms) machine_.give(sm, id, policy::Preempt::drain);
        break;
      case 6:
        if constexpr (kHasSms) machine_.share(sm);
        break;
      case 7:
        if constexpr (kHasSms) machine_.set_quota(sm, id, lifts ? policy::kNoQuota : many);
        break;
      default:
        if constexpr (kHasSms) machine_.add_quota(sm, id, many);
    }
  }

  void dispatch() {
    machine_.dispatch(
        [&](KernelId id, std::uint32_t workers) {
          digest_.add(id.index, workers);
          started_ += workers;
        },
        below(3));
  }

  void step() {
    const KernelId id = any_kernel();
    const std::uint32_t what = below(20);
    if (id == kNoKernel || what < 3) return arrive();
    if (what < 7) return decide(id);
    if (what < 11) return progress(id);
    if (what < 15) return dispatch();
    if (what == 15) return end(id);
    if (what == 16 && !orphans_.empty()) {
      machine_.give_back(orphans_.front().footprint, orphans_.front().groups);
      orphans_.erase(orphans_.begin());
      return;
    }
    if (what == 17 && below(6) == 0) return machine_.forget_decisions();
    machine_.set_now(Cycles{machine_.now().count + 10'000 * below(9)});
    machine_.fire_due_alarms(policy_);
    machine_.deliver_events(policy_);
  }

  void write_down() {
    digest_.add(machine_.now().count, machine_.epoch_began().count, machine_.full(), machine_.has_events());
    digest_.add(machine_.next_alarm().value_or(Cycles{0}).count);
    for (const policy::Kernel& k : machine_.kernels()) {
      digest_.add(k.id.index, k.process, k.function, k.launch, k.priority, k.share, k.goal, k.isolated_ipc);
      digest_.add(k.first_arrived.count, k.arrived.count, k.instructions, k.warps_per_block, k.max_blocks_per_sm);
      digest_.add(k.blocks, k.done, k.resident, k.waiting, machine_.used(k.id), machine_.isolated_estimate(k.id));
      digest_.add(machine_.allowed(k.id), machine_.allowed_per_unit(k.id, 3), machine_.holds(k.id));
      if constexpr (kHasSms) {
        for (const std::uint32_t n : machine_.worker_limits(k.id)) digest_.add(n);
        for (const std::uint32_t n : machine_.quotas(k.id)) digest_.add(n);
        digest_.add(machine_.is_unsettled(k.id), below(4) == 0 && machine_.take_untold(k.id));
      }
    }
    for (const policy::Sm& sm : machine_.sms()) {
      digest_.add(sm.state, sm.owner.index, sm.next.index, sm.resident, sm.free.threads, sm.free.registers,
                  sm.free.shared_bytes, sm.free.blocks);
      for (const policy::ResidentKernel& r : machine_.residents(sm.id))
        digest_.add(r.resident, r.cap, r.quota, r.counters.thread_instructions);
    }
  }

  // Nothing is lost: what is free, and what kernels and orphans hold, is the device.
  void check_resources() {
    std::uint64_t blocks = 0, threads = 0, resident = 0;
    for (const policy::Sm& sm : machine_.sms()) {
      blocks += sm.free.blocks;
      threads += sm.free.threads;
      resident += sm.resident;
    }
    std::uint64_t of_kernels = 0;
    for (const policy::Kernel& k : machine_.kernels()) {
      blocks += machine_.holds(k.id);
      threads += std::uint64_t{machine_.holds(k.id)} * k.footprint.threads;
      of_kernels += k.resident;
      EXPECT_LE(k.done, k.blocks) << "kernel " << k.id.index;
    }
    for (const Orphan& o : orphans_) {
      blocks += o.groups;
      threads += std::uint64_t{o.groups} * o.footprint.threads;
    }
    const std::uint64_t sms = machine_.sms().size();
    EXPECT_EQ(blocks, sms * kLimits.total.blocks);
    EXPECT_EQ(threads, sms * kLimits.total.threads);
    EXPECT_EQ(resident, of_kernels);
  }

  struct Orphan {
    gpu::Resources footprint;
    std::uint32_t groups;
  };

  std::mt19937_64 random_;
  Machine machine_;
  Digest digest_;
  HearingPolicy policy_{digest_};
  std::map<std::uint64_t, KernelId> active_;  // by stream
  std::map<std::uint32_t, Workers> counts_;   // by id
  std::map<std::uint32_t, bool> divisible_;
  std::vector<Orphan> orphans_;
  std::uint32_t launches_ = 0, started_ = 0;
};

class GoldenMachine : public testing::TestWithParam<unsigned> {};

TEST_P(GoldenMachine, WithSmsRunsAsWrittenDown) {
  expect_golden(fmt::format("sms {}", GetParam()), RandomRun<SmMachine>(GetParam(), kLimits, kSms, 1).outcome(4000));
}

TEST_P(GoldenMachine, OfAWholeDeviceRunsAsWrittenDown) {
  for (const bool queues : {false, true}) {
    expect_golden(fmt::format("device {}{}", GetParam(), queues ? " queues" : ""),
                  RandomRun<DeviceMachine>(GetParam(), kLimits, 1, queues).outcome(2000));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GoldenMachine, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace wm::runtime::test

// The device as a Machine: what policies see of it, and how their decisions are carried out.
#include "runtime/schedule/device_machine.h"

#include <gtest/gtest.h>
#include <map>

#include "policy/registry.h"

namespace wm::runtime {
namespace {

using policy::KernelId;

// A device of `units` compute units that run a group each, with a policy on it.
class Device {
 public:
  Device(const std::string& policy, std::uint32_t units)
      : machine({.total = {1024 * units, 1 << 20, 1 << 20, units}, .warp_threads = 1}, 1) {
    const auto choice = policy::choose(policy);
    auto made = policy::make(*choice, DeviceMachine::capabilities(), "device");
    EXPECT_TRUE(made.ok()) << made.error().what;
    policy_ = std::move(*made);
    policy_->on(policy::Started{}, machine);
  }
  KernelId arrive(std::uint32_t groups, bool divisible) {
    const KernelId id = machine.arrive({0, 0, 1, {64, 0, 0, 1}, groups, divisible});
    policy_->on(policy::KernelArrived{id}, machine);
    return id;
  }
  void done(KernelId id) {
    machine.finish(id);
    policy_->on(policy::KernelDone{id}, machine);
  }
  void abandon(KernelId id) {
    machine.abandon(id);
    policy_->on(policy::KernelDone{id}, machine);
  }
  // Groups started by now, by kernel.
  std::map<std::uint32_t, std::uint32_t> settle() {
    policy_->on(policy::KernelSetChanged{}, machine);
    machine.dispatch([this](KernelId id, std::uint32_t n) { started[id.index] += n; });
    return started;
  }
  void check_books() const {
    gpu::Resources used;
    for (const policy::Kernel& k : machine.kernels()) {
      used.threads += k.footprint.threads * k.resident;
      used.blocks += k.resident;
      EXPECT_EQ(k.done + k.resident + k.waiting, k.blocks);
    }
    EXPECT_EQ(used.threads + machine.sms()[0].free.threads, machine.limits().total.threads);
    EXPECT_EQ(used.blocks + machine.sms()[0].free.blocks, machine.limits().total.blocks);
  }

  DeviceMachine machine;
  std::map<std::uint32_t, std::uint32_t> started;

 private:
  std::unique_ptr<policy::Policy> policy_;
};

// A kernel that cannot be stopped keeps its unit; the policy sees only the others, and they get the rest.
TEST(DeviceMachine, GroupsThatADeviceHasQueuedTakeTheRoomOfThoseThatEnd) {
  for (const bool queues : {true, false}) {
    DeviceMachine machine({.total = {4096, 0, 0, 4}, .warp_threads = 1}, 1, queues);
    const auto start = [](KernelId, std::uint32_t) {};
    const KernelId first = machine.arrive({.footprint = {64, 0, 0, 1}, .groups = 3});
    const KernelId second = machine.arrive({.footprint = {64, 0, 0, 1}, .groups = 9});
    machine.dispatch(start);
    EXPECT_EQ(machine.find(second)->resident, 1U);
    machine.finish(first);
    machine.dispatch(start);
    EXPECT_EQ(machine.find(second)->resident, queues ? 4U : 1U);
    EXPECT_EQ(machine.find(second)->waiting, queues ? 5U : 8U);
  }
}

TEST(DeviceMachine, AnAbandonedKernelKeepsOnlyItsResources) {
  Device device("accelos", 2);
  const KernelId endless = device.arrive(2, false);
  device.settle();
  const KernelId other = device.arrive(100, true);
  EXPECT_EQ(device.settle()[other.index], 0U) << "accelos gave the first all of the device, for as long as it runs";
  device.abandon(endless);
  EXPECT_EQ(device.settle()[other.index], 0U);
  EXPECT_EQ(device.machine.kernels().size(), 1U);
  device.machine.give_back({64, 0, 0, 1}, 1);
  EXPECT_EQ(device.settle()[other.index], 1U);
  device.machine.give_back({64, 0, 0, 1}, 1);
  EXPECT_EQ(device.settle()[other.index], 2U);
  device.done(other);
  device.check_books();
}

// Two kernels divide three of four units 2:1; the sum of their device times is the time that passed, times 3/4.
TEST(DeviceMachine, DeviceTimeIsDividedAmongKernels) {
  Device device("left_over", 4);
  const KernelId a = device.arrive(2, true), b = device.arrive(1, true);
  device.settle();
  device.machine.set_now(Cycles{1000});
  EXPECT_DOUBLE_EQ(device.machine.used(a), 500);
  EXPECT_DOUBLE_EQ(device.machine.used(b), 250);
  EXPECT_DOUBLE_EQ(device.machine.isolated_estimate(a), 1000);
  EXPECT_DOUBLE_EQ(device.machine.isolated_estimate(b), 1000) << "one group occupies no more of an empty device";
}

TEST(DeviceMachine, UndividedKernelsBesideEachOtherUseNoMoreThanTheDevice) {
  Device device("left_over", 4);
  const KernelId a = device.arrive(100, false), b = device.arrive(100, false);
  device.settle();
  device.machine.set_now(Cycles{1000});
  EXPECT_DOUBLE_EQ(device.machine.used(a), 500);
  EXPECT_DOUBLE_EQ(device.machine.used(b), 500);
}

// Short launches run undivided and occupy the device for a moment. A share is started beside them all the same: a GPU
// queues groups that find no room, and a launch that got only the room of that moment would keep too few workers.
TEST(DeviceMachine, AShareIsStartedBesideAnUndividedLaunchWhereTheDeviceQueues) {
  for (const bool queues : {false, true}) {
    DeviceMachine machine({.total = {1024 * 8, 1 << 20, 1 << 20, 8}, .warp_threads = 1}, 1, queues);
    const auto launch = [&](bool divisible) {
      return DeviceMachine::KernelArrival{0, 0, 1, {64, 0, 0, 1}, 100, divisible};
    };
    const KernelId unmodified = machine.arrive_started(launch(false)), shared = machine.arrive(launch(true));
    machine.cap({0}, shared, 4);
    std::uint32_t started = 0;
    machine.dispatch([&](KernelId, std::uint32_t n) { started += n; });
    EXPECT_EQ(started, queues ? 4U : 0U);
    EXPECT_EQ(machine.holds(shared), 0U) << "the room is the whole launch's";
    machine.left(shared, started / 2, 0);
    machine.finish(unmodified);
    machine.finish(shared);
    EXPECT_EQ(machine.sms()[0].free, machine.limits().total);
    EXPECT_EQ(machine.sms()[0].resident, 0U);
  }
}

TEST(DeviceMachine, WorkersLeaveAPlaceForTransfers) {
  for (const std::uint32_t spare : {0U, 1U, 9U}) {
    DeviceMachine machine({.total = {1024 * 2, 1 << 20, 1 << 20, 2}, .warp_threads = 1}, 1);
    const KernelId id = machine.arrive({0, 0, 1, {64, 0, 0, 1}, 100, true});
    std::uint32_t started = 0;
    const auto start = [&](KernelId, std::uint32_t n) { started += n; };
    machine.dispatch(start, spare);
    EXPECT_EQ(started, 2 - std::min(spare, 2U));
    machine.dispatch(start);
    EXPECT_EQ(started, 2U);
    EXPECT_TRUE(machine.full());
    machine.finish(id);
    EXPECT_FALSE(machine.full());
  }
}

TEST(DeviceMachine, AccelOsGivesTwoKernelsHalfTheDeviceEach) {
  Device device("accelos", 8);
  const KernelId a = device.arrive(100, true), b = device.arrive(100, true);
  const auto started = device.settle();
  EXPECT_EQ(started.at(a.index), 4U);
  EXPECT_EQ(started.at(b.index), 4U);
  device.check_books();
}

TEST(DeviceMachine, AKernelNeverHasMoreWorkersThanGroups) {
  Device device("accelos", 8);
  const KernelId a = device.arrive(3, true);
  EXPECT_EQ(device.settle().at(a.index), 3U);
  device.check_books();
}

TEST(DeviceMachine, ALaunchThatWasNotRewrittenIsStartedUndivided) {
  Device device("accelos", 2);
  const KernelId a = device.arrive(100, false);
  EXPECT_EQ(device.settle().at(a.index), 100U);
  device.check_books();
  const KernelId b = device.arrive(50, false);
  EXPECT_FALSE(device.settle().contains(b.index)) << "no room: it waits its turn";
  device.done(a);
  EXPECT_EQ(device.settle().at(b.index), 50U);
  device.check_books();
}

TEST(DeviceMachine, LeftOverSendsLaunchesToTheDeviceAsTheyCome) {
  Device device("left_over", 2);
  const KernelId a = device.arrive(100, false), b = device.arrive(50, false);
  const auto started = device.settle();
  EXPECT_EQ(started.at(a.index), 100U);
  EXPECT_EQ(started.at(b.index), 50U);
  device.check_books();
}

TEST(DeviceMachine, WorkersThatLeaveMakeRoomAndTheLaunchContinues) {
  Device device("left_over", 4);
  const KernelId a = device.arrive(100, true);
  EXPECT_EQ(device.settle().at(a.index), 4U);
  device.machine.left(a, 3, 40);
  device.check_books();
  EXPECT_EQ(device.machine.find(a)->done, 40U);
  EXPECT_EQ(device.settle().at(a.index), 7U) << "three more start";
  device.check_books();
}

TEST(DeviceMachine, AStreamKeepsItsIdAndTheNumberOfIdsIsBounded) {
  Device device("accelos", 2);
  const auto arrive = [&](std::uint64_t stream) {
    return device.machine.arrive({0, 0, 1, {64, 0, 0, 1}, 1, false, stream});
  };
  const KernelId first = arrive(7);
  EXPECT_EQ(device.machine.find(first)->launch, 0U);
  const KernelId beside = arrive(7);
  EXPECT_NE(beside, first) << "two of one stream at once are two";
  device.machine.finish(beside);
  device.machine.finish(first);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const KernelId other = arrive(100 + i % 50), again = arrive(7);
    EXPECT_TRUE(again == first || again == beside);
    EXPECT_GT(device.machine.find(again)->launch, 0U);
    device.machine.finish(other);
    device.machine.finish(again);
  }
  for (std::uint64_t i = 0; i < 1000; ++i) device.machine.finish(arrive(1000 + i));
  EXPECT_LE(device.machine.residents({0}).size(), 70U);
}

TEST(DeviceMachine, ACapHoldsForAllLaunchesOfAStream) {
  Device device("accelos", 2);
  const auto arrive = [&] { return device.machine.arrive({0, 0, 1, {64, 0, 0, 1}, 1, false, 7}); };
  const KernelId first = arrive();
  device.machine.cap({0}, first, 3);
  device.machine.finish(first);
  EXPECT_EQ(arrive(), first);
  EXPECT_EQ(device.machine.residents({0})[first.index].cap, 3U);
}

TEST(DeviceMachine, APolicyThatNeedsMoreCapabilitiesIsRefused) {
  const auto choice = policy::choose("spatial");
  ASSERT_TRUE(choice.ok());
  EXPECT_FALSE(policy::make(*choice, DeviceMachine::capabilities(), "device").ok());
}

TEST(DeviceMachine, AnAlarmFiresWhenItsTimeHasCome) {
  class Sleeper final : public policy::Policy {
   public:
    void on(const policy::Wake& w, policy::Machine&) override { woken += w.tag; }
    std::uint64_t woken = 0;
  } sleeper;
  DeviceMachine machine({.total = {1, 1, 1, 1}}, 1);
  machine.set_now(Cycles{100});
  machine.wake_at(Cycles{150}, 1);
  machine.wake_at(Cycles{120}, 10);
  EXPECT_EQ(machine.next_alarm()->count, 120U);
  machine.set_now(Cycles{130});
  machine.fire_due_alarms(sleeper);
  EXPECT_EQ(sleeper.woken, 10U);
  EXPECT_EQ(machine.next_alarm()->count, 150U);
}

}  // namespace
}  // namespace wm::runtime

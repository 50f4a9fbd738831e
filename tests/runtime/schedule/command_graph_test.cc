// Which command waits for which.
#include "runtime/schedule/command_graph.h"

#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

using State = Command::State;

// Records the commands that a client began to wait for.
struct NoCompletions final : CompletionSource {
  void start() override {}
  void stop() override {}
  void submitted(const QueueHandle&, bool, Completion) override {}
  void note_alarm() override {}
  void expect(const Command& command) override { expected.push_back(&command); }
  [[nodiscard]] bool can_skip_event(const Command&) const override { return false; }
  std::vector<const Command*> expected;
};

struct Graph : testing::Test {
  CommandPtr add(CommandType type, const std::shared_ptr<Queue>& queue, std::vector<EventId> waits = {},
                 EventId event = kNoEvent) {
    auto command = make_command(client, queue, type, event);
    graph.add(command, waits);
    return command;
  }
  // The commands that are ready, as indices into `all`.
  std::vector<CommandPtr> ready() {
    std::vector<CommandPtr> found;
    while (graph.has_ready()) found.push_back(graph.take_ready());
    return found;
  }
  std::vector<CommandPtr> finish(const CommandPtr& command, Status status = status::kComplete) {
    command->status = status;
    command->enter(State::done);
    CommandGraph::close_event(command, status);
    std::vector<CommandPtr> observed;
    graph.release_dependents(*command, status, [&](const CommandPtr& c) { observed.push_back(c); });
    return observed;
  }

  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
  ActiveKernels kernels;
  Admission admission{{}, kernels};
  NoCompletions completions;
  CommandGraph graph{admission, completions};
};

using Commands = std::vector<CommandPtr>;

TEST_F(Graph, AQueueInOrderRunsOneAfterTheOther) {
  const auto queue = make_queue();
  const auto a = add(CommandType::marker, queue), b = add(CommandType::marker, queue);
  EXPECT_EQ(ready(), Commands{a});
  finish(a);
  EXPECT_EQ(ready(), Commands{b});
}

TEST_F(Graph, AQueueOutOfOrderWaitsOnlyForBarriers) {
  const auto queue = make_queue(false);
  const auto a = add(CommandType::read, queue), b = add(CommandType::read, queue);
  EXPECT_EQ(ready(), (Commands{a, b}));
  const auto barrier = add(CommandType::barrier, queue), c = add(CommandType::read, queue);
  EXPECT_TRUE(ready().empty());
  finish(b);
  EXPECT_TRUE(ready().empty());
  finish(a);
  EXPECT_EQ(ready(), Commands{barrier});
  finish(barrier);
  EXPECT_EQ(ready(), Commands{c});
}

TEST_F(Graph, AMarkerWithAWaitListWaitsForThatOnly) {
  const auto queue = make_queue(false);
  const auto a = add(CommandType::read, queue, {}, 1), b = add(CommandType::read, queue, {}, 2);
  EXPECT_EQ(ready().size(), 2U);
  const auto marker = add(CommandType::marker, queue, {2});
  finish(b);
  EXPECT_EQ(ready(), Commands{marker});
  finish(a);
}

TEST_F(Graph, AFailureFailsThoseThatWaitForItsEvent) {
  const auto one = make_queue(), two = make_queue();
  const auto a = add(CommandType::read, one, {}, 1);
  const auto next_in_queue = add(CommandType::read, one);
  const auto waits = add(CommandType::read, two, {1});
  ready();
  finish(a, -5);
  EXPECT_EQ(ready(), (Commands{next_in_queue, waits}));
  EXPECT_FALSE(next_in_queue->dependencies.failed) << "only the queue's order";
  EXPECT_TRUE(waits->dependencies.failed);
  EXPECT_EQ(client->shown(1), -5);
  // The event has failed for commands that come later, too.
  EXPECT_TRUE(add(CommandType::read, make_queue(), {1})->dependencies.failed);
}

TEST_F(Graph, ATransferFollowsAnotherOnTheSameDeviceQueue) {
  const auto queue = make_queue();
  const auto a = add(CommandType::read, queue);
  ready();
  a->enter(State::submitted);
  const auto b = add(CommandType::read, queue);
  EXPECT_EQ(ready(), Commands{b}) << "the device keeps their order";
  EXPECT_EQ(b->dependencies.unobserved, 1U);
  EXPECT_EQ(finish(a), Commands{b});
  EXPECT_EQ(b->dependencies.unobserved, 0U);
}

TEST_F(Graph, FollowersAreReadyWhenTheirPredecessorIsSubmitted) {
  const auto queue = make_queue();
  const auto a = add(CommandType::read, queue), b = add(CommandType::read, queue), c = add(CommandType::marker, queue);
  EXPECT_EQ(ready(), Commands{a});
  a->enter(State::submitted);
  graph.release_followers(a);
  EXPECT_EQ(ready(), Commands{b}) << "a marker does not go to the device, and waits";
  EXPECT_EQ(c->dependencies.unmet, 1U);
}

TEST_F(Graph, WaitingForACommandOnTheDeviceMakesItsCompletionExpected) {
  const auto a = add(CommandType::read, make_queue(), {}, 1);
  ready();
  a->enter(State::submitted);
  EXPECT_TRUE(completions.expected.empty());
  add(CommandType::read, make_queue(), {1});
  EXPECT_EQ(completions.expected, std::vector<const Command*>{a.get()});
}

TEST_F(Graph, ADisplacedUserEventIsFoundWhenItsClientGoes) {
  auto user = std::make_shared<Command>();
  user->client = client;
  user->event = 7;
  CommandGraph::register_event(user);
  EXPECT_EQ(CommandGraph::find(*client, 7), user);
  auto other = std::make_shared<Command>();
  other->client = client;
  other->event = 7;
  CommandGraph::register_event(other);
  const auto accessed = add(CommandType::host_access, make_queue(), {}, 8);
  const auto running = add(CommandType::read, make_queue(), {}, 9);
  accessed->enter(State::host_access);
  EXPECT_EQ(CommandGraph::take_unfinishable(*client), (Commands{user, other, accessed}));
}

}  // namespace
}  // namespace wm::runtime::test

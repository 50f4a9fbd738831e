// A command's life: every transition that the diagram in command.h shows, and no other.
#include "runtime/schedule/command.h"

#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <vector>

namespace wm::runtime {
namespace {

using State = Command::State;

// The shortest way to each state.
std::vector<State> way_to(State state) {
  switch (state) {
    case State::waiting:
      return {};
    case State::ended:
      return {State::submitted, State::ended};
    default:
      return {state};
  }
}

std::set<State> successors(State state) {
  std::set<State> found;
  for (int i = 0; i <= static_cast<int>(State::done); ++i) {
    Command command;
    for (const State s : way_to(state)) command.enter(s);
    try {
      command.enter(static_cast<State>(i));
      found.insert(static_cast<State>(i));
    } catch (const std::logic_error&) {
    }
  }
  return found;
}

TEST(Command, ChangesItsStateAsTheDiagramShows) {
  EXPECT_EQ(successors(State::waiting),
            (std::set{State::awaiting_printf, State::arrived, State::host_access, State::transferring, State::pipelined,
                      State::submitted, State::refused, State::done}));
  EXPECT_EQ(successors(State::awaiting_printf), (std::set{State::arrived, State::done}));
  EXPECT_EQ(successors(State::arrived), (std::set{State::submitted, State::done}));
  EXPECT_EQ(successors(State::host_access), std::set{State::done});
  EXPECT_EQ(successors(State::transferring), std::set{State::done});
  EXPECT_EQ(successors(State::pipelined), (std::set{State::arrived, State::submitted, State::ended, State::done}));
  EXPECT_EQ(successors(State::submitted), (std::set{State::ended, State::done}));
  EXPECT_EQ(successors(State::ended), std::set{State::done});
  EXPECT_EQ(successors(State::refused), std::set{State::done});
  EXPECT_EQ(successors(State::done), std::set<State>{});
}

TEST(Command, IsOnTheDeviceFromItsSubmissionToItsEnd) {
  Command command;
  EXPECT_FALSE(command.on_device());
  command.enter(State::pipelined);
  EXPECT_TRUE(command.on_device());
  command.enter(State::submitted);
  EXPECT_TRUE(command.on_device());
  command.enter(State::ended);
  EXPECT_TRUE(command.on_device());
  command.enter(State::done);
  EXPECT_FALSE(command.on_device());
}

}  // namespace
}  // namespace wm::runtime

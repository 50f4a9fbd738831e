#include "runtime/schedule/command.h"

#include <stdexcept>

namespace wm::runtime {
namespace {

using State = Command::State;

constexpr unsigned bit(State s) { return 1U << static_cast<unsigned>(s); }

// The states that may follow each.
constexpr unsigned successors(State s) {
  switch (s) {
    case State::waiting:
      return bit(State::awaiting_printf) | bit(State::arrived) | bit(State::host_access) | bit(State::transferring) |
             bit(State::pipelined) | bit(State::submitted) | bit(State::refused) | bit(State::done);
    case State::awaiting_printf:
      return bit(State::arrived) | bit(State::done);
    case State::arrived:
      return bit(State::submitted) | bit(State::done);
    case State::host_access:
    case State::transferring:
    case State::ended:
    case State::refused:
      return bit(State::done);
    case State::pipelined:
      return bit(State::arrived) | bit(State::submitted) | bit(State::ended) | bit(State::done);
    case State::submitted:
      return bit(State::ended) | bit(State::done);
    case State::done:
      return 0;
  }
  return 0;
}

}  // namespace

void Command::enter(State next) {
  if ((successors(state_) & bit(next)) == 0) throw std::logic_error("a command cannot change to this state");
  state_ = next;
}

}  // namespace wm::runtime

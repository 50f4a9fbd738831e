// Handlers of the signals that say that an instruction could not be executed: a bad address, an illegal instruction, an
// overflowed stack. A function that is called through `call_guarded` ends early, and the process continues.
//
// Libraries of the process want the same signals. LLVM, with which PoCL compiles, installs handlers when it writes a
// file; the first fault after that resets the action of the signal to its default, and another thread that faults at
// the same time ends the process. Such libraries are given `set_action_behind_handlers` in place of `sigaction`.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace wm::runtime {

struct InstructionFault {
  int signal = 0;
  std::uint64_t address = 0;
};

// Installs the handlers, where they are not there yet. The actions that were there are called for faults outside of
// `call_guarded`.
void install_fault_handlers();

// Gives the calling thread a stack for the handlers: its own may be the one that has overflowed.
void prepare_thread_for_faults();

// Calls `function(data)`, and returns the fault that ended it. No object with a destructor may live in a frame that the
// fault leaves.
std::optional<InstructionFault> call_guarded(void (*function)(void*), void* data);

// `sigaction` for other libraries, after the handlers are installed: an action for one of their signals is called
// behind them.
int set_action_behind_handlers(int signal, const struct sigaction* action, struct sigaction* previous);

}  // namespace wm::runtime

#include "runtime/device/fault_handlers.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <mutex>
#include <sys/mman.h>

namespace wm::runtime {
namespace {

// Written by the signal handler of the same thread.
struct ThreadState {
  volatile std::sig_atomic_t guarded = 0;
  volatile int signal = 0;
  volatile std::uint64_t address = 0;
  std::jmp_buf* back = nullptr;
};
thread_local ThreadState thread_state;

class SignalStack {
 public:
  SignalStack() : memory_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) return;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = kBytes;
    ::sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    if (memory_ == MAP_FAILED) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, kBytes);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  void use() const {}

 private:
  static constexpr std::size_t kBytes = 64 << 10;
  void* memory_;
};

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
std::mutex previous_actions_mutex;  // not taken by the handler, which only reads, before the process ends
std::array<struct sigaction, 65> previous_actions;

void handle_fault(int signal, siginfo_t* info, void* context) {
  ThreadState& state = thread_state;
  const bool by_instruction = info->si_code > 0;  // not sent by a process
  if (state.guarded != 0 && by_instruction) {
    state.guarded = 0;
    state.signal = signal;
    state.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    std::longjmp(*state.back, 1);
  }
  const struct sigaction& previous = previous_actions[static_cast<std::size_t>(signal)];
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  // The instruction faults again, or the signal is raised again, and ends the process.
  std::signal(signal, SIG_DFL);
  if (!by_instruction) std::raise(signal);
}

}  // namespace

// PoCL's own handler of SIGFPE, on x86, continues behind an integer division by zero; it stays.
void install_fault_handlers() {
  for (const int signal : kSignals) {
    struct sigaction previous {};
    ::sigaction(signal, nullptr, &previous);
    const bool has_details = (previous.sa_flags & SA_SIGINFO) != 0;
    if (has_details && previous.sa_sigaction == handle_fault) continue;
    previous_actions[static_cast<std::size_t>(signal)] = previous;
    const bool handled = has_details || previous.sa_handler != SIG_DFL;
    if (signal == SIGFPE && handled) continue;
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

void prepare_thread_for_faults() {
  thread_local const SignalStack stack;
  stack.use();
}

std::optional<InstructionFault> call_guarded(void (*function)(void*), void* data) {
  ThreadState& state = thread_state;
  std::jmp_buf here;
  std::jmp_buf* const outer = state.back;
  if (_setjmp(here) != 0) {
    thread_state.back = outer;
    thread_state.guarded = outer != nullptr ? 1 : 0;
    return InstructionFault{thread_state.signal, thread_state.address};
  }
  state.back = &here;
  state.guarded = 1;
  function(data);
  state.back = outer;
  state.guarded = outer != nullptr ? 1 : 0;
  return std::nullopt;
}

int set_action_behind_handlers(int signal, const struct sigaction* action, struct sigaction* previous) {
  if (std::find(kSignals.begin(), kSignals.end(), signal) == kSignals.end()) {
    return ::sigaction(signal, action, previous);
  }
  const std::lock_guard lock(previous_actions_mutex);
  struct sigaction& behind = previous_actions[static_cast<std::size_t>(signal)];
  const struct sigaction before = behind;
  if (action != nullptr) behind = *action;
  if (previous != nullptr) *previous = before;
  return 0;
}

}  // namespace wm::runtime

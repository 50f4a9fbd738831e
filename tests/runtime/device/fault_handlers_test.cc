// Functions that fault end early, and the process continues, whatever other libraries want of the same signals.
#include "runtime/device/fault_handlers.h"

#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace wm::runtime {
namespace {

struct FaultHandlersTest : testing::Test {
  void SetUp() override {
#if defined(WM_SANITIZED)
    GTEST_SKIP() << "sanitizers handle these signals themselves";
#endif
    install_fault_handlers();
    prepare_thread_for_faults();
  }
};

void do_nothing(void*) {}
void write_to(void* address) { *static_cast<volatile int*>(address) = 1; }
void execute_illegal_instruction(void*) { __builtin_trap(); }
void* bad_address() { return reinterpret_cast<void*>(0x10); }  // NOLINT(performance-no-int-to-ptr)

// Touches a page per call, and is no tail call.
int overflow(int depth) {
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : overflow(depth - 1) + page[0];
}
void overflow_the_stack(void*) { overflow(1 << 20); }

TEST_F(FaultHandlersTest, AFunctionWithoutAFaultEnds) {
  EXPECT_FALSE(call_guarded(do_nothing, nullptr));
  int value = 0;
  EXPECT_FALSE(call_guarded(write_to, &value));
  EXPECT_EQ(value, 1);
}

TEST_F(FaultHandlersTest, AFaultIsDescribed) {
  const auto fault = call_guarded(write_to, bad_address());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->signal, SIGSEGV);
  EXPECT_EQ(fault->address, 0x10U);
  const auto trap = call_guarded(execute_illegal_instruction, nullptr);
  ASSERT_TRUE(trap);
  EXPECT_TRUE(trap->signal == SIGTRAP || trap->signal == SIGILL) << trap->signal;
}

TEST_F(FaultHandlersTest, AFaultAfterOneInAnInnerCallReturnsToTheOuterCall) {
  const auto fault = call_guarded(
      [](void*) {
        if (!call_guarded(write_to, bad_address())) return;
        execute_illegal_instruction(nullptr);
      },
      nullptr);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->signal, SIGSEGV);
}

TEST_F(FaultHandlersTest, AFaultAfterAnInnerCallReturnsToTheOuterCall) {
  bool inner_faulted = true;
  const auto fault = call_guarded(
      [](void* data) {
        *static_cast<bool*>(data) = call_guarded(do_nothing, nullptr).has_value();
        write_to(bad_address());
      },
      &inner_faulted);
  EXPECT_FALSE(inner_faulted);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->signal, SIGSEGV);
}

// --- Faults that no guarded call awaits: what the process would do without the handlers.

using FaultHandlersDeathTest = FaultHandlersTest;

// Ends the process with a code, so that a test sees which action was called with which address.
void exit_with_8(int) { ::_exit(8); }
void exit_with_details(int signal, siginfo_t* info, void* context) {
  ::_exit(signal == SIGSEGV && info->si_addr == bad_address() && context != nullptr ? 9 : 1);
}
void fault_with(const struct sigaction& behind) {
  set_action_behind_handlers(SIGSEGV, &behind, nullptr);
  write_to(bad_address());
  ::_exit(1);
}
struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  return action;
}

TEST_F(FaultHandlersDeathTest, AFaultOutsideOfACallIsLeftToTheActionBehind) {
  struct sigaction details {};
  details.sa_sigaction = exit_with_details;
  details.sa_flags = SA_SIGINFO;
  EXPECT_EXIT(fault_with(action_of(SIG_DFL)), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(fault_with(action_of(SIG_IGN)), testing::KilledBySignal(SIGSEGV), "") << "a fault cannot be ignored";
  EXPECT_EXIT(fault_with(action_of(exit_with_8)), testing::ExitedWithCode(8), "");
  EXPECT_EXIT(fault_with(details), testing::ExitedWithCode(9), "");
}

TEST_F(FaultHandlersDeathTest, ACallThatHasEndedGuardsNothing) {
  const auto fault_after = [](void (*function)(void*), void* data) {
    call_guarded(function, data);
    fault_with(action_of(exit_with_8));
  };
  EXPECT_EXIT(fault_after(do_nothing, nullptr), testing::ExitedWithCode(8), "");
  EXPECT_EXIT(fault_after(write_to, bad_address()), testing::ExitedWithCode(8), "");
}

TEST_F(FaultHandlersDeathTest, ASignalThatWasSentIsNoFault) {
  const auto raised_with = [](const struct sigaction& behind) {
    set_action_behind_handlers(SIGSEGV, &behind, nullptr);
    call_guarded([](void*) { std::raise(SIGSEGV); }, nullptr);
    ::_exit(1);
  };
  EXPECT_EXIT(raised_with(action_of(SIG_DFL)), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(raised_with(action_of(exit_with_8)), testing::ExitedWithCode(8), "");
}

// --- The actions that are there before the handlers.

struct sigaction now_for(int signal) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  return now;
}

TEST_F(FaultHandlersTest, HandlersHaveAStackOfTheirOwnAndMayFaultAgain) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP}) {
    const int flags = now_for(signal).sa_flags;
    for (const int flag : {SA_SIGINFO, SA_ONSTACK, static_cast<int>(SA_NODEFER)}) EXPECT_NE(flags & flag, 0) << flag;
  }
}

TEST_F(FaultHandlersTest, AnActionForDivisionsByZeroStays) {
  const struct sigaction ours = now_for(SIGFPE);
  struct sigaction plain = action_of([](int) {}), details{};
  details.sa_sigaction = [](int, siginfo_t*, void*) {};
  details.sa_flags = SA_SIGINFO;
  for (const struct sigaction& theirs : {plain, details}) {
    ::sigaction(SIGFPE, &theirs, nullptr);
    install_fault_handlers();
    EXPECT_EQ(now_for(SIGFPE).sa_sigaction, theirs.sa_sigaction);
  }
  const struct sigaction none = action_of(SIG_DFL);
  ::sigaction(SIGFPE, &none, nullptr);
  install_fault_handlers();
  EXPECT_EQ(now_for(SIGFPE).sa_sigaction, now_for(SIGSEGV).sa_sigaction);
  ::sigaction(SIGFPE, &ours, nullptr);
}

TEST_F(FaultHandlersTest, OtherActionsGoBehindTheHandlersOnce) {
  const struct sigaction ours = now_for(SIGBUS), theirs = action_of([](int) {});
  struct sigaction before {
  }, behind{};
  set_action_behind_handlers(SIGBUS, nullptr, &before);
  ::sigaction(SIGBUS, &theirs, nullptr);
  for (int i = 0; i < 2; ++i) {
    install_fault_handlers();
    EXPECT_EQ(now_for(SIGBUS).sa_sigaction, ours.sa_sigaction);
    EXPECT_EQ(set_action_behind_handlers(SIGBUS, nullptr, &behind), 0);
    EXPECT_EQ(behind.sa_handler, theirs.sa_handler);
  }
  set_action_behind_handlers(SIGBUS, &before, nullptr);
}

TEST_F(FaultHandlersTest, AnOverflowedStackIsAFault) {
  std::thread([] {
    prepare_thread_for_faults();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(call_guarded(overflow_the_stack, nullptr));
  }).join();
}

// As LLVM does: it installs an action for SIGSEGV that is reset by the first signal, and later restores the one before.
TEST_F(FaultHandlersTest, AnActionOfAnotherLibraryStaysBehindTheHandlers) {
  struct sigaction ours {
  }, now{}, before{}, theirs{}, read_back{};
  ::sigaction(SIGSEGV, nullptr, &ours);
  theirs.sa_handler = [](int) {};
  theirs.sa_flags = static_cast<int>(SA_RESETHAND);
  EXPECT_EQ(set_action_behind_handlers(SIGSEGV, &theirs, &before), 0);
  ::sigaction(SIGSEGV, nullptr, &now);
  EXPECT_EQ(now.sa_sigaction, ours.sa_sigaction);
  EXPECT_NE(before.sa_sigaction, ours.sa_sigaction) << "it would be restored over itself";
  EXPECT_TRUE(call_guarded(write_to, bad_address()));
  EXPECT_EQ(set_action_behind_handlers(SIGSEGV, &before, &read_back), 0);
  EXPECT_EQ(read_back.sa_handler, theirs.sa_handler);
  EXPECT_TRUE(call_guarded(write_to, bad_address()));
}

TEST_F(FaultHandlersTest, OtherSignalsAreLeftToTheOtherLibrary) {
  struct sigaction before {
  }, now{}, theirs{};
  theirs.sa_handler = [](int) {};
  EXPECT_EQ(set_action_behind_handlers(SIGUSR1, &theirs, &before), 0);
  ::sigaction(SIGUSR1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, theirs.sa_handler);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(FaultHandlersTest, ThreadsThatFaultAtTheSameTimeAllReturn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      prepare_thread_for_faults();
      for (int i = 0; i < 500; ++i) ASSERT_TRUE(call_guarded(write_to, bad_address()));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace wm::runtime

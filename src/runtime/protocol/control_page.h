// The memory that a CUDA program and the daemon that arbitrates it share: what the program shall do with its launches,
// and what it did. The program keeps its own process and driver; no message is sent per launch.
//
// A launch reads `modes` once. Zero means that it goes to the driver unchanged. All words are hints: a value that the
// program cannot apply is ignored, and the counts tell that it was.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/protocol/futex.h"
#include "runtime/protocol/message.h"

namespace wm::runtime {

using Count = std::atomic<std::uint64_t>;
static_assert(Count::is_always_lock_free);

// SMs of the GPU, or groups of them, a bit each.
using SmSet = std::bitset<256>;

// The bits of `ControlWords::modes`: a launch's duties beside being counted.
enum ControlMode : std::uint32_t {
  kLimitBlocks = 1,    // pad shared memory so that fewer blocks share an SM
  kWaitForOthers = 2,  // wait a bounded time while a latency-sensitive program has work on the device
  kTellOthers = 4,     // this program is the latency-sensitive one: say when it has work
  kMeasure = 8,        // measure the time from a launch on an idle device to the end of the next synchronization
  kPause = 32,         // wait until the daemon clears this bit: another program is sampled, or this one owns no SMs
  kDivideAlike = 16,   // divide an SM's memory as the programs do whose blocks are limited
  kPlace = 64,         // run on the SMs of `sm_groups` only; a launch that cannot be placed is limited instead
  kGate = 128,         // kernels pause in their loops while a latency-sensitive program has work
  kQuota = 512,        // no more than `launch_limit` launches may begin
  kWorkers = 1024,     // kernels run as workers on `own_sms` SMs; one that cannot is limited instead
  kOwnDivision = 256,  // divide an SM's memory as the program asked again, after a time with the two bits above
};

// The priority of streams that a program creates: its own choice, the highest there is, or its own choice below that.
enum class StreamPriority : std::uint32_t { own, highest, below_highest };

// Whether the program keeps the code that it loads, for second forms of kernels (with gates, or as workers), and
// whether these are made before the first launch of a kernel.
enum class FormUse : std::uint32_t { none, when_ready, at_once };

// Written by the daemon.
struct ControlWords {
  Word modes{0};
  Word blocks_per_sm{0};       // most blocks of a kernel on an SM; 0: no such limit
  Word occupancy_percent{0};   // most blocks as a part of those that fit on an SM; 0: no such limit
  Word stream_priority{0};     // a StreamPriority
  Word wait_microseconds{0};   // longest wait of a launch for others
  Word slice_microseconds{0};  // time slice of the program's channel groups; 0: the driver's own
  Word board_bit{0};           // this program's bit in the Board
  Word sms_of_group{0};        // the SMs are divided into groups of so many; 0: no policy gives SMs to programs
  Count sm_groups{0};          // a bit for each group that the program may use; the SMs left over are the last group
  Word gates{0};               // a FormUse
  Word workers{0};             // a FormUse
  Count launch_limit{0};       // launches that may begin in all
  Word gate_percent{0};        // the part of the time for which gates may be closed
  Word own_sms{0};             // under kWorkers: those that its kernels see with numbers below this
};

// Times in buckets of an eighth of a power of two: bucket b holds the times below (9 + b % 8) << (b / 8) nanoseconds
// that the buckets before it do not.
inline constexpr std::size_t kTimeBuckets = 320;
[[nodiscard]] constexpr std::size_t time_bucket(std::uint64_t nanoseconds) {
  if (nanoseconds < 8) return 0;
  const auto exponent = static_cast<std::size_t>(std::bit_width(nanoseconds)) - 4;
  const std::size_t bucket = exponent * 8 + static_cast<std::size_t>(nanoseconds >> exponent) - 8;
  return bucket < kTimeBuckets ? bucket : kTimeBuckets - 1;
}
[[nodiscard]] constexpr std::uint64_t time_bucket_bound(std::size_t bucket) {
  return (std::uint64_t{9} + bucket % 8) << (bucket / 8);
}

// Written by the program.
struct ProgramCounters {
  Count launches{0};            // kernels that were launched, those of graphs included
  Count graph_launches{0};      // graphs that were launched
  Count limited_launches{0};    // with a padded shared memory
  Count unlimited_launches{0};  // that should have been limited and could not be
  Count waits{0}, waited_nanoseconds{0};
  Count held_launches{0};  // that are counted and wait for a quota
  Count requests{0};       // from a launch on an idle device to the end of a synchronization
  Count request_nanoseconds{0};
  Count memory_bytes{0}, memory_limit{0};  // device memory that it has allocated, and may; 0: no limit
  Word fault{0};           // the driver's error that ended its context, as 700 for an illegal address; 0: none
  Word peak_threads{0};    // the largest launch, in threads, while requests are measured; 0: none yet
  Word asked_priority{0};  // 1 + the priority that the program has asked for itself; 0: it has not
  Word asked_goal{0};      // 1 + the ProgramGoal::Kind that the program has asked for itself; 0: it has not
  Word channel_groups{0};  // that the driver has allocated for this program
  Word sliced_groups{0};   // groups among these with the time slice below
  Word applied_slice{0};   // microseconds
  Word slice_failures{0};  // requests for a time slice that the driver refused
  std::array<Word, kTimeBuckets> request_times{};
  Count placed_launches{0};    // on the SMs that the daemon gave
  Count unplaced_launches{0};  // that should have been and could not be
  Count placed_groups{0};      // the groups of SMs of its last placed launch; 0: none yet
  std::atomic<double> asked_goal_value{0};
  Count launched_at{0};  // the time of the last launch on the steady clock, while requests are measured; 0: none
};

// A kernel that should have a second form. Without one, an empty reason means that the driver does not launch it.
struct KernelNote {
  char name[96] = {};
  char reason[96] = {};
  Word has_form{0};
};
inline constexpr std::size_t kKernelNotes = 32;

// Written by the program. The texts of a note do not change once it is counted.
struct GateCounters {
  Count gated_launches{0};
  Count ungated_launches{0};  // that should have been and could not be
  Count closings{0}, closed_nanoseconds{0};
  Word notes{0};  // that are valid; kernels beyond kKernelNotes have none
  std::array<KernelNote, kKernelNotes> kernels{};
};

// The SMs of a program's workers: those that they may use, as they were told last, and the others that they have not
// left yet. Both are told at once, so that no daemon takes SMs that were left for a later decision's.
struct WorkerSms {
  std::uint32_t own = 0, leaving = 0;

  // Empty: they have not told any.
  [[nodiscard]] static std::optional<WorkerSms> of(std::uint64_t word) {
    if (word == 0) return std::nullopt;
    return WorkerSms{static_cast<std::uint32_t>(word >> 32) - 1, static_cast<std::uint32_t>(word)};
  }
  [[nodiscard]] std::uint64_t word() const { return (std::uint64_t{own} + 1) << 32 | leaving; }
};

// Written by the program, whose kernels run as workers.
struct WorkerCounters {
  Count sms{0};             // a WorkerSms; 0: not known
  Count added_launches{0};  // launches of more workers for kernels that run
  Word is_running{0};       // 1: an SM had workers when the program looked last
};

struct ControlPage {
  std::uint32_t magic = kMagic, version = kVersion;
  alignas(64) ControlWords words;
  alignas(64) ProgramCounters counters;
  alignas(64) GateCounters gates;
  alignas(64) WorkerCounters workers;
};
inline constexpr std::size_t kControlPageBytes = 12'288;
static_assert(sizeof(ControlPage) <= kControlPageBytes);

// One for all programs of a daemon: which latency-sensitive programs have work on the device, a bit each.
struct Board {
  Word busy{0};
  Word sleepers{0};  // programs with a thread that sleeps until `busy` changes, a bit each
};
inline constexpr std::size_t kBoardBytes = 4096;

// The greeting of a program, after its Hello: its goal.
struct ProgramGoal {
  enum class Kind : std::uint32_t { none, p99_nanoseconds, launches_per_second, part_of_isolated_rate };
  Kind kind = Kind::none;
  std::uint32_t unused = 0;
  double value = 0;

  // A program may send anything.
  [[nodiscard]] constexpr bool is_valid() const {
    constexpr double kMax = 1e18;
    if (kind == Kind::none) return true;
    return kind <= Kind::part_of_isolated_rate && value > 0 &&
           value <= (kind == Kind::part_of_isolated_rate ? 1 : kMax);
  }
};

// The daemon's answer: with the descriptor of the page; a second packet carries that of the board. A program that is
// told to wait gets another answer later; one that is denied must not use the GPU.
enum class ProgramAnswer : std::uint32_t { unmanaged, accepted, wait, denied };
struct ProgramWelcome {
  std::uint32_t magic = kMagic, version = kVersion;
  ProgramAnswer answer = ProgramAnswer::unmanaged;
  std::uint32_t unused = 0;
  char reason[240] = {};
};

}  // namespace wm::runtime

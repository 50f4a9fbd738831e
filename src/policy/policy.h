// Policy: decides from events which kernel gets which resources. One file in impl/ is one policy; the build finds it
// (see README.md).
//
// A policy acts only through the Machine it is handed with each event. `now()` is its only clock, a requested wake-up
// or epoch its only timer, the machine's random numbers its only ones; it has no threads, files, logging or globals. So
// the same events lead to the same decisions on every machine.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "policy/machine.h"
#include "policy/parameter.h"

namespace wm::policy {

// Comes once, before all other events.
struct Started {};
// A launch is ready to start blocks.
struct KernelArrived {
  KernelId kernel;
};
// The last block of its launch ended; it is not in kernels() any more.
struct KernelDone {
  KernelId kernel;
};
// Told once after all KernelArrived and KernelDone of one instant, before blocks start: kernels() is complete. A
// kernel that ended and was launched again in the same instant has not left.
struct KernelSetChanged {};
// Can::see_blocks.
struct BlockDone {
  SmId sm;
  KernelId kernel;
};
// The SM became empty, and in the current state no block may start there.
struct SmIdle {
  SmId sm;
};
// The blocks of other kernels have left, or the SM woke.
struct SmReady {
  SmId sm;
  KernelId owner;
};
// That many blocks were switched out, as asked for with preempt().
struct Preempted {
  SmId sm;
  KernelId kernel;
  std::uint32_t blocks;
};
// The kernel's quota on the SM fell to 0 or below.
struct QuotaSpent {
  SmId sm;
  KernelId kernel;
};
// The epoch's counters are complete; they are cleared after this event.
struct Epoch {
  Cycles length;
};
struct Wake {
  std::uint64_t tag;
};

class Policy {
 public:
  virtual ~Policy() = default;

  virtual void on(const Started&, Machine&) {}
  virtual void on(const KernelArrived&, Machine&) {}
  virtual void on(const KernelDone&, Machine&) {}
  virtual void on(const KernelSetChanged&, Machine&) {}
  virtual void on(const BlockDone&, Machine&) {}
  virtual void on(const SmIdle&, Machine&) {}
  virtual void on(const SmReady&, Machine&) {}
  virtual void on(const Preempted&, Machine&) {}
  virtual void on(const QuotaSpent&, Machine&) {}
  virtual void on(const Epoch&, Machine&) {}
  virtual void on(const Wake&, Machine&) {}
};

// The events that a kernel which has arrived may have to wait for before any of its blocks start. The contract
// suite checks it.
enum class Waits {
  for_blocks,   // only for blocks in the way to leave, or for a measurement of bounded length: no kernel starves
  for_earlier,  // for kernels that arrived before it
  for_priority  // for kernels of higher priority, and among equals for earlier ones
};

struct Info {
  std::string_view name = {};   // as its file
  std::string_view about = {};  // one line
  std::string_view paper = {};  // where it was published
  Waits waits = Waits::for_blocks;
  bool goals = false;  // made for kernels with goals: without one it has nothing to decide
  // On a real device, launches too short to be worth dividing run unmodified unless the user says otherwise.
  bool short_launches_unmodified = false;
  Cans needs = {};  // without one of these it cannot run
  Cans uses = {};   // asks `gpu.can()` before it does these
  std::vector<Parameter> parameters = {};
};

struct Entry {
  Info info;
  std::unique_ptr<Policy> (*make)(const Values&);
};

namespace detail {
template <typename P>
std::unique_ptr<Policy> make(const Values& values) {
  if constexpr (std::is_constructible_v<P, const Values&>) {
    return std::make_unique<P>(values);
  } else {
    return std::make_unique<P>();
  }
}
}  // namespace detail

}  // namespace wm::policy

// Ends a policy's file: WM_POLICY(Class, {.name = …, .about = …, …}). The build names the function after the file and
// calls it from the generated registry, so no policy can be lost by the linker and none is listed by hand.
#define WM_POLICY(Class, ...) \
  Entry WM_POLICY_ENTRY();    \
  Entry WM_POLICY_ENTRY() { return {Info __VA_ARGS__, &detail::make<Class>}; }

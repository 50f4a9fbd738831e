// A client's command on its way: what it waits for, what waits for it, and how it ended.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policy/machine.h"
#include "runtime/device/control_word_pool.h"
#include "runtime/session/objects.h"

namespace wm::runtime {

class Session;

// A client's queue: a native queue of its own, and the commands that order what comes next.
struct Queue {
  Native_<cl_command_queue> native;
  std::uint64_t number = 0;  // of all queues of all clients
  bool in_order = true;
  bool timed = true;                                // the device is asked when commands began and ended
  std::uint64_t last_end = 0;                       // where it is not: of the latest command, on the daemon's clock
  std::weak_ptr<struct Command> last;               // in order: the latest command
  std::weak_ptr<struct Command> barrier;            // out of order: the latest barrier
  std::vector<std::weak_ptr<struct Command>> open;  // out of order: commands since then
  std::uint32_t unheard = 0;                        // launches since the last one with an event of the device's
  double unheard_nanoseconds = 0;                   // that they are expected to take
  std::weak_ptr<struct Command> sent;               // the latest on the native queue
  std::uint64_t heard = 0;                          // when one was last known to have ended, on the daemon's clock
  std::uint32_t unflushed = 0;                      // launches that the device's driver may still keep to itself
};

// A launch as it was asked for: everything the device needs to be told when its turn comes.
struct LaunchPlan {
  std::shared_ptr<Kernel> kernel;
  std::shared_ptr<const KernelForm> form;
  cl_uint dimensions = 1;
  std::array<std::size_t, 3> offset{}, global{1, 1, 1}, local{};
  bool local_given = false;
  struct Value {
    ArgumentKind kind{};
    std::size_t size = 0;
    std::vector<std::byte> bytes;
    std::shared_ptr<Memory> memory;
    std::shared_ptr<Sampler> sampler;
  };
  std::vector<Value> arguments;
  std::uint32_t local_bytes = 0;   // of a group
  bool may_run_unmodified = true;  // the device's compiler has it ready so, or there is no other way
  bool prints = false;
  std::span<std::byte> printed;          // where that goes, …
  std::shared_ptr<void> printed_region;  // … while this is held
};

// A launch that runs as workers. A batch is one native launch of them, with a control word of its own; the queue of
// groups is common to all.
struct WorkerBatch {
  std::shared_ptr<ControlWordPool::Word> control;
  std::uint32_t workers = 0;  // that go on
  bool shrunk = false;
  bool leaves = false;             // was told to, whole, and keeps its place until it has
  Native_<cl_command_queue> lane;  // its own, where it has one
};
struct WorkerRun {
  rewrite::Range range;
  std::uint32_t groups = 0;
  std::array<std::size_t, 3> local{1, 1, 1};
  std::shared_ptr<ControlWordPool::Word> queue;
  std::vector<std::shared_ptr<WorkerBatch>> batches;
  bool exhausted = false;  // no group is left in the queue
};

struct Command {
  std::shared_ptr<Session> client;
  std::shared_ptr<Queue> queue;  // none: a user's event
  CommandType work = CommandType::marker;
  std::uint32_t slot = kNoEvent;
  std::size_t message_bytes = 0;  // of what asked for it
  // Puts a transfer on a native queue.
  std::function<cl_int(cl_command_queue, cl_event*)> run;
  // It names what is not there, or must not be done: it fails, and its client lives.
  void refuse(cl_int why) {
    run = [why](cl_command_queue, cl_event*) { return why; };
  }
  bool followed = false;  // a launch that the next one of its queue follows at once
  bool errand = false;    // a transfer that takes a compute unit of a CPU for its time
  bool carried = false;   // … and waits there until it is done: for a thread of its own (carrier.cc)
  std::unique_ptr<LaunchPlan> launch;
  std::unique_ptr<WorkerRun> workers;  // once it has arrived, where it runs so

  enum class State { waiting, submitted, done };
  State state = State::waiting;
  bool host_access_active = false;  // the client may touch its buffer now, and will say when it has
  bool dependency_failed = false;   // something it waited for failed
  std::uint32_t waits = 0;          // commands that must end, or be on the same native queue, before it is submitted
  std::uint32_t trails = 0;         // commands before it on the native queue that have not been seen to end
  bool ended = false;               // the device is done with it, but not seen to be with those before it
  cl_int status = CL_COMPLETE;

  struct Edge {
    std::shared_ptr<Command> command;
    bool order;  // only because of the queue's order: the other's failure does not matter
    bool early = false;
  };
  std::vector<Edge> after;

  policy::KernelId kernel = policy::kNobody;
  // On the device although its client has gone: what it holds there, and since when.
  struct Held {
    gpu::Resources footprint;
    std::uint32_t groups = 0;
    std::uint64_t since = 0;
  };
  std::optional<Held> held;
  double expected = 0;     // nanoseconds, of one that pipelined
  bool pipelined = false;  // on the device behind a kernel of its own client, before the policy has heard of it
  std::uint64_t received = 0, ready = 0, submitted = 0;                         // on the daemon's clock, in nanoseconds
  std::uint64_t queued_at = 0, submitted_at = 0, started_at = 0, ended_at = 0;  // on the device's
};
using CommandPtr = std::shared_ptr<Command>;

}  // namespace wm::runtime

// A client's command, from the message that asked for it to its completion.
//
//   waiting ──▶ awaiting_printf ──▶ arrived ──▶ submitted ──▶ ended ──▶ done
//      ├──────────────────────────────▲            ▲            ▲
//      ├──▶ pipelined ────────────────┴────────────┴────────────┤
//      └──▶ host_access, transferring ──────────────────────────▶ done
//
// Every state may go to `done`: a command whose dependency failed or whose client has gone completes with an error.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "policy/machine.h"
#include "runtime/device/backend.h"
#include "runtime/device/control_word_pool.h"
#include "runtime/device/worker_tables.h"
#include "runtime/program/launch_plan.h"
#include "runtime/schedule/client.h"
#include "runtime/schedule/undivided_caps.h"

namespace wm::runtime {

// A client's queue: a device queue of its own, and the commands that order the next one.
struct Queue {
  QueueHandle handle;
  std::uint64_t number = 0;  // unique over all clients
  bool in_order = true;
  bool faulted = false;                       // a launch has faulted or could not run: later commands fail
  bool timed = true;                          // the device records when commands started and ended
  std::uint64_t last_end = 0;                 // without device times: end of the latest command, on the daemon's clock
  std::weak_ptr<Command> last;                // in-order queue: the latest command
  std::weak_ptr<Command> barrier;             // out-of-order queue: the latest barrier
  std::vector<std::weak_ptr<Command>> open;   // out-of-order queue: commands since that barrier
  std::weak_ptr<Command> last_submitted;      // latest command on the device queue
  std::shared_ptr<WorkerTable> worker_table;  // launches that run as workers with limits by compute unit share it
  std::optional<UndividedCap> undivided_cap;  // where the policy's caps are such that its launches can run undivided
  bool is_held = false;                       // the policy lets launches of its client wait
  std::uint32_t short_launches = 0;           // latest launches without a break that the rules would run unmodified
  std::uint64_t last_launch_completed = 0;    // on the daemon's clock
  std::uint64_t last_observed = 0;            // when a completion was last seen, on the daemon's clock
  std::uint32_t unflushed = 0;                // launches that the driver may not have sent to the device yet
  struct {
    std::uint32_t launches = 0;  // launches since the latest one that has an event
    double nanoseconds = 0;      // expected time of these launches
  } without_event;
};

// A launch of workers, with a control word of its own.
struct WorkerBatch {
  enum class State {
    running,
    shrunk,   // some or all of its workers were told to leave, and others may use their resources
    leaving,  // its only worker was told to leave; it occupies its resources until it has left, and may be told to stay
  };
  std::shared_ptr<ControlWord> control;
  std::uint32_t workers = 0;  // workers that may continue
  State state = State::running;
  QueueHandle extra_queue;  // the batch's own, where it has one
};

// A launch that runs as workers: its batches share one queue of groups.
struct WorkerRun {
  rewrite::Range range;
  std::uint32_t groups = 0;
  Size3 local{1, 1, 1};
  std::shared_ptr<ControlWord> queue;
  // In place of control words, where workers have limits by compute unit: the table of the launch's queue, and its own
  // counters.
  std::shared_ptr<WorkerTable> table;
  std::shared_ptr<LaunchCounters> counters;
  // A launch that went to the device behind another one: its workers leave at once if not all groups of that have
  // ended.
  struct {
    std::shared_ptr<LaunchCounters> counters;
    std::uint32_t groups = 0;
  } before;
  std::vector<std::shared_ptr<WorkerBatch>> batches;
  std::uint32_t submitted = 0;  // workers in all batches
  bool exhausted = false;       // no group is left in the queue
  bool started_ahead = false;   // its latest batch was submitted before the policy knew of it
  bool beside_queue = false;    // some of its workers were submitted on other queues

  // Workers of the next launch find it complete when it is their turn on the queue, unless more workers are submitted.
  [[nodiscard]] bool may_be_followed() const {
    return table && !beside_queue &&
           std::any_of(batches.begin(), batches.end(), [](const auto& batch) { return !batch->extra_queue; });
  }
};

struct Command {
  enum class State {
    waiting,          // for its dependencies, or its turn to be submitted
    awaiting_printf,  // another kernel that prints is running
    arrived,          // a launch that the policy knows and has not started
    host_access,      // the client accesses a buffer in shared memory
    transferring,     // a transfer thread waits for it
    pipelined,        // on the device behind a kernel of its client, before the policy knows of it
    submitted,        // on the device
    ended,            // the device is done with it; commands before it on its queue have not been seen to complete
    refused,          // it will not run; commands before it on its queue have not been seen to complete
    done
  };

  // Puts a transfer on a queue of the device.
  using Submit = std::function<Status(const QueueObject&, EventHandle*)>;

  std::shared_ptr<Client> client;
  std::shared_ptr<Queue> queue;  // none: a user event
  CommandType type = CommandType::marker;
  EventId event = kNoEvent;
  std::size_t message_bytes = 0;
  Submit submit;
  bool next_queued = false;        // the next message is for the same queue and, too, `only_uses_device`
  bool blocking_transfer = false;  // `submit` waits until the transfer is complete
  bool start_awaited = false;      // the application's call waits for its start, and returns its error
  std::unique_ptr<LaunchPlan> launch;
  std::unique_ptr<WorkerRun> workers;  // set at its arrival, if it runs as workers
  Status status = status::kComplete;

  struct Edge {
    std::shared_ptr<Command> command;
    bool order_only;          // only the queue's order: a failure of the first does not fail the second
    bool same_queue = false;  // both are on one device queue, which keeps their order
  };
  struct Dependencies {
    std::uint32_t unmet = 0;  // commands that must complete, or be on the same device queue, before it is submitted
    std::uint32_t unobserved = 0;     // commands before it on the device queue that have not been seen to complete
    std::weak_ptr<Command> on_queue;  // the latest of them
    bool failed = false;
    std::vector<Edge> dependents;
  } dependencies;

  struct Times {
    std::uint64_t received = 0, ready = 0, submitted = 0;  // nanoseconds on the daemon's clock
    std::uint64_t device_queued = 0, device_submitted = 0, device_started = 0, device_ended = 0;  // on the device's
  } times;

  // The part of the device that a kernel still occupies although its client has gone.
  struct Orphaned {
    gpu::Resources footprint;
    std::uint32_t groups = 0;
    std::uint64_t since = 0;
  };
  struct Placement {
    policy::KernelId kernel = policy::kNoKernel;
    std::optional<Orphaned> orphaned;
    std::optional<double> pipelined_nanoseconds;  // counted in its client's pipelined launches
    bool started_at_once = false;                 // whatever the policy says, so that its cap does not apply
    bool occupies_compute_unit = false;           // a transfer that runs where groups do
  } placement;

  [[nodiscard]] State state() const { return state_; }
  // Behind another launch its workers left at once, without a group: they are submitted again when that has completed.
  [[nodiscard]] bool came_too_soon() const {
    return state_ == State::pipelined && workers && workers->batches.empty() && !workers->exhausted;
  }
  // Throws std::logic_error where the diagram above has no such transition.
  void enter(State next);
  [[nodiscard]] bool on_device() const {
    return state_ == State::pipelined || state_ == State::submitted || state_ == State::ended;
  }
  // Used if the command names an object that does not exist, or must not run: it fails, and its client continues.
  void refuse(Status why) {
    submit = [why](const QueueObject&, EventHandle*) { return why; };
  }

 private:
  State state_ = State::waiting;
};

[[nodiscard]] constexpr bool only_orders(CommandType type) {
  return type == CommandType::marker || type == CommandType::barrier;
}
// The command uses no memory of the host: its end matters only to what follows, unless the client has an event.
[[nodiscard]] constexpr bool only_uses_device(CommandType type) {
  return type == CommandType::launch || type == CommandType::fill || type == CommandType::copy ||
         type == CommandType::copy_rect;
}
[[nodiscard]] constexpr bool runs_on_device(CommandType type) {
  return !only_orders(type) && type != CommandType::host_access;
}

}  // namespace wm::runtime

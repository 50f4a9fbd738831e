// A whole system at thread-block grain: processes that run application traces on a CPU, and a GPU with command queues,
// a transfer engine and an execution engine under a policy.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "gpu/metrics.h"
#include "policy/policy.h"
#include "sim/block/app_trace.h"
#include "sim/block/arrivals.h"
#include "sim/block/command_queues.h"
#include "sim/block/host_cpu.h"
#include "sim/block/machine.h"
#include "sim/block/system_config.h"
#include "sim/block/transfer_engine.h"

namespace wm::sim {

struct ProcessSpec {
  std::string name;
  std::shared_ptr<const BoundApp> app;
  int priority = 0;
  double share = 1;
  std::uint32_t group = 0;  // entries with the same number are one process of the GPU; 0: a process of its own
  double goal = 0;          // ipc of each of its kernels' streams; 0: none
  double isolated_ipc = 0;  // 0: not known
  Cycles arrive = {};
  std::uint32_t runs = 0;  // ends after so many runs of the application; 0: runs again and again
  // Open arrivals are requests: each is one run, which waits for those before it, and its turnaround counts from its
  // arrival. `arrive` is not used then.
  Arrivals arrivals = {};
};

// The interface of an observer of a system; times are in cycles.
class SystemObserver : public BlockObserver {
 public:
  virtual void cpu_phase(std::uint32_t process, std::uint64_t begin, std::uint64_t end) = 0;
  virtual void transfer(std::uint32_t process, bool to_device, std::uint64_t bytes, std::uint64_t begin,
                        std::uint64_t end) = 0;
  virtual void launch_began(std::uint32_t process, std::uint32_t stream, const KernelModel& kernel,
                            std::uint64_t at) = 0;
  virtual void launch_ended(std::uint32_t process, std::uint32_t stream, std::uint64_t at) = 0;
  virtual void run_ended(std::uint32_t process, std::uint64_t begin, std::uint64_t end) = 0;
  // Whether the observer can keep no more events. The run then ends with an error instead of filling the memory.
  [[nodiscard]] virtual bool full() const { return false; }
};

struct StopRule {
  std::uint32_t runs_each = 0;  // ends when every process has completed so many runs; 0: not
  Cycles at = kNever;           // ends there at the latest
  // By then every process must have completed its runs, or the run fails: a policy that starves a process would keep
  // the others repeating without end.
  Cycles patience = kNever;
};

struct ProcessResult {
  std::string name;
  std::vector<std::uint64_t> turnarounds;  // cycles of each completed run
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t instructions = 0;
  gpu::Interval gpu;             // from its first block's start to its last launch's end
  std::uint64_t gpu_cycles = 0;  // cycles in which at least one of its launches was active

  [[nodiscard]] double mean_turnaround() const;
};

class System {
 public:
  // `declared`: the capabilities the policy needs or uses.
  System(const SystemConfig& config, policy::Policy& policy, policy::Cans declared, std::uint64_t seed);

  void add(ProcessSpec spec);
  void observe(SystemObserver& observer);
  // Runs until the rule is met. An error: no process can continue, one starves, or the observer is full.
  Result<void> run(const StopRule& rule);

  [[nodiscard]] Cycles now() const { return machine_.now(); }
  [[nodiscard]] ProcessResult result(std::uint32_t process) const;
  [[nodiscard]] std::uint32_t processes() const { return static_cast<std::uint32_t>(processes_.size()); }
  [[nodiscard]] BlockMachine& machine() { return machine_; }

 private:
  struct Process {
    enum class State { to_come, computing, waiting, done };
    ProcessSpec spec;
    State state = State::to_come;
    std::size_t step = 0;
    std::uint32_t pending = 0;       // commands that have not completed
    bool waits_for_all = false;      // while waiting: for all commands, or for the one that is awaited
    std::uint32_t first_stream = 0;  // index of the process's first stream among the system's
    std::uint64_t began = 0;         // start of the run in progress
    std::uint32_t active = 0;        // launches in the execution engine
    std::uint64_t active_since = 0;  // cycle from which it has had any
    std::uint64_t gpu_cycles = 0;    // as in ProcessResult
    std::vector<std::uint64_t> turnarounds;
  };
  struct Event {
    enum class Kind : std::uint8_t { arrives, cpu_done, copied_to_device, copied_to_host, launch_arrives };
    std::uint64_t at = 0;
    std::uint64_t number = 0;
    Kind kind = Kind::cpu_done;
    std::uint32_t index = 0;  // index of a process or of a hardware queue
    friend bool operator>(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.number > b.number; }
  };

  [[nodiscard]] std::uint32_t gpu_process(const ProcessSpec& spec) const;
  void schedule(std::uint64_t at, Event::Kind kind, std::uint32_t index) {
    events_.push({at, event_numbers_++, kind, index});
  }
  void handle(const Event& event);
  [[nodiscard]] std::uint64_t staging_cycles(const TraceStep& step) const;
  void begin_step(std::uint32_t process);
  void finish_step(std::uint32_t process);
  void next_step(std::uint32_t process);
  void end_run(std::uint32_t process);
  void await_request(std::uint32_t process);
  void compute(std::uint32_t process, std::uint64_t cycles);
  void enqueue(std::uint32_t process, const TraceStep& step);
  void issue(std::uint32_t queue);
  void complete(std::uint32_t queue);
  void launch_waiting();
  void end_launch(std::uint32_t stream);
  void begin_transfers();
  [[nodiscard]] bool over(const StopRule& rule) const;
  [[nodiscard]] Error starvation() const;

  SystemConfig config_;
  BlockMachine machine_;
  HostCpu cpu_;
  TransferEngine transfers_;
  CommandQueues queues_;
  std::vector<Process> processes_;
  std::vector<std::uint32_t> stream_owners_;  // process, by stream, which is the machine's client
  std::deque<std::uint32_t> buffered_;        // queues whose launch waits for a place in the execution engine
  std::uint32_t active_launches_ = 0;
  std::uint64_t dispatch_ = 0;    // cycles
  std::uint64_t api_call_ = 0;    // cycles
  std::uint32_t unfinished_ = 0;  // processes that have not yet completed the rule's runs
  std::uint64_t event_numbers_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint32_t runs_each_ = 0;
  std::optional<std::uint32_t> repeats_in_no_time_;  // a process whose runs take no cycle and have no limit
  SystemObserver* observer_ = nullptr;
};

}  // namespace wm::sim

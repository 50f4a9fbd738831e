// A program on the shared simulated GPU: its connection, its memory and modules, and the state of its host.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu_config.h"
#include "runtime/protocol/socket.h"
#include "runtime/simulated/launch_machine.h"
#include "runtime/simulated/module_code.h"
#include "runtime/simulated/served_protocol.h"
#include "runtime/simulated_server/program_memory.h"
#include "runtime/simulated_server/silence.h"

namespace wm::runtime {

// A launch that has been sent, and has not been given to the machine or is on it.
struct ProgramLaunch {
  std::uint64_t call = 0;  // number of the program's call
  std::string kernel;
  MachineLaunch launch;
  std::shared_ptr<std::string> printed = std::make_shared<std::string>();
  double isolated_cycles = 0, goal_cycles = 0;  // in isolation, and at its goal; 0: not known, or no goal
};

// Sums over a program's launches.
struct ProgramCounts {
  std::uint64_t launches = 0, cycles = 0;
  double isolated_cycles = 0;         // sum over the launches whose isolated rate is known
  std::uint64_t compared_cycles = 0;  // cycles of these launches
};

class ServedProgram {
 public:
  struct Identity {
    std::uint64_t number = 0;
    std::string name;
    Peer peer;
  };
  struct Terms {
    int priority = 0;
    double share = 1;
    ServedGoal goal;
  };

  // `config` outlives it.
  ServedProgram(Descriptor socket, Identity identity, Terms terms, const gpu::GpuConfig& config,
                std::unique_ptr<ProgramMemory> memory);

  // Handles what the program has sent. `free_bytes`: device memory that no program uses. False: the program is gone, or
  // broke the protocol.
  bool read(std::uint64_t free_bytes);

  // Whether the program's host cannot send a launch before the device answers.
  [[nodiscard]] bool is_waiting() const { return waits_after_ == resumptions_; }
  // Whether it has sent nothing for so long; the first time, the daemon's user is told.
  bool is_silent(double seconds);
  // Launches that it has sent since the last call, in their order.
  std::vector<ProgramLaunch> take_arrivals() { return std::exchange(arrivals_, {}); }
  [[nodiscard]] bool has_arrivals() const { return !arrivals_.empty(); }

  // Answers for which the socket had no room are sent when it has; until then the program must not be forgotten.
  [[nodiscard]] bool has_unsent() const { return !unsent_.empty(); }
  bool send_rest();

  // Tells the program that it is ended before its connection is closed.
  void tell_end();
  // Answers a launch that is over. False: the program is gone, or does not read its answers.
  bool answer(const ProgramLaunch& launch, const FinishedLaunch& done);
  // Answers a question whether work is done, once its time has come; `idle`: nothing runs that could be waited for.
  bool answer_poll(Cycles now, bool idle);

  [[nodiscard]] const Descriptor& socket() const { return socket_; }
  [[nodiscard]] ProgramMemory& memory() { return *memory_; }
  [[nodiscard]] std::size_t modules() const { return modules_.size(); }
  // The goal of a launch in thread instructions per cycle that the program has set for the kernel itself; 0: none.
  [[nodiscard]] double goal_of(const std::string& kernel) const;

  Identity identity;
  Terms terms;
  ProgramCounts counts;
  std::map<LaunchTicket, ProgramLaunch> running;

 private:
  struct Poll {
    std::uint64_t call = 0;
    Cycles until;
  };

  bool handle(const ServedMessage& message, std::uint64_t free_bytes);
  bool send(ServedOp op, std::uint64_t call, Cycles time, bool resumes, const Payload& payload);
  bool acknowledge(std::uint64_t call, const Result<void>& done);
  Result<void> load_module(const ServedMessage& message);
  bool launch(const ServedMessage& message);
  [[nodiscard]] Cycles cycles(std::uint64_t nanoseconds) const;

  Descriptor socket_;
  const gpu::GpuConfig& config_;
  std::unique_ptr<ProgramMemory> memory_;
  std::map<std::uint64_t, std::unique_ptr<ModuleCode>> modules_;
  std::map<std::string, double> goals_;  // by kernel
  std::vector<ProgramLaunch> arrivals_;
  struct Unsent {
    ServedHeader header;
    Payload payload;
  };
  std::deque<Unsent> unsent_;
  std::optional<Poll> poll_;
  std::uint64_t resumptions_ = 0;             // answers after which its host runs again
  std::optional<std::uint64_t> waits_after_;  // resumptions that it had handled when it began to wait
  Silence silence_;
  bool is_silence_told_ = false;
};

}  // namespace wm::runtime

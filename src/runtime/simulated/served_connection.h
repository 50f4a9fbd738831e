// A program's connection to the daemon of a shared simulated GPU: its memory, its simulated time, and calls.
//
// Simulated time stands still while the program runs and goes on while it waits for the device. A thread of this
// connection reads the daemon's answers. Any thread may call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>

#include "base/result.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/simulated/memory_backing.h"
#include "runtime/simulated/served_protocol.h"

namespace wm::runtime {

// The terms with which a program connects to the daemon.
struct ServedTerms {
  std::string name;
  int priority = 0;
  double share = 1;
  ServedGoal goal;
};

// "0.9" of the isolated rate, "ipc=200", "time=2ms" or "p99=2ms" for a launch, "rate=500" launches a second; empty text
// is no goal.
Result<ServedGoal> parse_served_goal(const std::string& text);

class ServedConnection final : public MemoryBacking {
 public:
  // The connection lives until the process ends, as its thread does.
  static Result<ServedConnection*> open(const std::string& socket, const ServedTerms& terms);

  // Called when a launch has been sent, and when its answer has come, before the caller continues.
  struct Activity {
    std::function<void()> left, returned;
  };
  void set_activity(Activity activity);

  // The reason why a call had no answer.
  std::string why_gone();
  // Sends a call and waits for its answer; empty: the daemon is gone.
  std::optional<ServedMessage> call(ServedOp op, const Payload& payload);
  void post(ServedOp op, const Payload& payload);
  // No thread of the program has anything to do before the device answers.
  void tell_waiting();
  // In a child of the process: the daemon shall learn when the process ends, though its child lives on.
  void close_in_child() { ::close(socket_.get()); }
  // The program's simulated time in nanoseconds.
  [[nodiscard]] std::int64_t now();
  [[nodiscard]] std::uint64_t memory_bytes() const { return welcome_.memory_bytes; }

  // --- MemoryBacking
  [[nodiscard]] int file() const override { return memory_.get(); }
  Result<void> allocated(std::uint64_t address, std::uint64_t bytes, bool on_device, const std::string& name) override;
  Result<void> aliased(std::uint64_t alias, std::uint64_t address, std::uint64_t bytes) override;
  Result<void> heap_placed(std::uint64_t address, std::uint64_t sm_bytes) override;
  void freed(std::uint64_t address) override;

 private:
  ServedConnection(Descriptor socket, const ServedWelcome& welcome, Descriptor memory)
      : socket_(std::move(socket)), welcome_(welcome), memory_(std::move(memory)) {}
  // Sends a call that is answered with success or a reason.
  Result<void> ask(ServedOp op, const Payload& payload);
  void send(ServedOp op, std::uint64_t number, const Payload& payload);
  void read_answers();
  [[nodiscard]] std::uint64_t time_locked() const;
  void stop_clock();

  Descriptor socket_;
  const ServedWelcome welcome_;
  Descriptor memory_;
  std::mutex mutex_;  // guards all below, and the order of messages
  Activity activity_;
  std::condition_variable answered_;
  std::map<std::uint64_t, std::optional<ServedMessage>> calls_;  // by number; with its answer
  std::uint64_t calls_made_ = 0;
  std::uint64_t resumptions_ = 0;
  std::uint64_t base_nanoseconds_ = 0;  // simulated time at `since_`
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  bool is_waiting_ = false;
  bool is_gone_ = false;
  bool is_ended_ = false;  // by `wm end`
};

}  // namespace wm::runtime

// The device's driver, tried in a process of its own before the daemon does the same: a program that ends its compiler
// ends that process, and only its client hears of it.
//
// What was tried once and went well is not tried again, in this daemon or a later one with the same folder, driver and
// device. Any thread may ask.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rewrite/worker_process.h"
#include "runtime/protocol/message.h"
#include "runtime/sandbox/request.h"

namespace wm::runtime::sandbox {

struct SandboxOptions {
  std::string program;  // wm-sandbox; empty: nothing is tried
  std::string device;   // part of its name
  std::string driver;   // its version and the like: others are tried anew
  std::string folder;   // where it is kept what went well; empty: nowhere
  std::chrono::milliseconds limit{120'000};
};

class Sandbox {
 public:
  explicit Sandbox(SandboxOptions options) : options_(std::move(options)) {}

  // Why the daemon must not do it, in words for a build log; nothing where it may.
  std::optional<std::string> refusal(Request request);
  // What the driver answers to the questions; as the standard has it where it does not survive one.
  NativeResults answers();

  struct Counts {
    std::uint64_t tried = 0, known = 0, refused = 0;
  };
  [[nodiscard]] Counts counts() const;         // of programs
  [[nodiscard]] Counts launch_counts() const;  // of launches
  // Whether there is anything to try with.
  [[nodiscard]] bool possible() const { return !options_.program.empty(); }

 private:
  // Asks a process of ours, which is kept where none is idle.
  Result<std::int32_t> exchange(const std::string& request);
  void keep(const std::string& name, const std::string& content) const;

  const SandboxOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::optional<rewrite::WorkerProcess> idle_;
  unsigned busy_ = 0;
  std::set<std::string> well_;                // by name of the request
  std::map<std::string, std::string> fatal_;  // …, and what became of it
  Counts counts_, launch_counts_;
};

// $WM_SANDBOX, or wm-sandbox beside the running program; empty where there is none.
std::string find_sandbox();

}  // namespace wm::runtime::sandbox

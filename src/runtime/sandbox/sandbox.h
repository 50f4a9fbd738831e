// The compile sandbox: before the daemon builds a program or launches a kernel, the process wm-sandbox does the same. A
// program that crashes the device's compiler ends that process, and only its client gets an error.
//
// A request that succeeded is not tried again, in this daemon or a later one with the same folder, driver and device.
// Safe for use by several threads.
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
  std::string program;  // the path of wm-sandbox; empty: nothing is tried
  std::string device;   // part of its name
  std::string driver;   // version of the driver; results of other versions do not count
  std::string folder;   // stores the names of requests that succeeded; empty: nothing is stored
  std::chrono::milliseconds limit{120'000};
};

class Sandbox {
 public:
  explicit Sandbox(SandboxOptions options) : options_(std::move(options)) {}

  // The reason why the daemon must not execute the request, as text for a build log; nothing if it may.
  std::optional<std::string> refusal(Request request);
  // The driver's results of nonstandard calls; the error of the standard for calls that crash the driver.
  NativeResults native_results();

  struct Counts {
    std::uint64_t tried = 0, known = 0, refused = 0;
  };
  [[nodiscard]] Counts counts() const;         // counts of programs
  [[nodiscard]] Counts launch_counts() const;  // counts of launches
  [[nodiscard]] const SandboxOptions& options() const { return options_; }
  // Whether there is a sandbox.
  [[nodiscard]] bool possible() const { return !options_.program.empty(); }

 private:
  struct KeptProcess {
    rewrite::WorkerProcess process;
    unsigned requests = 0;  // answered so far
  };
  // Sends a request to a sandbox process, which is kept for the next request.
  Result<std::int32_t> exchange(const std::string& request);
  void store(const std::string& name, const std::string& content) const;

  const SandboxOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<KeptProcess> idle_;
  unsigned busy_ = 0;
  std::set<std::string> succeeded_;           // names of requests
  std::map<std::string, std::string> fatal_;  // names of requests, and how the process ended
  Counts counts_, launch_counts_;
};

// $WM_SANDBOX, or wm-sandbox beside the running program; empty: not found.
std::string find_sandbox();

}  // namespace wm::runtime::sandbox

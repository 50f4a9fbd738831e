// The processes of `wm bench share`: the daemon under one policy, and clients that run a benchmark on request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/input/process.h"
#include "runtime/protocol/descriptor.h"

namespace wm::cli {

// A child process that reads requests and writes answers, one per line. It is ended by the destructor.
class LineProcess {
 public:
  // `environment`: NAME=VALUE sets a variable, NAME removes it.
  static Result<std::unique_ptr<LineProcess>> start(const std::vector<std::string>& words,
                                                    const std::vector<std::string>& environment);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  bool send(const std::string& line);
  // Returns an error if no line arrives within `seconds`, or the child has ended.
  Result<std::string> receive(double seconds);

 private:
  LineProcess() = default;
  pid_t pid_ = 0;
  runtime::Descriptor to_, from_;
  std::string rest_;  // received text that is not yet a complete line
};

constexpr std::uint32_t kMaxRepeat = 10'000;

struct ShareSetup {
  std::string size, device, cache;
  bool rewrite = true;
  std::uint32_t repeat = 1;  // runs of its benchmark that a client makes in a row each time
};

// When a client's request ran: from its first call to the end of its last launch, on the common clock, and on the
// device's. Nanoseconds.
struct ShareRun {
  std::uint64_t began = 0, ended = 0, device_began = 0, device_ended = 0;
};

// Clients under one policy; `native`: each on the device's own driver, without a daemon.
class ShareProcesses {
 public:
  static Result<std::unique_ptr<ShareProcesses>> start(const ShareSetup& setup, const std::string& policy);
  ~ShareProcesses();

  // One run of each at the same instant, a little apart in their order; benchmarks may repeat.
  Result<std::vector<ShareRun>> run(const std::vector<std::string>& benchmarks);
  // The first line that this program prints when it is run as a client with these arguments.
  Result<std::string> ask(std::vector<std::string> arguments);
  // Compares the results of every client's last run with the reference and returns the first mismatch.
  Result<void> check();

 private:
  ShareProcesses(ShareSetup setup, TemporaryFolder folder) : setup_(std::move(setup)), folder_(std::move(folder)) {}
  Result<LineProcess*> client(const std::string& benchmark, std::size_t instance);

  ShareSetup setup_;
  TemporaryFolder folder_;
  std::vector<std::string> environment_;
  std::unique_ptr<LineProcess> daemon_;
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<LineProcess>> clients_;
};

}  // namespace wm::cli

// Processes that `wm bench share` has: the daemon under one policy, and clients that run a benchmark when told.
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

// A child that is asked in lines and answers in lines. Ended with the object.
class Told {
 public:
  // `environment`: NAME=VALUE to set, or NAME alone to take away.
  static Result<std::unique_ptr<Told>> start(const std::vector<std::string>& words,
                                             const std::vector<std::string>& environment);
  ~Told();
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  bool say(const std::string& line);
  // An error where none comes in `seconds`, or the child has ended.
  Result<std::string> hear(double seconds);

 private:
  Told() = default;
  pid_t pid_ = 0;
  runtime::Descriptor to_, from_;
  std::string rest_;  // heard, and not yet a line
};

struct ShareSetup {
  std::string size, device, cache;
  bool rewrite = true;
};

// When a client's request ran: from its first call to the end of its last launch, on the common clock, and on the
// device's. Nanoseconds.
struct ShareRun {
  std::uint64_t began = 0, ended = 0, device_began = 0, device_ended = 0;
};

// Clients under one policy; `native`: each on the device's own driver, without a daemon.
class ShareCompany {
 public:
  static Result<std::unique_ptr<ShareCompany>> start(const ShareSetup& setup, const std::string& policy);
  ~ShareCompany();

  // One run of each at the same instant, a little apart in their order; benchmarks may repeat.
  Result<std::vector<ShareRun>> run(const std::vector<std::string>& benchmarks);
  // What this program says first, run with these arguments as a client.
  Result<std::string> ask(std::vector<std::string> arguments);
  // What every client's last run left, against the reference: the first that is wrong.
  Result<void> check();

 private:
  ShareCompany(ShareSetup setup, TemporaryFolder folder) : setup_(std::move(setup)), folder_(std::move(folder)) {}
  Result<Told*> client(const std::string& benchmark, std::size_t instance);

  ShareSetup setup_;
  TemporaryFolder folder_;
  std::vector<std::string> environment_;
  std::unique_ptr<Told> daemon_;
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<Told>> clients_;
};

}  // namespace wm::cli

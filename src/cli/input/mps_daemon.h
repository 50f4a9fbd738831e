// An MPS daemon of our own: CUDA programs that use its pipe folder share one server, which runs their kernels beside
// each other.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/input/process.h"

namespace wm::cli {

class MpsDaemon {
 public:
  // Starts nvidia-cuda-mps-control ($WARPMUX_MPS_CONTROL names another program).
  static Result<std::unique_ptr<MpsDaemon>> start();
  // Stops the daemon and its server.
  ~MpsDaemon();
  MpsDaemon(const MpsDaemon&) = delete;
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  [[nodiscard]] std::string pipe_folder() const { return folder_.file("pipe"); }

 private:
  explicit MpsDaemon(TemporaryFolder folder) : folder_(std::move(folder)) {}
  [[nodiscard]] Result<Finished> control(const std::string& arguments) const;

  TemporaryFolder folder_;
  bool is_running_ = false;
};

}  // namespace wm::cli

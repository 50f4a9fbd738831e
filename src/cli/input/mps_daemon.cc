#include "cli/input/mps_daemon.h"

#include <cstdlib>
#include <filesystem>

namespace wm::cli {

Result<std::unique_ptr<MpsDaemon>> MpsDaemon::start() {
  auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  std::unique_ptr<MpsDaemon> daemon(new MpsDaemon(std::move(*folder)));
  std::error_code error;
  std::filesystem::create_directory(daemon->pipe_folder(), error);
  std::filesystem::create_directory(daemon->folder_.file("log"), error);
  if (error) return Error{"cannot make the folders of an MPS daemon: " + error.message()};
  const auto started = daemon->control("-d");
  if (!started) return started.error();
  if (started->code != 0) return Error{"the MPS daemon does not start: " + started->output};
  daemon->is_running_ = true;
  return daemon;
}

MpsDaemon::~MpsDaemon() {
  if (is_running_) (void)control("quit");
}

Result<Finished> MpsDaemon::control(const std::string& arguments) const {
  const char* given = std::getenv("WARPMUX_MPS_CONTROL");
  const std::string program = given != nullptr ? given : "nvidia-cuda-mps-control";
  const std::string variables =
      "CUDA_MPS_PIPE_DIRECTORY=" + pipe_folder() + " CUDA_MPS_LOG_DIRECTORY=" + folder_.file("log") + " ";
  // The daemon must not keep this process's pipe open.
  const std::string command = arguments == "-d" ? variables + program + " -d > " + folder_.file("output") + " 2>&1"
                                                : "echo quit -t 5 | " + variables + program + " > /dev/null 2>&1";
  return run_program({"sh", "-c", command});
}

}  // namespace wm::cli

#include "cli/commands/run_simulated.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/units.h"
#include "cli/input/client_library.h"
#include "cli/input/data_folder.h"
#include "cli/input/foreground_process.h"
#include "gpu/load_gpu.h"
#include "policy/registry.h"
#include "runtime/simulated/launch_range.h"
#include "runtime/simulated/served_connection.h"
#include "runtime/simulated/static_runtime.h"
#include "sim/block/machine.h"

namespace wm::cli {

namespace fs = std::filesystem;

namespace {

// The file that a command names, itself or in a folder of PATH.
std::string program_file(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder) / command;
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  return command;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs a command whose loader finds the simulated GPU's libraries, with these variables.
Result<int> run_with_driver(const std::vector<std::string>& command, const std::string& library, Variables variables,
                            const std::vector<std::string>& unset) {
  if (runtime::has_static_runtime(program_file(command[0])))
    return Error{command[0] + ": " + runtime::kStaticRuntimeAdvice};
  const auto folder = find_simulated_driver(library);
  if (!folder) return folder.error();
  const char* path = std::getenv("LD_LIBRARY_PATH");
  const std::string libraries = *folder + (path != nullptr && *path != 0 ? std::string(":") + path : "");
  variables.emplace_back("LD_LIBRARY_PATH", libraries);
  variables.emplace_back("WARPMUX_GPUS", gpu_folder());
  // The loader would look for these libraries in folders that the program's file names first.
  std::string preloaded;
  std::error_code ignored;
  for (const std::string& name : runtime::fixed_cuda_libraries(program_file(command[0]))) {
    const std::string file = *folder + "/" + name;
    if (fs::exists(file, ignored)) preloaded += (preloaded.empty() ? "" : ":") + file;
  }
  if (!preloaded.empty()) {
    const char* others = std::getenv("LD_PRELOAD");
    variables.emplace_back("LD_PRELOAD",
                           preloaded + (others != nullptr && *others != 0 ? std::string(":") + others : ""));
  }
  return run_in_foreground(command, variables, unset);
}

}  // namespace

Result<int> run_simulated(const RunSimulatedOptions& options) {
  if (options.command.empty()) return Error{"run what? wm run --simulate GPU -- APP ARGUMENTS…"};
  const bool is_timed = options.timing == "cycle" || options.timing == "block";
  if (!is_timed && options.timing != "functional")
    return Error{"--timing '" + options.timing + "' is neither functional nor cycle nor block"};
  if (!is_timed && !(options.policy.empty() && options.from_launch.empty()))
    return Error{"--policy and --from-launch need --timing cycle or block"};
  if (!options.policy.empty()) {
    const auto choice = policy::choose(options.policy);
    if (!choice) return choice.error();
    if (options.timing == "block") {
      if (const auto made = policy::make(*choice, sim::BlockMachine::kCans, "block"); !made) return made.error();
    }
  }
  if (const auto range = runtime::parse_launch_range(options.from_launch); !range)
    return Error{"--from-launch: " + range.error().what};
  // A mistake in the GPU's file is told here and not by the application.
  if (const auto gpu = gpu::load_gpu(options.gpu, gpu_folder()); !gpu) return gpu.error();
  if (!options.memory.empty()) {
    if (const auto bytes = parse_bytes(options.memory); !bytes) return Error{"--memory: " + bytes.error().what};
  }
  std::error_code ignored;
  const std::string gpu = options.gpu.ends_with(".yaml") ? fs::absolute(options.gpu, ignored).string() : options.gpu;
  Variables variables{{"WARPMUX_SIMULATE", gpu}, {"WARPMUX_TIMING", options.timing}};
  if (!options.memory.empty()) variables.emplace_back("WARPMUX_SIMULATED_MEMORY", options.memory);
  if (!options.policy.empty()) variables.emplace_back("WARPMUX_POLICY", options.policy);
  if (!options.from_launch.empty()) variables.emplace_back("WARPMUX_FROM_LAUNCH", options.from_launch);
  return run_with_driver(options.command, options.library, std::move(variables), {"WARPMUX_SERVED"});
}

Result<int> run_served(const RunServedOptions& options) {
  if (const auto goal = runtime::parse_served_goal(options.goal); !goal) return goal.error();
  Variables variables{{"WARPMUX_SIMULATE", options.gpu}, {"WARPMUX_SERVED", options.socket}};
  if (options.share > 0) variables.emplace_back("WARPMUX_SHARE", std::to_string(options.share));
  if (options.priority > 0) variables.emplace_back("WARPMUX_PRIORITY", std::to_string(options.priority));
  if (!options.goal.empty()) variables.emplace_back("WARPMUX_SIMULATED_GOAL", options.goal);
  if (!options.name.empty()) variables.emplace_back("WARPMUX_NAME", options.name);
  return run_with_driver(options.command, options.library, std::move(variables), {});
}

}  // namespace wm::cli

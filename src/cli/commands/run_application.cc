// wm run: runs a command whose OpenCL loader finds warpmux's client library and no driver; a CUDA program on the
// machine's driver, if the daemon arbitrates these; or, with --simulate, a CUDA program on the simulated GPU.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

#include "base/json.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/commands/run_cuda.h"
#include "cli/commands/run_simulated.h"
#include "cli/input/client_library.h"
#include "cli/input/foreground_process.h"
#include "cli/input/process.h"
#include "cli/output/ignored_requests.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/socket.h"

namespace wm::cli {
namespace {

namespace fs = std::filesystem;

// The value of --simulate where it is not given: an empty one is a mistake.
constexpr const char* kNotSimulated = "-";
constexpr const char* kFunctional = "functional";

struct RunApplicationOptions {
  std::string socket, library;
  double share = 0;
  std::uint64_t priority = 0;
  double wait = 10;
  std::string goal;
  std::string name;
  std::vector<std::string> command;
  RunSimulatedOptions simulated;
};

// The daemon's answer. A daemon that was just started needs some time before it listens; while `seconds` have not
// passed, a missing socket is therefore not an error, unless not even its folder exists. A daemon that answers and
// refuses is not waited for. A terminal shows a notice meanwhile, which is erased at the end.
Result<std::string> wait_for_daemon(const std::string& socket, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const bool on_terminal = ::isatty(STDERR_FILENO) != 0;
  bool noticed = false;
  for (;;) {
    bool is_refused = false;
    auto status = runtime::request_status(socket, &is_refused);
    std::error_code ignored;
    const bool has_folder = fs::exists(fs::absolute(socket, ignored).parent_path(), ignored);
    if (status || is_refused || passed() >= seconds || !has_folder) {
      if (noticed) std::fputs("\r\033[K", stderr);
      return status;
    }
    if (passed() > 1 && on_terminal && !noticed) {
      noticed = true;
      std::fprintf(stderr, "wm: waiting for a daemon at %s", socket.c_str());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// The GPU that the daemon with this status simulates; empty: it has a real device.
std::string simulated_gpu(const std::string& status) {
  const auto document = nlohmann::json::parse(status, nullptr, false);
  if (!document.is_object() || !document.contains("simulated")) return {};
  return document["simulated"].value("gpu", "");
}

// How a daemon of `wm serve --cuda` lets programs share the GPU; null: it is another daemon.
nlohmann::json arbiter_of(const std::string& status) {
  const auto document = nlohmann::json::parse(status, nullptr, false);
  if (!document.is_object() || !document.contains("arbiter")) return {};
  return document["arbiter"];
}

// The goal of an OpenCL program: the time of one launch, or a part of its isolated rate; 0: none of this kind.
struct OpenclGoal {
  std::uint32_t microseconds = 0;
  double part = 0;
};

// "500" or "500/s".
std::optional<double> parse_rate(const std::string& text) {
  return parse_double(text.ends_with("/s") ? text.substr(0, text.size() - 2) : text);
}

// "p99=2ms", "rate=500", launches per second, or "0.9".
Result<OpenclGoal> opencl_goal(const std::string& text) {
  if (text.empty()) return OpenclGoal{};
  if (const auto part = parse_double(text)) return OpenclGoal{0, *part};
  const std::string name = text.substr(0, text.find('=')), value = text.substr(std::min(text.size(), name.size() + 1));
  double microseconds = 0;
  if (name == "rate") {
    const auto rate = parse_rate(value);
    microseconds = rate && *rate > 0 ? 1e6 / *rate : 0;
  } else if (name == "p99" || name == "time") {
    const auto time = parse_picoseconds(value);
    if (!time) return time.error();
    microseconds = static_cast<double>(time->count) * 1e-6;
  }
  if (microseconds >= 1 && microseconds < 4e9) return OpenclGoal{static_cast<std::uint32_t>(microseconds), 0};
  return Error{"--goal '" + text + "' is neither a time as in p99=2ms, nor launches per second as in rate=500, nor a " +
               "part of the isolated rate as in 0.9"};
}

// Refuses a goal that no kind of daemon takes, before one is waited for.
Result<void> check_goal(const std::string& text) {
  if (const auto part = parse_double(text); part && !(*part > 0 && *part <= 1))
    return Error{"--goal '" + text + "': a part of the isolated rate lies above 0 and at most at 1"};
  const std::string name = text.substr(0, text.find('=')), value = text.substr(std::min(text.size(), name.size() + 1));
  const bool percentile = name.size() > 1 && name[0] == 'p' && name.find_first_not_of("0123456789.", 1) == name.npos;
  if (percentile && name != "p99") return Error{"--goal '" + text + "': p99 is the only percentile, as in p99=2ms"};
  if (name == "p99" || name == "time") {
    const auto time = parse_picoseconds(value);
    if (!time) return Error{"--goal '" + text + "': " + time.error().what};
    if (time->count == 0) return Error{"--goal '" + text + "': the time must be larger than 0"};
  }
  if (name == "rate") {
    const auto rate = parse_rate(value);
    if (!rate || !(*rate > 0)) return Error{"--goal '" + text + "': launches per second are missing, as in rate=500"};
  }
  return {};
}

// The value of --goal where none is given.
constexpr const char* kNoGoal = "none";

// One line for each request that the daemon's policy does not honour; the program still runs.
void tell_ignored_requests(const std::string& status, const RunApplicationOptions& options) {
  const auto document = nlohmann::ordered_json::parse(status, nullptr, false);
  if (!document.is_object()) return;
  for (const std::string& line : ignored_requests(document, !options.goal.empty(), options.priority > 0))
    std::fprintf(stderr, "wm: %s\n", line.c_str());
}

Result<int> run_application(RunApplicationOptions options) {
  if (options.command.empty()) return Error{"run what? wm run -- APP ARGUMENTS…"};
  if (options.goal.empty()) return Error{"--goal is empty; a goal is a time as in p99=2ms, or a rate as in rate=500"};
  if (options.goal == kNoGoal) options.goal.clear();
  if (options.simulated.gpu != kNotSimulated) {
    if (options.simulated.gpu.empty()) return Error{"--simulate needs a GPU of `wm gpus`"};
    if (!options.goal.empty())
      return Error{
          "--goal is for programs that share a GPU: start `wm serve --simulate`, and `wm run` without --simulate"};
    RunSimulatedOptions simulated = options.simulated;
    simulated.library = options.library;
    simulated.command = options.command;
    return run_simulated(simulated);
  }
  for (const auto& [name, is_given] : {std::pair{"--timing", options.simulated.timing != kFunctional},
                                       std::pair{"--policy", !options.simulated.policy.empty()},
                                       std::pair{"--from-launch", !options.simulated.from_launch.empty()}}) {
    if (is_given) return Error{std::string(name) + " needs --simulate"};
  }
  if (auto goal = check_goal(options.goal); !goal) return goal.error();
  const std::string socket = options.socket.empty() ? runtime::default_socket() : options.socket;
  const auto status = wait_for_daemon(socket, options.wait);
  if (!status) return status.error();
  const std::string gpu = simulated_gpu(*status);
  const auto arbiter = arbiter_of(*status);
  const auto goal = gpu.empty() && !arbiter.is_object() ? opencl_goal(options.goal) : Result<OpenclGoal>(OpenclGoal{});
  if (!goal) return goal.error();
  tell_ignored_requests(*status, options);
  if (!gpu.empty()) {
    return run_served({.socket = fs::absolute(socket).string(),
                       .gpu = gpu,
                       .name = options.name,
                       .goal = options.goal,
                       .share = options.share,
                       .priority = options.priority,
                       .library = options.library,
                       .command = options.command});
  }
  if (arbiter.is_object()) {
    return run_cuda({.socket = fs::absolute(socket).string(),
                     .sharing = arbiter.value("sharing", ""),
                     .pipe_folder = arbiter.value("mps_pipe_folder", ""),
                     .name = options.name,
                     .goal = options.goal,
                     .share = options.share,
                     .priority = options.priority,
                     .memory = options.simulated.memory,
                     .max_memory = arbiter.value("client_memory_bytes", std::uint64_t{0}),
                     .library = options.library,
                     .command = options.command});
  }
  const auto library = find_client_library(options.library);
  if (!library) return library.error();
  // The loader finds only the client library in this folder. The loader that comes with CUDA does not accept a folder
  // but the library itself.
  auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  std::ofstream(folder->file("warpmux.icd")) << *library << "\n";
  std::vector<std::pair<std::string, std::string>> environment{
      {"OCL_ICD_VENDORS", fs::path(folder->file("")).parent_path().string()},
      {"WARPMUX_SOCKET", socket},
      {"WARPMUX_VERBOSE", "1"},
      {"OCL_ICD_FILENAMES", *library}};
  if (options.share > 0) environment.emplace_back("WARPMUX_SHARE", std::to_string(options.share));
  if (options.priority > 0) environment.emplace_back("WARPMUX_PRIORITY", std::to_string(options.priority));
  if (goal->microseconds != 0) environment.emplace_back("WARPMUX_GOAL", std::to_string(goal->microseconds));
  if (goal->part > 0) environment.emplace_back("WARPMUX_GOAL_PART", std::to_string(goal->part));
  const auto ended = run_in_foreground(options.command, environment, {"WARPMUX_DISABLE"});
  if (!ended) return ended.error();
  const int code = *ended;
  if (!runtime::request_status(socket)) {  // a dying daemon may still accept connections, but does not answer
    std::fprintf(stderr, "wm: the daemon at %s is gone; what the application did after that had no device\n",
                 socket.c_str());
    return code == 0 ? 1 : code;
  }
  return code;
}

}  // namespace

void add_run(const Command& wm) {
  auto options = std::make_shared<RunApplicationOptions>();
  const Command run =
      wm.add("run", "Run an OpenCL or CUDA application on the shared device, or a CUDA program in simulation",
             "wm run -- clinfo\nwm run --share 2 -- ./app --size 4096\n"
             "wm run --goal p99=2ms -- ./service\nwm run --simulate h200 -- ./cuda_app");
  run.option("command", options->command, "The application and its arguments, after --");
  run.option("--socket", options->socket, "The daemon's socket", {.type = "FILE"});
  run.option("--share", options->share, "Its weight among others, where the policy has shares",
             {.low = 0.001, .high = 1000});
  run.option("--priority", options->priority, "Larger goes first, where the policy has priorities", {.high = 100});
  options->goal = kNoGoal;
  run.option("--goal", options->goal,
             "What its launches should reach, where the policy has goals: p99=2ms, rate=500 launches a second, or "
             "0.9 of the isolated rate; on a simulated GPU ipc=200");
  run.option("--name", options->name, "The program's name, for CUDA programs (default: that of its file)");
  run.option("--wait", options->wait, "Seconds to wait for the daemon's socket", {.show_default = true, .high = 3600});
  run.option("--library", options->library,
             "libwarpmux_opencl.so, if it is not beside wm; for CUDA programs the folder of libcuda.so.1",
             {.type = "FILE"});
  run.option("--simulate", options->simulated.gpu, "Run a CUDA program on this GPU of `wm gpus`, simulated",
             {.type = "GPU"});
  options->simulated.gpu = kNotSimulated;
  options->simulated.timing = kFunctional;
  run.option(
      "--timing", options->simulated.timing,
      "How kernels are simulated: functional (without time), cycle (on the cycle machine), or block (on the block "
      "machine, with block times from each kernel's first launch on the cycle machine)",
      {.show_default = true});
  run.option("--policy", options->simulated.policy,
             "With --timing cycle or block: the policy for kernels of several streams");
  run.option("--from-launch", options->simulated.from_launch,
             "With --timing cycle or block: only launch N and later ones, or N-M, are timed", {.type = "N[-M]"});
  run.option("--memory", options->simulated.memory,
             "Memory of the simulated GPU, as '8 GB' (default: half of the host's); under `wm serve --cuda` the "
             "most device memory that the program may allocate");
  run.run([options] { return run_application(*options); });
}

}  // namespace wm::cli

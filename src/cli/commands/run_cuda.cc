#include "cli/commands/run_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "base/number.h"
#include "base/units.h"
#include "cli/input/client_library.h"
#include "cli/input/cuda_driver.h"
#include "cli/input/foreground_process.h"
#include "runtime/protocol/control_page.h"

namespace wm::cli {

namespace {

// "p99=300us", "rate=200" (launches per second) or "0.9" (of the isolated rate) as its kind and value; empty: no goal.
Result<std::string> encoded_goal(const std::string& text) {
  using Kind = runtime::ProgramGoal::Kind;
  if (text.empty()) return std::string();
  const std::size_t sign = text.find('=');
  const std::string name = sign == std::string::npos ? "" : text.substr(0, sign);
  std::string value = sign == std::string::npos ? text : text.substr(sign + 1);
  const auto encoded = [](Kind kind, double number) { return fmt::format("{} {}", static_cast<int>(kind), number); };
  if (name == "p99" || name == "time") {
    const auto time = parse_picoseconds(value);
    if (!time) return Error{"--goal '" + text + "': " + time.error().what};
    if (time->count > 0) return encoded(Kind::p99_nanoseconds, static_cast<double>(time->count) * 1e-3);
  }
  if (name == "rate") {
    if (value.ends_with("/s")) value.resize(value.size() - 2);
    const auto rate = parse_double(value);
    if (rate && *rate > 0) return encoded(Kind::launches_per_second, *rate);
  }
  const auto part = name.empty() ? parse_double(value) : std::nullopt;
  if (part && *part > 0 && *part <= 1) return encoded(Kind::part_of_isolated_rate, *part);
  return Error{
      "--goal '" + text +
      "' is neither a time as in p99=300us, nor launches per second as in rate=200, nor a part of the isolated "
      "rate as 0.9"};
}

// The folder or library before what the variable lists already.
std::string prepended(const std::string& first, const char* variable) {
  const char* before = std::getenv(variable);
  return first + (before != nullptr && *before != 0 ? std::string(":") + before : "");
}

}  // namespace

Result<int> run_cuda(const RunCudaOptions& options) {
  const auto goal = encoded_goal(options.goal);
  if (!goal) return goal.error();
  const auto library = find_forwarding_driver(options.library);
  if (!library) return library.error();
  const std::string driver = cuda_driver_file();
  if (driver.empty()) return Error{"there is no CUDA driver here: libcuda.so.1 was not found"};
  std::vector<std::pair<std::string, std::string>> variables{
      {"WARPMUX_ARBITER", options.socket},
      {"WARPMUX_LIBCUDA", driver},
      {"LD_LIBRARY_PATH", prepended(std::filesystem::path(*library).parent_path().string(), "LD_LIBRARY_PATH")}};
  if (options.sharing == "mps") {
    variables.emplace_back("CUDA_MPS_PIPE_DIRECTORY", options.pipe_folder);
    // NULL streams have no priority of their own, but MPS has two for clients: 0 is the higher one.
    const bool is_first = options.priority > 0 || !goal->empty();
    variables.emplace_back("CUDA_MPS_CLIENT_PRIORITY", is_first ? "0" : "1");
  } else {
    // Preloaded, the library sees the driver's calls to the kernel. No MPS daemon is found in a folder that does not
    // exist.
    variables.emplace_back("LD_PRELOAD", prepended(*library, "LD_PRELOAD"));
    variables.emplace_back("CUDA_MPS_PIPE_DIRECTORY", "/nonexistent/warpmux");
  }
  std::uint64_t limit = options.max_memory;
  if (!options.memory.empty()) {
    const auto memory = parse_bytes(options.memory);
    if (!memory) return memory.error();
    if (memory->count == 0) return Error{"--memory '" + options.memory + "' leaves the program no memory"};
    limit = limit == 0 ? memory->count : std::min<std::uint64_t>(limit, memory->count);
  }
  if (limit != 0) variables.emplace_back("WARPMUX_MEMORY_LIMIT", std::to_string(limit));
  if (options.share > 0) variables.emplace_back("WARPMUX_SHARE", std::to_string(options.share));
  if (options.priority > 0) variables.emplace_back("WARPMUX_PRIORITY", std::to_string(options.priority));
  if (!goal->empty()) variables.emplace_back("WARPMUX_CUDA_GOAL", *goal);
  if (!options.name.empty()) variables.emplace_back("WARPMUX_NAME", options.name);
  return run_in_foreground(options.command, variables, {});
}

}  // namespace wm::cli

// wm serve: the daemon that shares a device among OpenCL applications, or among CUDA programs.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/nearest.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/commands/serve_cuda.h"
#include "cli/commands/serve_simulated.h"
#include "cli/input/stop_signals.h"
#include "policy/registry.h"
#include "runtime/protocol/socket.h"
#include "runtime/server/log.h"
#include "runtime/server/server.h"

namespace wm::cli {
namespace {

constexpr unsigned kNoHeadroom = 101;

struct ServeOptions {
  runtime::ServeOptions serve;
  ServeSimulatedOptions simulated;
  ServeCudaOptions cuda;
  unsigned headroom = kNoHeadroom;  // percent
  bool no_rewrite = false;
  std::vector<std::string> user_shares;
  std::string log_level = "info", log_format = "text";
  std::string policy;
  std::string mode = "0600", memory, client_memory, when_full = "fail", short_launch, awake;
};

// The number that an option has, or the variable that a command which starts a daemon sets; nothing: neither is given.
Result<std::optional<std::uint32_t>> read_number(const char* option, const std::string& given, const char* variable,
                                                 std::uint32_t max, const char* what) {
  const char* set = std::getenv(variable);
  const std::string text = !given.empty() ? given : set == nullptr ? "" : set;
  if (text.empty()) return std::optional<std::uint32_t>();
  const auto number = parse_integer<std::uint32_t>(text);
  if (!number || *number > max) return Error{(given.empty() ? variable : option) + (" '" + text) + "' is no " + what};
  return std::optional(*number);
}

Result<void> read_numbers(ServeOptions& options) {
  const auto short_launch = read_number("--short", options.short_launch, "WARPMUX_SHORT", 1'000'000,
                                        "number of microseconds up to a million");
  if (!short_launch) return short_launch.error();
  options.serve.short_launch = *short_launch;
  const auto awake =
      read_number("--awake", options.awake, "WARPMUX_AWAKE", 1'000, "number of milliseconds up to a thousand");
  if (!awake) return awake.error();
  if (*awake) options.serve.awake_milliseconds = **awake;
  return {};
}

// NAME=SHARE of --user-share.
Result<void> read_user_shares(ServeOptions& options) {
  for (const std::string& word : options.user_shares) {
    const std::size_t sign = word.find('=');
    const auto share = sign == std::string::npos ? std::nullopt : parse_double(word.substr(sign + 1));
    if (!share || !(*share > 0) || *share > 1000) return Error{"--user-share '" + word + "' is not as in alice=2"};
    const std::string user = word.substr(0, sign);
    if (!runtime::is_user(user)) return Error{"--user-share '" + word + "': there is no user '" + user + "'"};
    options.serve.user_shares[user] = *share;
  }
  return {};
}

// fifo is not in the registry, whose messages suggest names.
Result<void> check_policy(const std::string& policy) {
  const std::string suggestion = did_you_mean(policy, {"fifo"});
  if (policy == "fifo" || suggestion.empty() || policy::choose(policy)) return {};
  return Error{"unknown policy '" + policy + "'" + suggestion};
}

// Options of one kind of daemon are refused where another kind would ignore them.
Result<void> check_kind(const ServeOptions& options) {
  const ServeSimulatedOptions& given = options.simulated;
  const ServeSimulatedOptions usual;
  for (const auto& [name, is_given] :
       {std::pair{"--timing", given.timing != usual.timing},
        std::pair{"--host-time", given.host_time != usual.host_time}, std::pair{"--clients", given.programs != 0},
        std::pair{"--patience", given.patience != usual.patience}, std::pair{"--threads", given.threads != 0},
        std::pair{"--isolated", given.isolated}, std::pair{"--timeline", given.timeline},
        std::pair{"--trace", !given.trace.empty()}, std::pair{"--html", !given.html.empty()},
        std::pair{"--json", !given.json.empty()}}) {
    if (is_given && given.gpu.empty()) return Error{std::string(name) + " needs --simulate"};
  }
  const runtime::ServeOptions usual_server;
  const std::initializer_list<std::pair<const char*, bool>> of_the_opencl_daemon = {
      {"--device", !options.serve.device.empty()},
      {"--when-full", options.when_full != "fail"},
      {"--no-rewrite", options.no_rewrite},
      {"--short", !options.short_launch.empty()},
      {"--awake", !options.awake.empty()},
      {"--cache", options.serve.cache != usual_server.cache},
      {"--sandbox", options.serve.sandbox_seconds != usual_server.sandbox_seconds},
      {"--user-share", !options.user_shares.empty()},
      {"--log-level", options.log_level != "info"},
      {"--log-format", options.log_format != "text"},
      {"--metrics-port", options.serve.metrics_port != usual_server.metrics_port}};
  const bool is_simulated = !given.gpu.empty();
  for (const auto& [name, is_given] : of_the_opencl_daemon) {
    if (is_given && (is_simulated || options.cuda.chosen))
      return Error{name + std::string(" has no meaning with ") + (is_simulated ? "--simulate" : "--cuda")};
  }
  for (const auto& [name, is_given] :
       {std::pair{"--cuda", options.cuda.chosen}, std::pair{"--client-memory", !options.client_memory.empty()},
        std::pair{"--decisions", !options.cuda.arbiter.decisions_file.empty()},
        std::pair{"--gates", options.serve.gates}, std::pair{"--headroom", options.headroom != kNoHeadroom}}) {
    if (is_given && is_simulated) return Error{std::string(name) + " has no meaning with --simulate"};
  }
  if (given.timeline && given.json.empty()) return Error{"--timeline puts a timeline into the JSON: it needs --json"};
  const runtime::ArbiterOptions usual_arbiter;
  for (const auto& [name, is_given] :
       {std::pair{"--sharing", options.cuda.sharing != ServeCudaOptions().sharing},
        std::pair{"--slice", options.cuda.arbiter.slice_microseconds != usual_arbiter.slice_microseconds},
        std::pair{"--admission", options.cuda.admission != ServeCudaOptions().admission},
        std::pair{"--max-loss", options.cuda.max_loss != 0},
        std::pair{"--sm-group", options.cuda.sms_of_group != ServeCudaOptions().sms_of_group},
        std::pair{"--workers", options.cuda.workers},
        std::pair{"--hold", options.cuda.arbiter.wait_microseconds != usual_arbiter.wait_microseconds}}) {
    if (is_given && !options.cuda.chosen) return Error{std::string(name) + " needs --cuda"};
  }
  return {};
}

// WARPMUX_GATES=always is for comparing the results of programs with and without gates.
runtime::Gates gates_of_environment() {
  const char* given = std::getenv("WARPMUX_GATES");
  return given != nullptr && std::string_view(given) == "always" ? runtime::Gates::always
                                                                 : runtime::Gates::beside_others;
}

Result<int> serve(ServeOptions options) {
  if (auto fitting = check_kind(options); !fitting) return fitting.error();
  if (auto known = check_policy(options.policy); !known) return known.error();
  char* end = nullptr;
  options.serve.mode = static_cast<unsigned>(std::strtoul(options.mode.c_str(), &end, 8));
  if (*end != 0 || options.mode.empty() || options.serve.mode > 0777) {
    return Error{"--mode '" + options.mode + "' is no file mode as in 0600"};
  }
  if (!options.policy.empty()) options.serve.policy = options.policy;
  if (options.policy == "fifo" && !options.cuda.arbiter.decisions_file.empty())
    return Error{"--decisions has no meaning with fifo, which decides nothing"};
  if (!options.simulated.gpu.empty()) {
    ServeSimulatedOptions simulated = options.simulated;
    simulated.policy = options.serve.policy;
    simulated.socket = options.serve.socket.empty() ? runtime::default_socket() : options.serve.socket;
    simulated.memory = options.memory;
    simulated.mode = options.serve.mode;
    return serve_simulated(simulated);
  }
  if (options.cuda.chosen) {
    runtime::ArbiterOptions& arbiter = options.cuda.arbiter;
    arbiter.socket = options.serve.socket.empty() ? runtime::default_socket() : options.serve.socket;
    arbiter.mode = options.serve.mode;
    if (options.headroom != kNoHeadroom) arbiter.headroom_percent = options.headroom;
    arbiter.policy = options.policy;
    if (options.serve.gates) arbiter.gates = gates_of_environment();
    if (!options.memory.empty()) return Error{"--memory is not for --cuda; --client-memory limits each program"};
    if (!options.client_memory.empty()) {
      const auto limit = parse_bytes(options.client_memory);
      if (!limit) return limit.error();
      arbiter.client_memory = limit->count;
    }
    return serve_cuda(options.cuda);
  }
  for (const auto& [text, bytes] : {std::pair{&options.memory, &options.serve.memory},
                                    std::pair{&options.client_memory, &options.serve.client_memory}}) {
    if (text->empty()) continue;
    const auto parsed = parse_bytes(*text);
    if (!parsed) return Error{(text == &options.memory ? "--memory: " : "--client-memory: ") + parsed.error().what};
    *bytes = parsed->count;
  }
  if (options.when_full != "fail" && options.when_full != "wait") {
    return Error{"--when-full '" + options.when_full + "' is neither fail nor wait"};
  }
  if (auto read = read_numbers(options); !read) return read.error();
  if (auto read = read_user_shares(options); !read) return read.error();
  if (auto done = runtime::log::configure(options.log_level, options.log_format); !done) return done.error();
  if (options.headroom != kNoHeadroom) options.serve.headroom = options.headroom;
  options.serve.decisions_file = options.cuda.arbiter.decisions_file;
  options.serve.rewrite = !options.no_rewrite;
  options.serve.wait_for_memory = options.when_full == "wait";
  if (options.serve.socket.empty()) options.serve.socket = runtime::default_socket();
  const runtime::Descriptor stop = stop_signals();
  auto server = runtime::Server::open(options.serve);
  if (!server) return server.error();
  std::printf("%s\nlistening at %s\n", (*server)->about().c_str(), options.serve.socket.c_str());
  std::fflush(stdout);
  if (!(*server)->run(stop.get())) {
    std::fputs("wm: the device has failed and takes no more commands, as after a kernel that wrote where it must not\n",
               stderr);
    ::unlink(options.serve.socket.c_str());
    std::_Exit(1);
  }
  if (!(*server)->drain(5)) {
    // A kernel that never ends can be neither awaited nor removed from the device; it ends with the process.
    std::fputs("wm: the device still runs a client's kernel; leaving it\n", stderr);
    ::unlink(options.serve.socket.c_str());
    std::_Exit(0);
  }
  return 0;
}

}  // namespace

void add_serve(const Command& wm) {
  auto options = std::make_shared<ServeOptions>();
  const Command serve_command = wm.add(
      "serve", "Share a device among OpenCL or CUDA applications, or a simulated GPU",
      "wm serve\nwm serve --policy fifo --metrics-port 9464\nwm serve --device PoCL "
      "--client-memory '2 GB'\nwm serve --simulate h200 --policy smqos --clients 2\nwm serve --cuda --sharing mps");
  serve_command.option(
      "--policy", options->policy,
      "The sharing policy: NAME[:param=value]…, or fifo: the device's own order (default: accelos; with "
      "--cuda the priorities and goals of programs)");
  serve_command.option("--device", options->serve.device, "Part of the name of the platform or device to use");
  serve_command.option("--socket", options->serve.socket,
                       "Where clients connect (default: $WARPMUX_SOCKET, or the user's)", {.type = "FILE"});
  serve_command.option("--mode", options->mode, "The socket's file mode", {.show_default = true});
  serve_command.option("--memory", options->memory, "Device memory for all clients together, as '8 GB'");
  serve_command.option("--client-memory", options->client_memory, "Device memory for each client");
  serve_command.option("--when-full", options->when_full,
                       "An allocation that does not fit beside others' may fail or wait", {.show_default = true});
  serve_command.flag("--no-rewrite", options->no_rewrite,
                     "Leave kernels as they are, instead of running them as workers");
  serve_command.option("--short", options->short_launch,
                       "Launches expected to take less than so many microseconds are not divided; three times as many "
                       "while their client is isolated (default: $WARPMUX_SHORT, or 100 under moving_shares and 0 "
                       "under other policies, which divide every launch they can; on CUDA 100 for isolated clients "
                       "under every policy)");
  serve_command.option("--awake", options->awake,
                       "Idle threads of the daemon stay awake for twice the pauses of their client before they sleep, "
                       "at most so many milliseconds (default: $WARPMUX_AWAKE, or 10); only with eight processors or "
                       "more, on half of them, and not while others need these");
  serve_command.option("--headroom", options->headroom,
                       "Percent of every compute unit that launches leave free while a client of higher priority is "
                       "active, on devices that can limit them (CUDA; default: 50; with --cuda as much as --max-loss "
                       "allows)",
                       {.high = 90});
  serve_command.flag("--gates", options->serve.gates,
                     "Launches also pause in their loops while one of higher priority runs (CUDA; with --cuda for "
                     "--sharing mps)");
  serve_command.option("--cache", options->serve.cache, "Rewritten programs (default: the user's cache)",
                       {.type = "FOLDER"});
  serve_command.option(
      "--sandbox", options->serve.sandbox_seconds,
      "Seconds that a program may take to compile, in a process of its own before it is compiled in the "
      "daemon; 0: none is tried",
      {.show_default = true, .high = 86'400});
  serve_command.option("--user-share", options->user_shares,
                       "NAME=WEIGHT: the share of a user's clients that ask for none (1 for others); repeat it");
  serve_command.option("--log-level", options->log_level, "debug, info, warning, error or off", {.show_default = true});
  serve_command.option("--log-format", options->log_format, "text or json, a line per event on standard error",
                       {.show_default = true});
  serve_command.option("--metrics-port", options->serve.metrics_port,
                       "Prometheus metrics at /metrics, and /healthz, on this loopback port", {.high = 65535});
  add_serve_simulated_options(serve_command, options->simulated);
  add_serve_cuda_options(serve_command, options->cuda);
  serve_command.run([options] { return serve(*options); });
}

}  // namespace wm::cli

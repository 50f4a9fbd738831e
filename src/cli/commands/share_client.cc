#include "cli/commands/share_client.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/input/client_library.h"

namespace wm::cli {
namespace {

using PlainJson = nlohmann::json;

constexpr double kAnswerTimeout = 300;       // seconds: a first run compiles
constexpr std::uint64_t kAhead = 4'000'000;  // nanoseconds from the order to the start: all clients wait by then
constexpr std::uint64_t kApart = 20'000;     // between clients, so that they come in the order they are given

std::string own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
  std::map<std::string, std::string> all;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    all[entry.substr(0, entry.find('='))] = entry;
  }
  for (const std::string& change : changes) {
    const std::string name = change.substr(0, change.find('='));
    all.erase(name);
    if (name != change) all[name] = change;
  }
  std::vector<std::string> environment;
  for (const auto& [name, entry] : all) environment.push_back(entry);
  return environment;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

Result<PlainJson> answer(LineProcess& process, double seconds) {
  const auto line = process.receive(seconds);
  if (!line) return line.error();
  PlainJson json = PlainJson::parse(*line, nullptr, false);
  if (json.is_discarded()) return Error{"a client says '" + *line + "'"};
  if (json.contains("error")) return Error{json["error"].get<std::string>()};
  return json;
}

}  // namespace

Result<std::unique_ptr<LineProcess>> LineProcess::start(const std::vector<std::string>& words,
                                                        const std::vector<std::string>& environment) {
  int in[2] = {}, out[2] = {};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return Error{"no pipe to '" + words[0] + "'"};
  std::unique_ptr<LineProcess> process(new LineProcess());
  process->to_ = runtime::Descriptor(in[1]);
  process->from_ = runtime::Descriptor(out[0]);
  const auto variables = changed_environment(environment);
  const auto arguments = pointers(words), settings = pointers(variables);
  const pid_t parent = ::getpid();
  process->pid_ = ::fork();
  if (process->pid_ == 0) {
    // A benchmark that is killed leaves neither its daemon nor its clients behind.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) std::_Exit(128 + SIGTERM);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execvpe(arguments[0], arguments.data(), settings.data());
    std::_Exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  if (process->pid_ < 0) return Error{"cannot start '" + words[0] + "': " + std::strerror(errno)};
  return process;
}

LineProcess::~LineProcess() {
  to_ = {};
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

bool LineProcess::send(const std::string& line) {
  const std::string text = line + "\n";
  return ::write(to_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Result<std::string> LineProcess::receive(double seconds) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (const std::size_t end = rest_.find('\n'); end != std::string::npos) {
      const std::string line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      return line;
    }
    const auto left = limit - std::chrono::steady_clock::now();
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    pollfd watched{from_.get(), POLLIN, 0};
    if (wait <= 0 || ::poll(&watched, 1, static_cast<int>(wait)) == 0) return Error{"a client does not answer"};
    char part[4096];
    const ssize_t got = ::read(from_.get(), part, sizeof part);
    if (got <= 0) return Error{"a client has ended; what it answered stands above"};
    rest_.append(part, static_cast<std::size_t>(got));
  }
}

Result<std::unique_ptr<ShareProcesses>> ShareProcesses::start(const ShareSetup& setup, const std::string& policy) {
  auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  std::unique_ptr<ShareProcesses> processes(new ShareProcesses(setup, std::move(*folder)));
  if (policy == "native") {
    processes->environment_ = {"WARPMUX_DISABLE=1"};
    return processes;
  }
  const auto library = find_client_library("");
  if (!library) return library.error();
  const std::string socket = processes->folder_.file("socket"), vendors = processes->folder_.file("vendors");
  std::error_code ignored;
  std::filesystem::create_directory(vendors, ignored);
  std::ofstream(vendors + "/warpmux.icd") << *library << "\n";
  std::vector<std::string> words{own_program(), "serve", "--socket",    socket,
                                 "--policy",    policy,  "--log-level", "warning"};
  if (!setup.device.empty()) words.insert(words.end(), {"--device", setup.device});
  if (!setup.cache.empty()) words.insert(words.end(), {"--cache", setup.cache});
  if (!setup.rewrite) words.emplace_back("--no-rewrite");
  auto daemon = LineProcess::start(words, {});
  if (!daemon) return daemon.error();
  for (std::string line; !line.starts_with("listening");) {
    const auto answered = (*daemon)->receive(60);
    if (!answered) return Error{"the daemon does not start; its messages are above"};
    line = *answered;
  }
  processes->daemon_ = std::move(*daemon);
  processes->environment_ = {"WARPMUX_SOCKET=" + socket, "OCL_ICD_VENDORS=" + vendors, "OCL_ICD_FILENAMES=" + *library,
                             "WARPMUX_DISABLE"};
  return processes;
}

ShareProcesses::~ShareProcesses() { clients_.clear(); }

Result<LineProcess*> ShareProcesses::client(const std::string& benchmark, std::size_t instance) {
  auto& place = clients_[{benchmark, instance}];
  if (place) return place.get();
  std::vector<std::string> words{own_program(), "cl", "run", benchmark, "--orders", "--size", setup_.size};
  if (!daemon_ && !setup_.device.empty()) words.insert(words.end(), {"--device", setup_.device});
  auto process = LineProcess::start(words, environment_);
  if (!process) return process.error();
  if (const auto ready = answer(**process, kAnswerTimeout); !ready) return Error{benchmark + ": " + ready.error().what};
  // The first run is not counted: PoCL compiles a kernel for its group size when it first runs.
  for (const std::string& order : {std::string("prepare"), "run 0 " + std::to_string(setup_.repeat)}) {
    (*process)->send(order);
    if (const auto done = answer(**process, kAnswerTimeout); !done) return Error{benchmark + ": " + done.error().what};
  }
  place = std::move(*process);
  return place.get();
}

Result<std::vector<ShareRun>> ShareProcesses::run(const std::vector<std::string>& benchmarks) {
  std::vector<LineProcess*> all;
  std::map<std::string, std::size_t> instances;
  for (const std::string& name : benchmarks) {
    const auto one = client(name, instances[name]++);
    if (!one) return one.error();
    all.push_back(*one);
  }
  const auto hear_all = [&](std::vector<PlainJson>* answers) -> Result<void> {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto answered = answer(*all[i], kAnswerTimeout);
      if (!answered) return Error{benchmarks[i] + ": " + answered.error().what};
      if (answers != nullptr) answers->push_back(*answered);
    }
    return {};
  };
  for (LineProcess* one : all) one->send("prepare");
  if (auto r = hear_all(nullptr); !r) return r.error();
  auto start = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) + kAhead;
  for (LineProcess* one : all) {
    one->send("run " + std::to_string(start) + " " + std::to_string(setup_.repeat));
    start += kApart;
  }
  std::vector<PlainJson> answers;
  if (auto r = hear_all(&answers); !r) return r.error();
  std::vector<ShareRun> runs;
  for (const PlainJson& a : answers) {
    runs.push_back({a["began"].get<std::uint64_t>(), a["ended"].get<std::uint64_t>(),
                    a["device_began"].get<std::uint64_t>(), a["device_ended"].get<std::uint64_t>()});
  }
  return runs;
}

Result<std::string> ShareProcesses::ask(std::vector<std::string> arguments) {
  if (!daemon_ && !setup_.device.empty()) arguments.insert(arguments.end(), {"--device", setup_.device});
  arguments.insert(arguments.begin(), own_program());
  const auto process = LineProcess::start(arguments, environment_);
  if (!process) return process.error();
  return (*process)->receive(kAnswerTimeout);
}

Result<void> ShareProcesses::check() {
  for (const auto& [key, process] : clients_) {
    process->send("check");
    const auto answered = answer(*process, kAnswerTimeout);
    if (!answered) return Error{key.first + ": " + answered.error().what};
    if (!(*answered)["passed"].get<bool>()) return Error{key.first + ": " + (*answered)["detail"].get<std::string>()};
  }
  return {};
}

}  // namespace wm::cli

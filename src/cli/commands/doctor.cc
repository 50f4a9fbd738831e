// wm doctor: what works on this machine, and what to do about the rest.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/input/data_folder.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "lab/run/isolated.h"
#include "rewrite/ptx_compiler.h"
#include "rewrite/rewriter.h"
#ifdef WM_RUNTIME
#include "cli/input/client_library.h"
#include "runtime/device/backend.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/socket.h"
#include "runtime/sandbox/sandbox.h"
#endif

namespace wm::cli {
namespace {

namespace fs = std::filesystem;

// One thing that was looked for. `needed`: without it the commands of `part` do not work.
struct Finding {
  std::string part;
  std::string name;
  bool passed = false;
  bool needed = false;
  std::string detail;  // the place that was found, or advice
};
using Findings = std::vector<Finding>;

bool exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The program in $PATH; empty: there is none.
std::string in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const fs::path file = fs::path(folder) / program;
    if (::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

void look_at_simulation(Findings& all) {
  const std::string gpus = gpu_folder();
  all.push_back({"simulation", "data", exists(gpus), true,
                 exists(gpus) ? data_folder() : gpus + " is missing: install again, or set WM_DATA"});
  const std::string cache = lab::IsolatedCache::default_folder();
  std::error_code error;
  fs::create_directories(cache, error);
  const bool writable = !cache.empty() && ::access(cache.c_str(), W_OK) == 0;
  all.push_back(
      {"simulation", "cache", writable, false,
       writable ? cache : "rates are measured in every run: make '" + cache + "' writable, or set XDG_CACHE_HOME"});
  const std::string clang = in_path("clang-19");
  all.push_back({"simulation", "clang 19", !clang.empty(), false,
                 clang.empty() ? "kernels of your own in OpenCL C need it: apt install clang-19" : clang});
}

#ifdef WM_RUNTIME
void look_at_programs(Findings& all) {
  const auto library = find_client_library("");
  all.push_back({"sharing", "client library", library.ok(), true, library ? *library : library.error().what});
  const std::string sandbox = runtime::sandbox::find_sandbox();
  all.push_back({"sharing", "wm-sandbox", !sandbox.empty(), false,
                 sandbox.empty() ? "a program that crashes a compiler ends the daemon: install again" : sandbox});
  const std::string rewriter = rewrite::find_worker();
  all.push_back({"sharing", "wm-rewrite", !rewriter.empty(), false,
                 rewriter.empty()
                     ? "kernels run undivided: build with libclang-cpp19-dev, or copy a cache (wm cl cache)"
                     : rewriter});
  const std::string compiler = rewrite::find_compiler(), builtins = rewrite::find_builtin_library();
  all.push_back({"sharing", "OpenCL compiler", !compiler.empty() && !builtins.empty(), false,
                 compiler.empty()   ? "NVIDIA's GPUs need NVIDIA's OpenCL: build with libclang-cpp19-dev"
                 : builtins.empty() ? "NVIDIA's GPUs need NVIDIA's OpenCL, or: apt install libclc-19"
                                    : builtins});
  bool registered = false;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/etc/OpenCL/vendors", ignored)) {
    std::string line;
    std::getline(std::ifstream(entry.path()) >> std::ws, line);
    registered |= line.find("warpmux") != std::string::npos;
  }
  all.push_back({"sharing", "registered library", registered, false,
                 registered ? "/etc/OpenCL/vendors: programs find it without wm run"
                            : "only programs under `wm run` use it; a file in /etc/OpenCL/vendors with the library's "
                              "path changes that"});
}

// The device's name, from a process of its own: some drivers end the process where they find no usable device.
Result<std::string> device_name() {
  int ends[2] = {};
  if (::pipe(ends) != 0) return Error{"no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("WARPMUX_DISABLE", "1", 1);  // the client library's platform is not a device
    const auto backend = runtime::open_backend("");
    const std::string text =
        backend ? "+" + (*backend)->platform_name() + ": " + (*backend)->device_name() : "-" + backend.error().what;
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[512] = {};
  const auto size = ::read(ends[0], text, sizeof text - 1);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (size < 1) return Error{"the driver of the device ended its process"};
  if (text[0] == '+') return std::string(text + 1);
  return Error{std::string(text + 1)};
}

// Where systemd looks for units of users.
bool has_unit() {
  const char* home = std::getenv("HOME");
  std::vector<std::string> folders = {"/usr/lib/systemd/user", "/usr/local/lib/systemd/user", "/etc/systemd/user"};
  if (home != nullptr) {
    folders.push_back(std::string(home) + "/.local/share/systemd/user");
    folders.push_back(std::string(home) + "/.config/systemd/user");
  }
  return std::any_of(folders.begin(), folders.end(),
                     [](const std::string& folder) { return exists(folder + "/warpmux.service"); });
}

void look_at_devices(Findings& all) {
  const auto device = device_name();
  const bool has_driver = !device && device.error().what.find("offers none") != std::string::npos;
  all.push_back({"sharing", "OpenCL device", device.ok(), true,
                 device       ? *device
                 : has_driver ? device.error().what
                              : device.error().what + "; on a CPU: apt install pocl-opencl-icd"});
  const bool nvidia = exists("/dev/nvidia0") || exists("/dev/dxg");
  all.push_back({"sharing", "NVIDIA GPU", nvidia, false, nvidia ? "/dev/nvidia0" : "none is visible to this user"});
  const std::string socket = runtime::default_socket();
  bool is_refused = false;
  const auto status = runtime::request_status(socket, &is_refused);
  const std::string start = has_unit() ? "wm serve, or systemctl --user enable --now warpmux" : "wm serve";
  all.push_back({"sharing", "daemon", status.ok(), false,
                 status       ? "answers at " + socket
                 : is_refused ? status.error().what
                              : "none runs: " + start});
}
#endif

Result<int> doctor(const std::string& json) {
  Findings all;
  look_at_simulation(all);
#ifdef WM_RUNTIME
  look_at_programs(all);
  look_at_devices(all);
#else
  all.push_back({"sharing", "runtime", false, false, "this build has none: it needs OpenCL's headers"});
#endif
  const Output output(json);
  Table table({"part", "", "what", "detail"});
  auto items = nlohmann::ordered_json::array();
  bool usable = true;
  for (const Finding& f : all) {
    usable &= f.passed || !f.needed;
    table.add({f.part,
               Cell(f.passed   ? "ok"
                    : f.needed ? "missing"
                               : "-",
                    f.passed   ? Style::good
                    : f.needed ? Style::bad
                               : Style::plain),
               Cell(f.name, Style::bold), f.detail});
    items.push_back(
        {{"name", f.name}, {"part", f.part}, {"passed", f.passed}, {"needed", f.needed}, {"detail", f.detail}});
  }
  output.say(table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return usable ? 0 : 1;
}

}  // namespace

void add_doctor(const Command& wm) {
  auto json = std::make_shared<std::string>();
  const Command command = wm.add("doctor", "What works on this machine, and what to do about the rest", "wm doctor");
  command.json(*json);
  command.run([json] { return doctor(*json); });
}

}  // namespace wm::cli

#include "runtime/sandbox/sandbox.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

#include "base/file.h"
#include "rewrite/wire.h"

namespace wm::runtime::sandbox {
namespace {

// Each process has a context on the device. A start takes as long as many compilations, so idle ones are kept.
constexpr unsigned kMaxProcesses = 8;
constexpr std::size_t kMaxIdleProcesses = 4;
// Drivers' compilers do not free all that they allocate.
constexpr unsigned kMaxRequests = 200;
constexpr std::size_t kMaxFatal = 1024;
constexpr std::size_t kMaxSucceeded = 16'384;  // further ones are found in the folder
constexpr std::size_t kMaxTextBytes = 128 << 20;

std::size_t size_of(const Request& request) {
  std::size_t all = 0;
  for (const Program& p : request.programs) {
    all += p.text.size();
    for (const Header& h : p.headers) all += h.text.size();
  }
  return all;
}

std::string name_of(const std::string& request, const std::string& driver) {
  const std::uint64_t seed = rewrite::digest(driver);
  return fmt::format("{:016x}{:016x}", rewrite::digest(request, seed),
                     rewrite::digest(request, seed ^ 0x9e3779b97f4a7c15ULL));
}

// Files that the program includes may change before the next build.
bool reads_files(const Request& request) {
  return std::any_of(request.programs.begin(), request.programs.end(),
                     [](const Program& p) { return !p.binary && p.text.find("include") != std::string::npos; });
}

std::string seconds(std::chrono::milliseconds limit) {
  return fmt::format("{:g} s", std::chrono::duration<double>(limit).count());
}

}  // namespace

Result<std::int32_t> Sandbox::exchange(const std::string& request) {
  std::optional<KeptProcess> kept;
  {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return busy_ < kMaxProcesses; });
    ++busy_;
    if (!idle_.empty()) {
      kept = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  Result<std::int32_t> result = Error{};
  for (bool is_new = false; !is_new;) {
    is_new = !kept;
    if (is_new) {
      auto started = rewrite::WorkerProcess::start(options_.program, "the device's compiler");
      if (!started) {
        result = std::int32_t{kNoDevice};
        break;
      }
      kept = KeptProcess{*std::move(started)};
    }
    const auto deadline = std::chrono::steady_clock::now() + options_.limit;
    const auto bytes = kept->process.exchange(request, options_.limit);
    if (bytes && bytes->size() == sizeof(std::int32_t)) {
      std::int32_t status = 0;
      std::memcpy(&status, bytes->data(), sizeof status);
      result = status;
      break;
    }
    // A process that was kept may have been damaged by an earlier request; a new one failed because of this request.
    const bool late = std::chrono::steady_clock::now() >= deadline;
    const int signal = bytes || late ? 0 : kept->process.ended_by().value_or(0);
    kept.reset();
    if (late) {
      result = Error{fmt::format("the device's compiler did not end within {}", seconds(options_.limit))};
      break;
    }
    result = signal == 0
                 ? Error{"the device's compiler ended its process"}
                 : Error{fmt::format("the device's compiler crashed: signal {} ({})", signal, ::strsignal(signal))};
  }
  const std::lock_guard lock(mutex_);
  --busy_;
  if (kept && ++kept->requests < kMaxRequests && idle_.size() < kMaxIdleProcesses) idle_.push_back(*std::move(kept));
  freed_.notify_one();
  return result;
}

std::optional<std::string> Sandbox::refusal(Request request) {
  if (options_.program.empty()) return std::nullopt;
  if (size_of(request) > kMaxTextBytes) return "more than 128 MB of source";
  request.device = options_.device;
  const std::string bytes = encode(request);
  Counts& counts = request.launch ? launch_counts_ : counts_;
  const std::string name = name_of(bytes, options_.driver);
  const bool kept = !reads_files(request);
  const std::string file = options_.folder + "/" + name;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = fatal_.find(name); it != fatal_.end()) return ++counts.refused, it->second;
    std::error_code none;
    if (kept && (succeeded_.contains(name) || (!options_.folder.empty() && std::filesystem::exists(file, none)))) {
      ++counts.known;
      return std::nullopt;
    }
  }
  const auto result = exchange(bytes);
  const std::lock_guard lock(mutex_);
  ++counts.tried;
  if (!result) {
    ++counts.refused;
    if (fatal_.size() < kMaxFatal) fatal_[name] = result.error().what;
    return result.error().what;
  }
  if (*result == kNoDevice || !kept) return std::nullopt;
  if (succeeded_.size() >= kMaxSucceeded) succeeded_.clear();
  succeeded_.insert(name);
  store(name, "");
  return std::nullopt;
}

// If the file cannot be written, a later daemon tries the request again.
void Sandbox::store(const std::string& name, const std::string& content) const {
  if (options_.folder.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(options_.folder, failed);
  if (!failed) (void)write_file(options_.folder + "/" + name, content).ok();
}

NativeResults Sandbox::native_results() {
  NativeResults results;
  if (options_.program.empty()) return results;
  const std::string name = name_of(fmt::format("questions {} {}", kVersion, kNonstandardCalls), options_.driver);
  if (const auto known = read_file(options_.folder + "/" + name); known && known->size() == sizeof results.status) {
    std::memcpy(results.status, known->data(), sizeof results.status);
    return results;
  }
  for (std::uint32_t i = 0; i < kNonstandardCalls; ++i) {
    Request request;
    request.kind = Request::Kind::nonstandard_call;
    request.call = i;
    request.device = options_.device;
    const auto result = exchange(encode(request));
    if (result && *result == kNoDevice) return {};
    if (result && *result <= 0 && *result > -128) results.status[i] = static_cast<std::int8_t>(*result);
  }
  store(name, std::string(reinterpret_cast<const char*>(results.status), sizeof results.status));
  return results;
}

Sandbox::Counts Sandbox::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

Sandbox::Counts Sandbox::launch_counts() const {
  const std::lock_guard lock(mutex_);
  return launch_counts_;
}

std::string find_sandbox() { return rewrite::find_program("WM_SANDBOX", "wm-sandbox"); }

}  // namespace wm::runtime::sandbox

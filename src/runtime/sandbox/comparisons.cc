#include "runtime/sandbox/comparisons.h"

#include <filesystem>
#include <fmt/format.h>

#include "base/file.h"
#include "rewrite/wire.h"

namespace wm::runtime::sandbox {
namespace {

// Part of the names of stored results: a change of the comparison that may change a result changes this.
constexpr std::uint32_t kComparisonVersion = 2;
constexpr std::size_t kMaxResults = 4096;
// Beyond the limits of both forms in the sandbox.
constexpr std::chrono::seconds kLimit{90};

}  // namespace

std::string Comparisons::name_of(const Request& request) const {
  Request named;
  named.kind = Request::Kind::comparison;
  named.device = options_.device;
  named.programs = request.programs;
  named.comparison.emplace();
  named.comparison->kernel = request.comparison->kernel;
  named.comparison->dimensions = request.comparison->dimensions;
  named.comparison->local = request.comparison->local;
  const std::string bytes = encode(named);
  const std::uint64_t seed = rewrite::digest(fmt::format("{} comparison {}", options_.driver, kComparisonVersion));
  return fmt::format("{:016x}{:016x}", rewrite::digest(bytes, seed),
                     rewrite::digest(bytes, seed ^ 0x9e3779b97f4a7c15ULL));
}

ComparisonResult Comparisons::run(const Request& request) const {
  auto process = rewrite::WorkerProcess::start(options_.program, "the comparison");
  if (!process) return {ComparisonResult::Verdict::unverifiable, process.error().what};
  const auto bytes = process->exchange(encode(request), kLimit);
  if (!bytes) return {ComparisonResult::Verdict::unverifiable, bytes.error().what};
  return decode_result(*bytes);
}

ComparisonResult Comparisons::result(Request request) {
  if (!possible() || !request.comparison) return {ComparisonResult::Verdict::unverifiable, "there is no sandbox"};
  request.device = options_.device;
  const std::string name = name_of(request), file = options_.folder + "/" + name;
  {
    const std::lock_guard lock(mutex_);
    const auto it = results_.find(name);
    const auto stored =
        it == results_.end() && !options_.folder.empty() ? read_file(file) : Result<std::string>(Error{});
    if (it != results_.end() || stored) {
      ++counts_.known;
      return it != results_.end() ? it->second : decode_result(*stored);
    }
  }
  const ComparisonResult result = run(request);
  {
    const std::lock_guard lock(mutex_);
    ++counts_.tried;
    if (result.verdict == ComparisonResult::Verdict::different) ++counts_.different;
    if (result.verdict == ComparisonResult::Verdict::unverifiable) ++counts_.unverifiable;
    if (results_.size() < kMaxResults) results_[name] = result;
  }
  // The inputs of a later launch may be better, so an unverifiable kernel is compared again by a later daemon.
  if (!options_.folder.empty() && result.verdict != ComparisonResult::Verdict::unverifiable) {
    std::error_code failed;
    std::filesystem::create_directories(options_.folder, failed);
    // If the file cannot be written, a later daemon repeats the comparison.
    if (!failed) (void)write_file(file, encode(result)).ok();
  }
  return result;
}

Comparisons::Counts Comparisons::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace wm::runtime::sandbox

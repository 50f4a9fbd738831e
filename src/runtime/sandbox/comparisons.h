// The daemon's side of comparisons (comparison.h): runs them in wm-sandbox and keeps their results, in memory and in a
// folder. Safe for use by several threads.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "runtime/sandbox/sandbox.h"

namespace wm::runtime::sandbox {

class Comparisons {
 public:
  // The folder of `options` holds the results; `device`, `driver` and `program` are those of the sandbox.
  explicit Comparisons(SandboxOptions options) : options_(std::move(options)) {}

  [[nodiscard]] bool possible() const { return !options_.program.empty(); }
  // The result for these programs, kernel and group size. The inputs of an earlier comparison need not have been the
  // same.
  ComparisonResult result(Request request);

  struct Counts {
    std::uint64_t tried = 0, known = 0, different = 0, unverifiable = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  [[nodiscard]] std::string name_of(const Request& request) const;
  [[nodiscard]] ComparisonResult run(const Request& request) const;

  const SandboxOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, ComparisonResult> results_;
  Counts counts_;
};

}  // namespace wm::runtime::sandbox

// The progress bar of commands that make several runs.
#pragma once

#include <map>
#include <string>

#include "cli/output/terminal.h"
#include "lab/run/corun.h"

namespace wm::cli {

// Calls `run()` with `options.progress` set. `steps` is the maximum number of runs that it makes.
template <class Run>
auto with_progress(std::size_t steps, lab::CorunOptions& options, const Run& run) {
  Progress bar(steps);
  std::map<std::string, double> told;  // by name of the run
  options.progress = [&bar, &told](const std::string& what, double done) {
    bar.advance(done - told[what], what);
    told[what] = done;
  };
  auto result = run();
  options.progress = {};
  return result;
}

}  // namespace wm::cli

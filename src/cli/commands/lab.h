// What the commands of `wm lab` share: figures by name, and where results are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input/options.h"
#include "lab/experiment/experiment.h"
#include "lab/experiment/matrix.h"
#include "lab/store/exchange.h"

namespace wm::cli {

// Asks the zoo and the GPU folder.
lab::Names lab_names();

// Figures by name ("qos-isca17/fig6a"), by paper ("qos-isca17": all of it), or files; none named: all there are.
Result<std::vector<lab::Experiment>> find_figures(const std::vector<std::string>& names);

// One figure under a protocol, with its cells. `only`: conditions like policy=Rollover that cells must pass; `first`:
// so many of its workloads, in their order; 0: all.
struct Planned {
  const lab::Experiment* experiment = nullptr;
  const lab::Protocol* protocol = nullptr;
  lab::Matrix matrix;
};
Result<std::vector<Planned>> plan(const std::vector<lab::Experiment>& figures, const std::string& protocol,
                                  const std::vector<std::string>& only = {}, std::size_t first = 0);

// What every command that shows figures asks for: which, under which protocol, and whose results.
struct Shown {
  std::vector<std::string> figures;
  std::string protocol = "quick";
  std::string store;
};
void add_shown(const Command& command, Shown& shown, const std::string& protocols);

// The rows of `store`; where none is named, those of wm-lab.db if it is here, else those that came with warpmux.
Result<lab::Results> find_results(const std::string& store);
inline constexpr const char* kDefaultStore = "wm-lab.db";

}  // namespace wm::cli

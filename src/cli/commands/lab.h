// Functions that the commands of `wm lab` share: figures by name, and the place of the results.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input/options.h"
#include "lab/experiment/experiment.h"
#include "lab/experiment/matrix.h"
#include "lab/report/figure.h"
#include "lab/store/exchange.h"

namespace wm::cli {

// Looks names up in the zoo and in the folder of GPUs.
lab::Names lab_names();

// Figures by name ("qos-isca17/fig6a"), by paper ("qos-isca17": all its figures), or by file; all figures if no name is
// given.
Result<std::vector<lab::Experiment>> find_figures(const std::vector<std::string>& names);

// One figure under a protocol, with its cells. `only`: conditions like policy=Rollover that cells must pass; `first`:
// the number of workloads that are planned, in the figure's order; 0: all.
struct Planned {
  const lab::Experiment* experiment = nullptr;
  const lab::Protocol* protocol = nullptr;
  lab::Matrix matrix;
};
Result<std::vector<Planned>> plan(const std::vector<lab::Experiment>& figures, const std::string& protocol,
                                  const std::vector<std::string>& only = {}, std::size_t first = 0);
// The cells of all figures as one matrix, in which a shared cell occurs once.
lab::Matrix together(const std::vector<Planned>& plans);

// The options of every command that shows figures: the figures, the protocol and the store.
struct Shown {
  std::vector<std::string> figures;
  std::string protocol = "longest";
  std::string store;
};
void add_shown(const Command& command, Shown& shown);
// The figures under a protocol. "longest": each under the longest protocol that was run, so that every claim is there
// once; a figure of which a longer protocol answers only some claims is there under both.
Result<std::vector<lab::Figure>> shown_figures(const std::vector<lab::Experiment>& experiments,
                                               const std::string& protocol,
                                               const std::map<std::string, const lab::Row*>& rows,
                                               const lab::Confirmations& confirmed);

// The rows of `store`; where none is named, those of wm-lab.db in this folder and those that came with warpmux.
Result<lab::Results> find_results(const std::string& store);
inline constexpr const char* kDefaultStore = "wm-lab.db";

}  // namespace wm::cli

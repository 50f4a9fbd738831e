// The cells of an experiment: one run for every combination of GPU, workload, policy, goal and parameter.
//
// Two figures that need the same run have cells with the same key and share its result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment/experiment.h"
#include "lab/run/run_spec.h"
#include "lab/store/row.h"

namespace wm::lab {

struct Cell {
  std::string key;
  RunSpec spec;                               // the policy as the figure writes it
  std::vector<RunSpec> isolated;              // one run per kernel that measures its isolated rate
  std::map<std::string, std::string> labels;  // gpu, workload, group, kernel, beside, policy, goal, parameters
  std::string gpu_digest;
  std::string code_version;

  // "wm sim --gpu …", quoted for a shell where needed.
  [[nodiscard]] std::string command() const { return command_of(spec); }
  // The row of this cell, without its outcome.
  [[nodiscard]] Row row() const;
};

struct Matrix {
  std::vector<Cell> cells;
  std::map<std::string, std::string> gpus;  // configuration by digest
};

Result<Matrix> expand(const Experiment& experiment, const Protocol& protocol, const Names& names);

// The number of cells that `expand` returns, without the cells.
Result<std::size_t> count_cells(const Protocol& protocol, const Names& names);

}  // namespace wm::lab

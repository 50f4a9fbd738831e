// An experiment's cells: every GPU, workload, policy, goal and parameter of a protocol, each a run of its own.
//
// A cell is a `wm sim` command. Two figures that ask for the same run have the same cell, by its key, and share it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment.h"
#include "lab/store.h"

namespace wm::lab {

struct Cell {
  std::string key;
  std::vector<std::string> words;  // behind `wm`: sim --gpu …
  std::vector<std::string> alone;  // commands' words that measure its rates alone, one a kernel, joined by blanks
  std::map<std::string, std::string> labels;  // gpu, workload, group, kernel, beside, policy, goal, parameters
  std::string gpu_digest;
  std::string configuration;  // JSON
  std::uint64_t seed = 1;
  std::string code_version;

  // "wm sim --gpu …", quoted for a shell where needed.
  [[nodiscard]] std::string command() const;
  // The row of this cell, without its outcome.
  [[nodiscard]] Row row() const;
};

struct Matrix {
  std::vector<Cell> cells;
  std::map<std::string, std::string> gpus;  // configuration by digest
};

Result<Matrix> expand(const Experiment& experiment, const Protocol& protocol, const Names& names);

}  // namespace wm::lab

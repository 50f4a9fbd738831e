// The content of a store: one row per cell, the configurations of the GPUs, and the confirmations of rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/store/confirmation.h"

namespace wm::lab {

// One cell: the run, the version of the code that made it, and its outcome.
struct Row {
  enum class State : std::uint8_t { done, failed };

  std::string key;      // key_of(spec, gpu)
  std::string spec;     // the RunSpec as JSON, with every parameter of the policy
  std::string command;  // the `wm sim` command that repeats the run
  std::string gpu;      // gpu_digest of the GPU's configuration
  std::uint64_t seed = 1;
  std::string code_version;  // code_version.h
  State state = State::done;
  std::string run_hash;     // run hash of a done cell
  double host_seconds = 0;  // processor time
  std::string result;       // result of a done cell: JSON, as `wm sim --json` writes it
  std::string error;        // last messages of a failed cell

  friend bool operator==(const Row&, const Row&) = default;
};

// The content of a store, apart from its file.
struct Results {
  std::vector<Row> rows;                    // ordered by key
  std::map<std::string, std::string> gpus;  // configuration text by digest
  std::vector<Confirmation> confirmed = {};
};

}  // namespace wm::lab

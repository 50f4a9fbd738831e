// Brings results of older formats up to date.
//
// Format 1 stored a row under a digest of the words of its `wm sim` command and of the text of the GPU's configuration.
// Format 2 stores it under the key of its RunSpec. The command and the resolved policy of a format-1 row contain
// everything that the RunSpec needs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/run/run_spec.h"
#include "lab/store/row.h"

namespace wm::lab {

struct RowFormat1 {
  Row row;                    // without `spec`
  std::string configuration;  // JSON; its "policy" has every parameter written out
};

// Reads the options that format 1 wrote: this grammar is fixed, whatever `wm sim` accepts today.
Result<RunSpec> spec_of_format_1(const std::string& command);

// Every row is kept. A row whose command cannot be read, or whose new key is taken by another row, keeps its old key.
Results migrate_format_1(const std::vector<RowFormat1>& rows, const std::map<std::string, std::string>& gpus);

}  // namespace wm::lab

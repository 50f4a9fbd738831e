// Results in and out of a store: JSON with everything in it, which can be read back; CSV with a line a cell; and two
// stores made one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/store.h"

namespace wm::lab {

// What a store holds, apart from the file.
struct Results {
  std::vector<Row> rows;                    // by key
  std::map<std::string, std::string> gpus;  // configuration text by digest
};

// From a store, or from a file that `to_json` wrote.
Result<Results> load_results(const std::string& path);

std::string to_json(const Results& results);
Result<Results> from_json(const std::string& text, const std::string& file);

// A header, then a line a cell; the numbers of the result that are not in lists become columns ("metrics.stp").
std::string to_csv(const Results& results);

struct Merged {
  std::size_t added = 0;
  std::size_t kept = 0;       // were there already
  std::size_t disagreed = 0;  // of those: the same code came to another run hash
};
// Takes over what `into` does not have, and what it has only as failed. All or nothing.
Result<Merged> merge(Store& into, const Results& from);

}  // namespace wm::lab

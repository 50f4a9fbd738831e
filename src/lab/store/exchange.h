// Export and import of results: JSON with everything in it, CSV with one line per cell, and merging of stores.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "lab/store/store.h"

namespace wm::lab {

// Reads a store, a file of rows (.ndjson), or a file that `to_json` wrote (.json), of any format.
Result<Results> load_results(const std::string& path);

std::string to_json(const Results& results);
Result<Results> from_json(const std::string& text, const std::string& file);

// A header, then one line per cell. Numbers of the result that are not in lists become columns ("metrics.stp").
std::string to_csv(const Results& results);

struct Merged {
  std::size_t added = 0;
  std::size_t kept = 0;       // rows that `into` had already
  std::size_t replaced = 0;   // rows that `into` had from other code than this
  std::size_t disagreed = 0;  // rows that both have, of the same code or of code that counts as the same, and differ
  std::size_t confirmed = 0;  // records that `into` did not have
};
// Adds the rows that `into` does not have, or has only as failed; rows for which `of_this_code` holds replace those of
// other code. All rows are added, or none (RowStore::put). Records of confirmed rows are added, too.
Result<Merged> merge(RowStore& into, const Results& from, const std::function<bool(const Row&)>& of_this_code);

}  // namespace wm::lab

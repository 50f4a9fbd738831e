// The claims of the papers as tables in Markdown: one verdict for each.
#pragma once

#include <string>
#include <vector>

#include "lab/report/figure.h"

namespace wm::lab {

// How many claims have each verdict. A claim that is the same as another one by arithmetic (Claim::same_as) counts with
// that one.
struct ClaimCounts {
  std::size_t reproduced = 0;
  std::size_t direction = 0;
  std::size_t no = 0;
  std::size_t not_run = 0;
  std::size_t repeated = 0;  // not in the other numbers
  std::size_t quick = 0;     // claims with a verdict from quick runs
};
ClaimCounts count_claims(const std::vector<Figure>& figures);

// A document with a table for each paper. `command` is the command that produced it. The figures must have passed
// keep_longest().
std::string claims_markdown(const std::vector<Figure>& figures, const std::string& command);

}  // namespace wm::lab

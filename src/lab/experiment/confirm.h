// Checks that the present code gives the results of rows that older code made, so that not all of them are run again.
//
// Stale rows are grouped by their code version and the present one of their cells. A sample of each group is run again
// with the present code. Where every row of the sample agrees, a record (store/confirmation.h) makes the others count
// as current; where one differs, the rows of the group stay as they are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment/matrix.h"
#include "lab/store/row_store.h"

namespace wm::lab {

struct StaleGroup {
  std::string from;          // code version of the rows
  std::string to;            // present code version of their cells
  std::vector<Cell> cells;   // ordered by key
  std::vector<Cell> sample;  // cells to run again
};

// The cells whose rows are done by code that is not, and does not count as, the present one. `sample`: the size of each
// sample; 0: 5% of the group, and at least 3. The cells of a sample have equal distances in the order of their keys,
// which are digests.
Result<std::vector<StaleGroup>> stale_groups(const Matrix& matrix, const RowStore& store, std::size_t sample);

// The first value in which two rows of a cell differ.
struct Difference {
  std::string key;
  std::string command;
  std::string value;  // "run_hash", "/metrics/stp"
  std::string before;
  std::string now;
};
// Compares the run hashes and every number of the older result. Values that newer code adds do not count, nor do those
// that depend on the host.
std::optional<Difference> difference(const Row& before, const Row& now);

struct GroupOutcome {
  Confirmation record;                  // stored where the group is confirmed
  std::vector<Difference> differences;  // in the sample
  std::string blocked_by;  // version of a group that differs although its rows count as rows of `record.from`
  [[nodiscard]] bool confirmed() const { return differences.empty() && blocked_by.empty(); }
};

// Compares the rows of `again`, where the samples were run, with those of `store`, and puts into `store` the records of
// the groups that agree and the rows of their samples.
Result<std::vector<GroupOutcome>> confirm(RowStore& store, const std::vector<StaleGroup>& groups, const RowStore& again,
                                          const std::string& date);

}  // namespace wm::lab

// Opens the place that takes the rows of a run.
#pragma once

#include <memory>
#include <string>

#include "lab/store/row_store.h"

namespace wm::lab {

// A path that ends in .ndjson is a RowsFile, any other a Store.
Result<std::unique_ptr<RowStore>> open_rows(const std::string& path, RowStore::Mode mode);

}  // namespace wm::lab

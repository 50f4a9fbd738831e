#include "lab/store/open_rows.h"

#include <fmt/format.h>

#include "lab/store/rows_file.h"
#include "lab/store/store.h"

namespace wm::lab {

Result<std::unique_ptr<RowStore>> open_rows(const std::string& path, RowStore::Mode mode) {
  if (path.ends_with(".ndjson")) {
    auto file = RowsFile::open(path, mode);
    if (!file) return file.error();
    return std::unique_ptr<RowStore>(std::make_unique<RowsFile>(*std::move(file)));
  }
  if (path.ends_with(".json"))
    return Error{
        fmt::format("'{}' cannot take results: a store ends in .db, a file of rows in .ndjson; `wm lab export "
                    "--json` writes .json",
                    path)};
  auto store = Store::open(path, mode);
  if (!store) return store.error();
  return std::unique_ptr<RowStore>(std::make_unique<Store>(*std::move(store)));
}

}  // namespace wm::lab

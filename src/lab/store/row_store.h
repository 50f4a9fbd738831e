// The part of a store that running cells needs: Store (store.h) keeps rows in SQLite, RowsFile (rows_file.h) as lines.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "lab/store/row.h"

namespace wm::lab {

class RowStore {
 public:
  enum class Mode { read, write };

  virtual ~RowStore() = default;
  // Replaces a row with the same key. The row is on disk when this returns.
  virtual Result<void> put(const Row& row) = 0;
  // The same for several rows; with SQLite all of them are written or none.
  virtual Result<void> put(const std::vector<Row>& rows) = 0;
  virtual Result<void> put_gpu(const std::string& digest, const std::string& text) = 0;
  // Replaces a record of the same two versions.
  virtual Result<void> put(const Confirmation& confirmation) = 0;
  [[nodiscard]] virtual Result<std::optional<Row>> find(const std::string& key) const = 0;
  [[nodiscard]] virtual Result<Confirmations> confirmations() const = 0;

 protected:
  RowStore() = default;
  RowStore(const RowStore&) = default;
  RowStore& operator=(const RowStore&) = default;
  RowStore(RowStore&&) = default;
  RowStore& operator=(RowStore&&) = default;
};

}  // namespace wm::lab

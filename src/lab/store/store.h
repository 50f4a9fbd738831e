// The store of results: one row per cell, in one SQLite file.
//
// A row is written completely or not at all, even if the process is killed. One process writes at a time; others may
// read. A file that is damaged, belongs to another program or cannot be written is refused with a message and left
// unchanged.
//
// A store of an older format is migrated when it is opened: in the file when it is opened for writing, in memory when
// it is opened for reading (migrate.h).
//
// In a build without SQLite `Store::open` returns an error that names the missing library (no_store.cc).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/store/row_store.h"

struct sqlite3;

namespace wm::lab {

class Store final : public RowStore {
 public:
  // `write` creates the file if it does not exist; `read` requires it. A file of
  // no bytes is an empty store.
  static Result<Store> open(const std::string& path, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() override;

  Result<void> put(const Row& row) override;
  // Writes all of the rows or none.
  Result<void> put(const std::vector<Row>& rows) override;
  Result<void> put_gpu(const std::string& digest, const std::string& text) override;
  Result<void> put(const Confirmation& confirmation) override;

  [[nodiscard]] Result<std::optional<Row>> find(const std::string& key) const override;
  [[nodiscard]] Result<Confirmations> confirmations() const override;
  // In the order of their keys.
  Result<void> for_each(const std::function<void(const Row&)>& visit) const;
  [[nodiscard]] Result<std::vector<Row>> rows() const;
  [[nodiscard]] Result<std::map<std::string, std::string>> gpus() const;

 private:
  Store(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
  static Result<Store> empty_store(const std::string& path);
  Result<void> execute(const char* sql);
  Result<void> insert(const Row& row);
  // Rewrites a store of format 1 in one transaction.
  Result<void> migrate();
  [[nodiscard]] Error failure(const std::string& doing) const;

  sqlite3* database_ = nullptr;
  std::string path_;
};

}  // namespace wm::lab

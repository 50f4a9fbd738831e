// Rows as lines of JSON in a text file, for hosts without SQLite and for cells that are spread over hosts: files of
// several hosts are concatenated, or merged into a store one after the other (`wm lab merge`).
//
// Lines are only appended, each with one write, so that a killed process leaves whole lines and at most one part of a
// line, which is ignored. The last of several rows with one key counts. A line is {"row":…},
// {"gpu":"DIGEST","text":"…"} or {"confirmed":…}.
#pragma once

#include <map>
#include <string>

#include "lab/store/row_store.h"

namespace wm::lab {

class RowsFile final : public RowStore {
 public:
  // `write` creates the file if it does not exist; `read` requires it.
  static Result<RowsFile> open(const std::string& path, Mode mode);

  Result<void> put(const Row& row) override;
  Result<void> put(const std::vector<Row>& rows) override;
  Result<void> put_gpu(const std::string& digest, const std::string& text) override;
  Result<void> put(const Confirmation& confirmation) override;
  [[nodiscard]] Result<std::optional<Row>> find(const std::string& key) const override;
  [[nodiscard]] Result<Confirmations> confirmations() const override;
  [[nodiscard]] Results results() const;

 private:
  explicit RowsFile(std::string path) : path_(std::move(path)) {}
  Result<void> read(const std::string& text);
  void keep(const Confirmation& confirmation);
  [[nodiscard]] Result<void> append(const std::string& line) const;

  std::string path_;
  std::map<std::string, Row> rows_;          // by key
  std::map<std::string, std::string> gpus_;  // configuration text by digest
  std::vector<Confirmation> confirmed_;
};

}  // namespace wm::lab

// Where results stay: one row a cell, in one SQLite file.
//
// A row is there whole or not at all, whenever the process is killed. One process writes at a time; others may read.
// A store that is damaged, not ours, or in a place that cannot be written is refused with a line that says so, and
// left as it is.
//
// Builds without SQLite have this contract too; `Store::open` then says what is missing (no_store.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace wm::lab {

// One cell: what was run, by which code, and what came of it.
struct Row {
  enum class State : std::uint8_t { done, failed };

  std::string key;            // a digest of what is run: the GPU's text and everything in `command`
  std::string command;        // repeats it, by hand, from the data folder
  std::string gpu;            // digest of the GPU's configuration; Store keeps the text
  std::string configuration;  // JSON: GPU, kernels, policy with every parameter, limits, as resolved
  std::uint64_t seed = 1;
  std::string code_version;  // code_version.h
  State state = State::done;
  std::string run_hash;     // of a done cell
  double host_seconds = 0;  // of a processor
  std::string result;       // JSON of a done cell, as `wm sim --json` writes it
  std::string error;        // of a failed one: the last it said

  friend bool operator==(const Row&, const Row&) = default;
};

class Store {
 public:
  enum class Mode { read, write };
  // `write` makes the file where there is none; `read` wants it there.
  static Result<Store> open(const std::string& path, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  // In place of a row with the same key, if there is one. After it returned the row stays, whatever happens.
  Result<void> put(const Row& row);
  // All or none of them.
  Result<void> put(const std::vector<Row>& rows);
  Result<void> put_gpu(const std::string& digest, const std::string& text);

  [[nodiscard]] Result<std::optional<Row>> find(const std::string& key) const;
  // In the order of their keys.
  Result<void> each(const std::function<void(const Row&)>& see) const;
  [[nodiscard]] Result<std::vector<Row>> rows() const;
  [[nodiscard]] Result<std::map<std::string, std::string>> gpus() const;

 private:
  Store(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
  Result<void> execute(const char* sql);
  Result<void> insert(const Row& row);
  [[nodiscard]] Error failure(const std::string& doing) const;

  sqlite3* database_ = nullptr;
  std::string path_;
};

}  // namespace wm::lab

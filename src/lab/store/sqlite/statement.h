// One prepared SQL statement, finalized by the destructor.
#pragma once

#include <cstdint>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <utility>

namespace wm::lab {

class Statement {
 public:
  Statement(sqlite3* database, const char* sql) {
    prepared_ = sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) == SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  [[nodiscard]] bool prepared() const { return prepared_; }
  // Binds the next parameter. The text must exist until the statement has run.
  Statement& bind(std::string_view text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    return *this;
  }
  Statement& bind(std::int64_t number) {
    sqlite3_bind_int64(statement_, ++bound_, number);
    return *this;
  }
  Statement& bind(double number) {
    sqlite3_bind_double(statement_, ++bound_, number);
    return *this;
  }
  // SQLITE_ROW, SQLITE_DONE or an error.
  int step() { return prepared_ ? sqlite3_step(statement_) : SQLITE_ERROR; }

  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return bytes == nullptr ? std::string()
                            : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] double number(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  bool prepared_ = false;
};

}  // namespace wm::lab

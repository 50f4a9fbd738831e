#include "lab/store/sqlite/confirmed_table.h"

#include "lab/store/sqlite/statement.h"

namespace wm::lab {

bool put_confirmation(sqlite3* database, const Confirmation& c) {
  constexpr const char* kTable =
      "CREATE TABLE IF NOT EXISTS confirmed(from_version TEXT NOT NULL, to_version TEXT NOT NULL,"
      " cells INTEGER NOT NULL, of_cells INTEGER NOT NULL, date TEXT NOT NULL,"
      " PRIMARY KEY(from_version, to_version)) WITHOUT ROWID";
  if (sqlite3_exec(database, kTable, nullptr, nullptr, nullptr) != SQLITE_OK) return false;
  Statement s(database,
              "INSERT OR REPLACE INTO confirmed(from_version, to_version, cells, of_cells, date) VALUES(?,?,?,?,?)");
  s.bind(c.from).bind(c.to).bind(static_cast<std::int64_t>(c.cells)).bind(static_cast<std::int64_t>(c.of)).bind(c.date);
  return s.step() == SQLITE_DONE;
}

std::optional<std::vector<Confirmation>> confirmations_of(sqlite3* database) {
  std::vector<Confirmation> all;
  Statement table(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'confirmed'");
  const int exists = table.step();
  if (exists == SQLITE_DONE) return all;
  if (exists != SQLITE_ROW) return std::nullopt;
  Statement s(
      database,
      "SELECT from_version, to_version, cells, of_cells, date FROM confirmed ORDER BY from_version, to_version");
  int code = SQLITE_ROW;
  while ((code = s.step()) == SQLITE_ROW)
    all.push_back({s.text(0), s.text(1), static_cast<std::size_t>(s.integer(2)), static_cast<std::size_t>(s.integer(3)),
                   s.text(4)});
  if (code != SQLITE_DONE) return std::nullopt;
  return all;
}

}  // namespace wm::lab

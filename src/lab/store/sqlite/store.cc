#include "lab/store/store.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "lab/store/migrate.h"
#include "lab/store/sqlite/confirmed_table.h"
#include "lab/store/sqlite/statement.h"

namespace wm::lab {
namespace {

constexpr std::int64_t kApplication = 0x776d6c62;  // "wmlb": marks the database as a store of wm lab
constexpr std::int64_t kSchema = 2;

constexpr const char* kTables =
    "CREATE TABLE cells(key TEXT PRIMARY KEY, spec TEXT NOT NULL, command TEXT NOT NULL, gpu TEXT NOT NULL,"
    " seed INTEGER NOT NULL, code_version TEXT NOT NULL, state TEXT NOT NULL, run_hash TEXT NOT NULL,"
    " host_seconds REAL NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE gpus(digest TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;";
constexpr const char* kColumns =
    "key, spec, command, gpu, seed, code_version, state, run_hash, host_seconds, result, error";
constexpr const char* kColumnsFormat1 =
    "key, configuration, command, gpu, seed, code_version, state, run_hash, host_seconds, result, error";

Row row_of(const Statement& s) {
  Row r;
  r.key = s.text(0);
  r.spec = s.text(1);
  r.command = s.text(2);
  r.gpu = s.text(3);
  r.seed = static_cast<std::uint64_t>(s.integer(4));
  r.code_version = s.text(5);
  r.state = s.text(6) == "done" ? Row::State::done : Row::State::failed;
  r.run_hash = s.text(7);
  r.host_seconds = s.number(8);
  r.result = s.text(9);
  r.error = s.text(10);
  return r;
}

std::int64_t pragma(sqlite3* database, const char* sql) {
  Statement s(database, sql);
  return s.step() == SQLITE_ROW ? s.integer(0) : -1;
}

// The error for a damaged file: SQLite's message, and what the user can do.
Error damaged(const std::string& path, const std::string& why) {
  std::string line = why;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return Error{fmt::format(
      "store '{}' is damaged ({}); it is left as it is: move it away, or try `sqlite3 {} .recover`", path, line, path)};
}

Result<void> create_tables(sqlite3* database, const std::string& path) {
  const std::string sql =
      fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;", kTables, kApplication, kSchema);
  const auto run = [&](const char* text) {
    return sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  const bool locked = run("BEGIN IMMEDIATE");
  // Another process may have made the tables while this one waited for the lock.
  const bool made = locked && pragma(database, "PRAGMA user_version") == kSchema;
  if (!locked || !run(made ? "COMMIT" : sql.c_str()))
    return Error{fmt::format("cannot make the store '{}': {}", path, sqlite3_errmsg(database))};
  return {};
}

// Returns the format of an existing store, or an error where the file is damaged or not a store.
Result<std::int64_t> format_of(sqlite3* database, const std::string& path) {
  const auto message = [&] { return std::string(sqlite3_errmsg(database)); };
  Statement check(database, "PRAGMA quick_check(1)");
  if (check.step() != SQLITE_ROW) {
    const int code = sqlite3_errcode(database);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) return damaged(path, message());
    return Error{fmt::format("cannot read the store '{}': {}", path, message())};
  }
  if (const std::string verdict = check.text(0); verdict != "ok") return damaged(path, verdict);
  if (pragma(database, "PRAGMA application_id") != kApplication)
    return Error{fmt::format("'{}' is a database, but no store of wm lab", path)};
  const std::int64_t format = pragma(database, "PRAGMA user_version");
  if (format < 1 || format > kSchema)
    return Error{fmt::format("store '{}' has format {}, this wm reads formats 1 to {}", path, format, kSchema)};
  return format;
}

// An older store is not changed by a reader: its content is copied into memory, where it can be migrated.
Result<sqlite3*> copy_into_memory(sqlite3* database, const std::string& path) {
  sqlite3* memory = nullptr;
  sqlite3_open_v2(":memory:", &memory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  sqlite3_backup* backup = sqlite3_backup_init(memory, "main", database, "main");
  const int copied = backup == nullptr ? SQLITE_ERROR : sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (copied == SQLITE_DONE) return memory;
  const Error error{fmt::format("cannot read the store '{}': {}", path, sqlite3_errmsg(memory))};
  sqlite3_close(memory);
  return error;
}

Results read_format_1(sqlite3* database) {
  std::vector<RowFormat1> rows;
  Statement cells(database, fmt::format("SELECT {} FROM cells", kColumnsFormat1).c_str());
  while (cells.step() == SQLITE_ROW) {
    Row row = row_of(cells);
    row.spec.clear();
    rows.push_back({std::move(row), cells.text(1)});
  }
  std::map<std::string, std::string> gpus;
  Statement texts(database, "SELECT digest, text FROM gpus");
  while (texts.step() == SQLITE_ROW) gpus[texts.text(0)] = texts.text(1);
  return migrate_format_1(rows, gpus);
}

}  // namespace

// The store of a reader whose file has no content yet, such as that of a run that was killed at its start.
Result<Store> Store::empty_store(const std::string& path) {
  sqlite3* memory = nullptr;
  sqlite3_open_v2(":memory:", &memory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Store store(memory, path);
  if (auto created = create_tables(memory, path); !created) return created.error();
  return store;
}

Result<Store> Store::open(const std::string& path, Mode mode) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  const bool fresh = !exists || std::filesystem::file_size(path, ignored) == 0;
  if (mode == Mode::read && !exists) return Error{fmt::format("there is no store '{}'", path)};
  sqlite3* database = nullptr;
  // A reader must be able to roll back the unfinished transaction of a killed writer; query_only prevents other writes.
  const bool writable = access(path.c_str(), W_OK) == 0;
  const int flags = mode == Mode::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : writable          ? SQLITE_OPEN_READWRITE
                                        : SQLITE_OPEN_READONLY;
  const int opened = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  Store store(database, path);
  if (opened != SQLITE_OK) return Error{fmt::format("cannot open the store '{}': {}", path, sqlite3_errmsg(database))};
  if (mode == Mode::write && exists && !writable)
    return Error{fmt::format("cannot write to the store '{}': it is read-only", path)};
  sqlite3_busy_timeout(database, 20'000);
  sqlite3_exec(database, "PRAGMA synchronous = FULL", nullptr, nullptr, nullptr);
  if (mode == Mode::read) sqlite3_exec(database, "PRAGMA query_only = ON", nullptr, nullptr, nullptr);
  if (mode == Mode::read && fresh) return empty_store(path);
  if (fresh) {
    if (auto created = create_tables(database, path); !created) return created.error();
    return store;
  }
  const auto format = format_of(database, path);
  if (!format) return format.error();
  if (*format == kSchema) return store;
  if (mode == Mode::write) {
    if (auto migrated = store.migrate(); !migrated) return migrated.error();
    return store;
  }
  const auto memory = copy_into_memory(database, path);
  if (!memory) return memory.error();
  Store copy(*memory, path);
  if (auto migrated = copy.migrate(); !migrated) return migrated.error();
  return copy;
}

Store::Store(Store&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)), path_(std::move(other.path_)) {}
Store& Store::operator=(Store&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(path_, other.path_);
  return *this;
}
Store::~Store() { sqlite3_close(database_); }

Error Store::failure(const std::string& doing) const {
  const int code = sqlite3_errcode(database_);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return damaged(path_, sqlite3_errmsg(database_));
  return Error{fmt::format("cannot {} the store '{}': {}", doing, path_, sqlite3_errmsg(database_))};
}

Result<void> Store::execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure("write to");
  return {};
}

Result<void> Store::insert(const Row& r) {
  Statement s(database_,
              fmt::format("INSERT OR REPLACE INTO cells({}) VALUES(?,?,?,?,?,?,?,?,?,?,?)", kColumns).c_str());
  s.bind(r.key).bind(r.spec).bind(r.command).bind(r.gpu).bind(static_cast<std::int64_t>(r.seed));
  s.bind(r.code_version).bind(r.state == Row::State::done ? "done" : "failed").bind(r.run_hash).bind(r.host_seconds);
  s.bind(r.result).bind(r.error);
  if (s.step() != SQLITE_DONE) return failure("write to");
  return {};
}

Result<void> Store::migrate() {
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
  // Another process may have migrated the store while this one waited for the lock.
  if (pragma(database_, "PRAGMA user_version") == kSchema) return execute("COMMIT");
  const Results results = read_format_1(database_);
  auto done =
      execute(fmt::format("DROP TABLE cells; DROP TABLE gpus; {} PRAGMA user_version = {};", kTables, kSchema).c_str());
  for (const auto& [digest, text] : results.gpus)
    if (done) done = put_gpu(digest, text);
  for (const Row& row : results.rows)
    if (done) done = insert(row);
  if (done) done = execute("COMMIT");
  if (!done) (void)execute("ROLLBACK");
  return done;
}

Result<void> Store::put(const Row& row) { return insert(row); }

Result<void> Store::put(const std::vector<Row>& rows) {
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
  for (const Row& row : rows)
    if (auto done = insert(row); !done) {
      (void)execute("ROLLBACK");
      return done;
    }
  auto committed = execute("COMMIT");
  if (!committed) (void)execute("ROLLBACK");
  return committed;
}

Result<void> Store::put_gpu(const std::string& digest, const std::string& text) {
  Statement s(database_, "INSERT OR IGNORE INTO gpus(digest, text) VALUES(?,?)");
  s.bind(digest).bind(text);
  if (s.step() != SQLITE_DONE) return failure("write to");
  return {};
}

Result<void> Store::put(const Confirmation& confirmation) {
  if (!put_confirmation(database_, confirmation)) return failure("write to");
  return {};
}

Result<Confirmations> Store::confirmations() const {
  auto all = confirmations_of(database_);
  if (!all) return failure("read");
  return Confirmations(*std::move(all));
}

Result<std::optional<Row>> Store::find(const std::string& key) const {
  Statement s(database_, fmt::format("SELECT {} FROM cells WHERE key = ?", kColumns).c_str());
  s.bind(key);
  const int code = s.step();
  if (code == SQLITE_ROW) return std::optional<Row>(row_of(s));
  if (code == SQLITE_DONE) return std::optional<Row>();
  return failure("read");
}

Result<void> Store::for_each(const std::function<void(const Row&)>& visit) const {
  Statement s(database_, fmt::format("SELECT {} FROM cells ORDER BY key", kColumns).c_str());
  int code = SQLITE_ROW;
  while ((code = s.step()) == SQLITE_ROW) visit(row_of(s));
  if (code != SQLITE_DONE) return failure("read");
  return {};
}

Result<std::vector<Row>> Store::rows() const {
  std::vector<Row> all;
  if (auto read = for_each([&](const Row& row) { all.push_back(row); }); !read) return read.error();
  return all;
}

Result<std::map<std::string, std::string>> Store::gpus() const {
  std::map<std::string, std::string> all;
  Statement s(database_, "SELECT digest, text FROM gpus ORDER BY digest");
  int code = SQLITE_ROW;
  while ((code = s.step()) == SQLITE_ROW) all[s.text(0)] = s.text(1);
  if (code != SQLITE_DONE) return failure("read");
  return all;
}

}  // namespace wm::lab

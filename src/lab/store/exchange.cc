#include "lab/store/exchange.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "lab/store/migrate.h"
#include "lab/store/parse_json.h"
#include "lab/store/row_json.h"
#include "lab/store/rows_file.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

Json parse_or_text(const std::string& text) {
  Json parsed = parse_json(text);
  return parsed.is_discarded() ? Json(text) : parsed;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// Scalars by dotted name. Lists are left out, except the list of kernels: kernels.0.ipc.
void flatten(const Json& value, const std::string& name, std::map<std::string, std::string>& out) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten(inner, name.empty() ? key : name + "." + key, out);
  } else if (value.is_array() && name == "kernels") {
    for (std::size_t i = 0; i < value.size(); ++i) flatten(value[i], fmt::format("{}.{}", name, i), out);
  } else if (!value.is_array() && !value.is_null()) {
    out[name] = text_of(value);
  }
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string to_json(const Results& results) {
  Json cells = Json::array();
  for (const Row& row : results.rows) cells.push_back(json_from(row));
  const Json head = {{"schema", 2}, {"gpus", results.gpus}};
  // One cell per line, so that version control shows a changed cell as one changed line.
  std::string text = head.dump();
  text.back() = ',';
  text += "\"cells\":[";
  for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "\n" : ",\n") + cells[i].dump();
  return text + "\n]}\n";
}

Result<Results> from_json(const std::string& text, const std::string& file) {
  try {
    const Json document = parse_json_or_throw(text);
    const int schema = document.at("schema").get<int>();
    Results results;
    results.gpus = document.at("gpus").get<std::map<std::string, std::string>>();
    if (schema == 1) {
      std::vector<RowFormat1> rows;
      for (const Json& cell : document.at("cells"))
        rows.push_back({row_from_json(cell), text_of(cell.at("configuration"))});
      return migrate_format_1(rows, results.gpus);
    }
    if (schema != 2) return Error{fmt::format("results of schema {}; this wm reads schemas 1 and 2", schema), {file}};
    for (const Json& cell : document.at("cells")) results.rows.push_back(row_from_json(cell));
    std::sort(results.rows.begin(), results.rows.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
    return results;
  } catch (const nlohmann::json::parse_error&) {
    return Error{"no results of wm lab: it is no JSON", {file}};
  } catch (const nlohmann::json::exception&) {
    return Error{"no results of wm lab: a key is missing or has a value of another type", {file}};
  }
}

Result<Results> load_results(const std::string& path) {
  if (path.ends_with(".json")) {
    const auto text = read_file(path);
    if (!text) return text.error();
    return from_json(*text, path);
  }
  if (path.ends_with(".ndjson")) {
    const auto file = RowsFile::open(path, RowsFile::Mode::read);
    if (!file) return file.error();
    return file->results();
  }
  const auto store = Store::open(path, Store::Mode::read);
  if (!store) return store.error();
  auto rows = store->rows();
  if (!rows) return rows.error();
  auto gpus = store->gpus();
  if (!gpus) return gpus.error();
  return Results{*std::move(rows), *std::move(gpus)};
}

std::string to_csv(const Results& results) {
  std::vector<std::map<std::string, std::string>> lines;
  std::set<std::string> columns;
  for (const Row& row : results.rows) {
    std::map<std::string, std::string> line;
    if (row.state == Row::State::done) flatten(parse_or_text(row.result), "", line);
    line.erase("code_version");  // the row has it, for failed cells too
    for (const auto& [name, ignored] : line) columns.insert(name);
    lines.push_back(std::move(line));
  }
  std::string text = "key,command,gpu_digest,code_version,state,host_seconds,error";
  for (const std::string& c : columns) text += "," + csv_field(c);
  text += "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Row& r = results.rows[i];
    text += fmt::format("{},{},{},{},{},{:.3f},{}", r.key, csv_field(r.command), r.gpu, r.code_version,
                        r.state == Row::State::done ? "done" : "failed", r.host_seconds, csv_field(r.error));
    for (const std::string& c : columns) text += "," + (lines[i].contains(c) ? csv_field(lines[i][c]) : "");
    text += "\n";
  }
  return text;
}

Result<Merged> merge(RowStore& into, const Results& from, const std::function<bool(const Row&)>& of_this_code) {
  Merged merged;
  std::vector<Row> take;
  for (const Row& row : from.rows) {
    const auto have = into.find(row.key);
    if (!have) return have.error();
    const bool replaces = *have && row.state == Row::State::done && (*have)->state == Row::State::done &&
                          (*have)->code_version != row.code_version && of_this_code(row);
    if (*have && !replaces && ((*have)->state == Row::State::done || row.state == Row::State::failed)) {
      ++merged.kept;
      if ((*have)->state == Row::State::done && row.state == Row::State::done &&
          (*have)->code_version == row.code_version && (*have)->run_hash != row.run_hash)
        ++merged.disagreed;
      continue;
    }
    if (replaces) ++merged.replaced;
    take.push_back(row);
  }
  for (const auto& [digest, text] : from.gpus)
    if (auto put = into.put_gpu(digest, text); !put) return put.error();
  if (auto put = into.put(take); !put) return put.error();
  merged.added = take.size() - merged.replaced;
  return merged;
}

}  // namespace wm::lab

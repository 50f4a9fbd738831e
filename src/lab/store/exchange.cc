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

// A list with one item per line, so that version control shows a changed cell as one changed line.
std::string one_a_line(const Json& items) {
  std::string text = "[";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "\n" : ",\n") + items[i].dump();
  return text + "\n]";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// The records whose versions none of `known` has.
std::vector<Confirmation> records_not_in(const std::vector<Confirmation>& known,
                                         const std::vector<Confirmation>& records) {
  std::vector<Confirmation> fresh;
  for (const Confirmation& c : records)
    if (std::none_of(known.begin(), known.end(), [&](const auto& k) { return k.from == c.from && k.to == c.to; }))
      fresh.push_back(c);
  return fresh;
}

// Whether two rows of a cell are of the same code, or the code of one counts as that of the other.
bool count_as_same(const Confirmations& confirmed, const Row& a, const Row& b) {
  return confirmed.covers(a.code_version, b.code_version) || confirmed.covers(b.code_version, a.code_version);
}

}  // namespace

std::string to_json(const Results& results) {
  Json cells = Json::array();
  for (const Row& row : results.rows) cells.push_back(json_from(row));
  Json confirmed = Json::array();
  for (const Confirmation& c : results.confirmed) confirmed.push_back(json_from(c));
  const Json head = {{"schema", 2}, {"gpus", results.gpus}};
  std::string text = head.dump();
  text.pop_back();
  if (!confirmed.empty()) text += ",\"confirmed\":" + one_a_line(confirmed);
  return text + ",\"cells\":" + one_a_line(cells) + "}\n";
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
    if (document.contains("confirmed")) {
      auto confirmed = confirmations_from_json(document["confirmed"]);
      if (!confirmed) return Error{confirmed.error().what, {file}};
      results.confirmed = *std::move(confirmed);
    }
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
  auto confirmed = store->confirmations();
  if (!confirmed) return confirmed.error();
  return Results{*std::move(rows), *std::move(gpus), confirmed->records()};
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
  const auto before = into.confirmations();
  if (!before) return before.error();
  const std::vector<Confirmation> fresh = records_not_in(before->records(), from.confirmed);
  std::vector<Confirmation> records = before->records();
  records.insert(records.end(), fresh.begin(), fresh.end());
  const Confirmations confirmed(std::move(records));
  for (const Row& row : from.rows) {
    const auto have = into.find(row.key);
    if (!have) return have.error();
    const bool both_done = *have && row.state == Row::State::done && (*have)->state == Row::State::done;
    const bool replaces = both_done && (*have)->code_version != row.code_version && of_this_code(row);
    if (both_done && (*have)->run_hash != row.run_hash && count_as_same(confirmed, **have, row)) ++merged.disagreed;
    if (*have && !replaces && ((*have)->state == Row::State::done || row.state == Row::State::failed)) {
      ++merged.kept;
      continue;
    }
    if (replaces) ++merged.replaced;
    take.push_back(row);
  }
  for (const auto& [digest, text] : from.gpus)
    if (auto put = into.put_gpu(digest, text); !put) return put.error();
  if (auto put = into.put(take); !put) return put.error();
  for (const Confirmation& c : fresh)
    if (auto put = into.put(c); !put) return put.error();
  merged.confirmed = fresh.size();
  merged.added = take.size() - merged.replaced;
  return merged;
}

}  // namespace wm::lab

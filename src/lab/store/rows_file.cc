#include "lab/store/rows_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "lab/store/parse_json.h"
#include "lab/store/row_json.h"

namespace wm::lab {

using Json = nlohmann::ordered_json;

Result<RowsFile> RowsFile::open(const std::string& path, Mode mode) {
  RowsFile file(path);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    if (mode == Mode::read) return Error{fmt::format("there is no file of rows '{}'", path)};
    if (auto made = file.append(""); !made) return made.error();
    return file;
  }
  const auto text = read_file(path);
  if (!text) return text.error();
  if (auto read = file.read(*text); !read) return read.error();
  // A part of a line that a killed process left would otherwise be joined with the next one.
  if (mode == Mode::write && !text->empty() && text->back() != '\n')
    if (auto ended = file.append("\n"); !ended) return ended.error();
  return file;
}

Result<void> RowsFile::read(const std::string& text) {
  std::size_t number = 0;
  std::size_t broken = 0;  // the last line that is no JSON
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.empty()) continue;
    const Json document = parse_json(line);
    if (document.is_discarded()) {
      broken = number;
      continue;
    }
    try {
      if (document.contains("gpu")) {
        gpus_[document.at("gpu")] = document.at("text");
      } else if (document.contains("confirmed")) {
        const auto confirmation = confirmation_from_json(document.at("confirmed"));
        if (!confirmation) return Error{confirmation.error().what, {path_, static_cast<std::uint32_t>(number)}};
        keep(*confirmation);
      } else {
        Row row = row_from_json(document.at("row"));
        rows_[row.key] = std::move(row);
      }
    } catch (const Json::exception& e) {
      return Error{fmt::format("no row of wm lab: {}", e.what()), {path_, static_cast<std::uint32_t>(number)}};
    }
  }
  if (broken != 0 && rows_.empty() && gpus_.empty())
    return Error{"no row of wm lab", {path_, static_cast<std::uint32_t>(broken)}};
  return {};
}

Result<void> RowsFile::append(const std::string& line) const {
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                       (line.empty() || ::fsync(file) == 0);
  const int why = errno;
  if (file >= 0) ::close(file);
  if (!written) return Error{fmt::format("cannot write to '{}': {}", path_, std::strerror(why))};
  return {};
}

Result<void> RowsFile::put(const Row& row) {
  if (auto written = append(Json{{"row", json_from(row)}}.dump() + "\n"); !written) return written;
  rows_[row.key] = row;
  return {};
}

Result<void> RowsFile::put(const std::vector<Row>& rows) {
  std::string lines;
  for (const Row& row : rows) lines += Json{{"row", json_from(row)}}.dump() + "\n";
  if (auto written = append(lines); !written) return written;
  for (const Row& row : rows) rows_[row.key] = row;
  return {};
}

Result<void> RowsFile::put_gpu(const std::string& digest, const std::string& text) {
  if (const auto known = gpus_.find(digest); known != gpus_.end() && known->second == text) return {};
  if (auto written = append(Json{{"gpu", digest}, {"text", text}}.dump() + "\n"); !written) return written;
  gpus_[digest] = text;
  return {};
}

Result<void> RowsFile::put(const Confirmation& confirmation) {
  if (auto written = append(Json{{"confirmed", json_from(confirmation)}}.dump() + "\n"); !written) return written;
  keep(confirmation);
  return {};
}

// The last record of two versions counts.
void RowsFile::keep(const Confirmation& confirmation) {
  std::erase_if(confirmed_, [&](const auto& c) { return c.from == confirmation.from && c.to == confirmation.to; });
  confirmed_.push_back(confirmation);
}

Result<Confirmations> RowsFile::confirmations() const { return Confirmations(confirmed_); }

Result<std::optional<Row>> RowsFile::find(const std::string& key) const {
  const auto row = rows_.find(key);
  return row == rows_.end() ? std::nullopt : std::optional<Row>(row->second);
}

Results RowsFile::results() const {
  Results all;
  for (const auto& [key, row] : rows_) all.rows.push_back(row);
  all.gpus = gpus_;
  all.confirmed = confirmed_;
  return all;
}

}  // namespace wm::lab

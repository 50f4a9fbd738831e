#include "lab/validation/launch_rows.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sstream>

#include "base/number.h"

namespace wm::lab {
namespace {

constexpr std::array kSimulatedColumns{"cycles", "instructions", "l2_sectors", "dram_read_sectors",
                                       "dram_write_sectors"};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

// The header and rows of one text; errors name its lines.
class RowReader {
 public:
  explicit RowReader(const std::string& path) : path_(path) {}

  Result<LaunchRows> read(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      if (line.empty() || line[0] == '#') continue;
      auto done = columns_.empty() ? take_header(line) : take_row(line);
      if (!done) return done.error();
    }
    if (columns_.empty()) return error("no header; expected name,launch,cycles,…");
    return std::move(rows_);
  }

 private:
  [[nodiscard]] Error error(std::string what) const { return Error{std::move(what), {path_, line_, 0}}; }

  Result<void> take_header(const std::string& line) {
    columns_ = fields_of(line);
    for (const char* needed : {"name", "launch", "cycles"}) {
      if (std::find(columns_.begin(), columns_.end(), needed) == columns_.end())
        return error(fmt::format("no column '{}'; expected name,launch,cycles,…", needed));
    }
    return {};
  }

  Result<void> take_row(const std::string& line) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != columns_.size())
      return error(fmt::format("{} fields; expected {}, as the header has", fields.size(), columns_.size()));
    std::pair<std::string, std::uint32_t> key;
    LaunchFigures figures;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (columns_[i] == "name") {
        key.first = fields[i];
        continue;
      }
      if (columns_[i] == "digest") continue;  // the buffers' content; no number
      const auto value = parse_double(fields[i]);
      if (!value || !(*value >= 0) || *value > 1e18)
        return error(fmt::format("{} '{}'; expected a number that is not negative", columns_[i], fields[i]));
      if (columns_[i] == "launch") {
        key.second = static_cast<std::uint32_t>(std::min(*value, 1e9));
      } else {
        figures[columns_[i]] = *value;
      }
    }
    if (!rows_.emplace(key, std::move(figures)).second)
      return error(fmt::format("launch {} of '{}' occurs twice", key.second, key.first));
    return {};
  }

  const std::string& path_;
  std::uint32_t line_ = 0;
  std::vector<std::string> columns_;
  LaunchRows rows_;
};

}  // namespace

Result<LaunchRows> parse_launch_rows(std::string_view text, const std::string& path) {
  return RowReader(path).read(text);
}

void add_rows(LaunchRows& rows, const std::string& name, const SimulatedRun& run) {
  for (std::size_t i = 0; i < run.launches.size(); ++i) {
    const SimulatedLaunch& launch = run.launches[i];
    rows[{name, static_cast<std::uint32_t>(i)}] = {
        {"cycles", static_cast<double>(launch.cycles)},
        {"instructions", static_cast<double>(launch.issued)},
        {"l2_sectors", static_cast<double>(launch.l2_sectors)},
        {"dram_read_sectors", static_cast<double>(launch.dram_read_sectors)},
        {"dram_write_sectors", static_cast<double>(launch.dram_write_sectors)},
    };
  }
}

std::string launch_rows_text(const LaunchRows& rows, const std::string& comment) {
  std::string text = fmt::format("# {}\nname,launch,{}\n", comment, fmt::join(kSimulatedColumns, ","));
  for (const auto& [key, figures] : rows) {
    text += fmt::format("{},{}", key.first, key.second);
    for (const char* column : kSimulatedColumns) text += fmt::format(",{:.0f}", figures.at(column));
    text += '\n';
  }
  return text;
}

}  // namespace wm::lab

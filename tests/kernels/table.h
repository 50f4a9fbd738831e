// Reads the committed tables beside these tests: comma-separated, '#' starts a comment line, the first line names
// columns.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tree.h"

namespace wm::zoo {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

inline std::vector<Row> read_table(const std::string& name) {
  std::ifstream in(source_path("tests/kernels/") + name);
  std::vector<Row> rows;
  std::vector<std::string> columns;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (columns.empty()) {
      columns = split(line);
      continue;
    }
    const std::vector<std::string> cells = split(line);
    Row row;
    for (std::size_t i = 0; i < columns.size() && i < cells.size(); ++i) row[columns[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace wm::zoo

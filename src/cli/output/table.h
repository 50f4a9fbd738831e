// Text in columns. Columns that contain only numbers are aligned to the right.
#pragma once

#include <string>
#include <vector>

#include "cli/output/terminal.h"

namespace wm::cli {

struct Cell {
  Cell(std::string t, Style s = Style::plain) : text(std::move(t)), style(s) {}  // NOLINT(google-explicit-constructor)
  Cell(const char* t) : text(t) {}                                               // NOLINT(google-explicit-constructor)
  std::string text;
  Style style = Style::plain;
};

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  // Removes columns in this order until the lines fit into `width`, where the last column may be cut.
  void drop_columns(const std::vector<std::string>& least_important_first, std::size_t width);
  [[nodiscard]] std::string to_string() const { return fitted(0); }
  // The text with the last column cut where a line would exceed `width`; 0: never cut.
  [[nodiscard]] std::string fitted(std::size_t width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<std::string> header_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace wm::cli

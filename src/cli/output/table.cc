#include "cli/output/table.h"

#include <algorithm>

namespace wm::cli {
namespace {

// The number of columns on a terminal: continuation bytes of UTF-8 take none.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool numeric(const std::string& text) {
  return text.empty() || text == "-" || text == "∞" || (text[0] >= '0' && text[0] <= '9');
}

}  // namespace

std::string Table::fitted(std::size_t limit) const {
  const std::size_t columns = header_.size();
  std::vector<std::size_t> widths(columns);
  std::vector<bool> right(columns, true);
  for (std::size_t c = 0; c < columns; ++c) {
    widths[c] = width(header_[c]);
    for (const auto& row : rows_) {
      widths[c] = std::max(widths[c], width(row[c].text));
      if (!numeric(row[c].text)) right[c] = false;
    }
  }
  std::size_t before_last = 0;
  for (std::size_t c = 0; c + 1 < columns; ++c) before_last += widths[c] + 2;
  std::string out;
  const auto put = [&](std::size_t c, const Cell& cell) {
    const std::string padding(widths[c] - width(cell.text), ' ');
    const bool last = c + 1 == columns;
    if (right[c]) out += padding;
    // A last column of less than a few words would be useless; the line may then wrap.
    const bool cut = last && limit >= before_last + 20 && width(cell.text) + before_last > limit;
    out += styled(cell.style, cut ? cell.text.substr(0, limit - before_last - 1) + "…" : cell.text);
    if (!right[c] && !last) out += padding;
    out += last ? "\n" : "  ";
  };
  for (std::size_t c = 0; c < columns; ++c) put(c, Cell(header_[c], Style::bold));
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < columns; ++c) put(c, row[c]);
  }
  return out;
}

}  // namespace wm::cli

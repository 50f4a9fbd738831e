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

// A last column of less than a few words would be useless if it were cut further.
constexpr std::size_t kLeastCutWidth = 20;

}  // namespace

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> all(header_.size());
  for (std::size_t c = 0; c < header_.size(); ++c) {
    all[c] = width(header_[c]);
    for (const auto& row : rows_) all[c] = std::max(all[c], width(row[c].text));
  }
  return all;
}

void Table::drop_columns(const std::vector<std::string>& least_important_first, std::size_t limit) {
  const auto fits = [&] {
    const std::vector<std::size_t> needed = widths();
    std::size_t sum = std::min(needed.back(), kLeastCutWidth);
    for (std::size_t c = 0; c + 1 < needed.size(); ++c) sum += needed[c] + 2;
    return sum <= limit;
  };
  for (const std::string& name : least_important_first) {
    if (fits()) return;
    const auto at = std::find(header_.begin(), header_.end(), name);
    if (at == header_.end()) continue;
    for (auto& row : rows_) row.erase(row.begin() + (at - header_.begin()));
    header_.erase(at);
  }
}

std::string Table::fitted(std::size_t limit) const {
  const std::size_t columns = header_.size();
  const std::vector<std::size_t> widths = this->widths();
  std::vector<bool> right(columns, true);
  for (std::size_t c = 0; c < columns; ++c) {
    for (const auto& row : rows_) right[c] = right[c] && numeric(row[c].text);
  }
  std::size_t before_last = 0;
  for (std::size_t c = 0; c + 1 < columns; ++c) before_last += widths[c] + 2;
  std::string out;
  const auto put = [&](std::size_t c, const Cell& cell) {
    const std::string padding(widths[c] - width(cell.text), ' ');
    const bool last = c + 1 == columns;
    if (right[c]) out += padding;
    // Where the last column cannot be cut, the line may wrap.
    const bool cut = last && limit >= before_last + kLeastCutWidth && width(cell.text) + before_last > limit;
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

#include "base/result.h"

#include <fmt/format.h>

namespace wm {

std::string Error::to_string() const {
  std::string place = where.file;
  if (where.line != 0) place += fmt::format("{}{}", place.empty() ? "line " : ":", where.line);
  if (where.line != 0 && where.column != 0) place += fmt::format(":{}", where.column);
  return place.empty() ? what : fmt::format("{}: {}", place, what);
}

}  // namespace wm

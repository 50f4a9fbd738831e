#include "cli/output/output.h"

#include <cstdio>

#include "base/file.h"
#include "base/json.h"

namespace wm::cli {

void Output::say(std::string_view text) const {
  if (json_ != "-") std::fwrite(text.data(), 1, text.size(), stdout);
}

Result<void> Output::items(const nlohmann::ordered_json& items) const {
  return document({{"schema", 1}, {"items", items}});
}

Result<void> Output::document(const nlohmann::ordered_json& document) const {
  if (json_.empty()) return {};
  // A kernel may print any bytes; bytes that are not UTF-8 become the replacement character.
  const std::string text = document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (json_ != "-") return write_file(json_, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

}  // namespace wm::cli

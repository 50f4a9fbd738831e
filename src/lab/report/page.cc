#include "lab/report/page.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "lab/report/page_template.h"

namespace wm::lab {

Result<std::string> page_of(const nlohmann::ordered_json& document) {
  if (page_template().empty())
    return Error{fmt::format("this build writes no pages: {}; with npm and a network, build again", why_no_page())};
  constexpr std::string_view kPlace = "/*DOCUMENT*/";
  std::string html(page_template());
  const std::size_t at = html.find(kPlace);
  std::string text = document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  // "</script>" in a name would end the element; JSON reads \u003c as the same character.
  for (std::size_t i = 0; (i = text.find('<', i)) != std::string::npos;) text.replace(i, 1, "\\u003c");
  html.replace(at, kPlace.size(), text);
  return html;
}

Result<void> write_page(const std::string& file, const nlohmann::ordered_json& document) {
  const auto html = page_of(document);
  if (!html) return html.error();
  return write_file(file, *html);
}

}  // namespace wm::lab

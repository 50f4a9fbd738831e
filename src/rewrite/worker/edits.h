// Replacements in a text, applied all at once.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewrite/worker/facts.h"

namespace wm::rewrite {

class Edits {
 public:
  void replace(Span span, std::string with) { edits_.push_back({span, std::move(with)}); }
  void insert(std::size_t at, std::string what) { replace({at, at}, std::move(what)); }

  // The text of `span` with the replacements that lie in it. One inside another that was made is dropped with it.
  [[nodiscard]] std::string apply(std::string_view text, Span span) const {
    std::vector<Edit> order = edits_;
    std::stable_sort(order.begin(), order.end(),
                     [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
    std::string out;
    std::size_t at = span.begin;
    for (const Edit& edit : order) {
      if (edit.span.begin < at || edit.span.end > span.end) continue;
      out += text.substr(at, edit.span.begin - at);
      out += edit.with;
      at = edit.span.end;
    }
    out += text.substr(at, span.end - at);
    return out;
  }

 private:
  struct Edit {
    Span span;
    std::string with;
  };
  std::vector<Edit> edits_;
};

}  // namespace wm::rewrite

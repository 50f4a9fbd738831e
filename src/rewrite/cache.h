// Replies on disk, by content: the same source, options, headers and device, asked of the same version of the rewriter.
//
// A file holds the request beside its reply, so two requests whose names collide are told apart; files of the host that
// the source included are compared when a reply is found. The folder may be copied to a host without clang.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "rewrite/program.h"

namespace wm::rewrite {

class Cache {
 public:
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::optional<Reply> find(const Request& request) const;
  [[nodiscard]] Result<void> store(const Request& request, const Reply& reply) const;

  // The path of the file that holds, or would hold, the reply to a request.
  [[nodiscard]] std::string path_of(const Request& request) const;

 private:
  std::string folder_;
};

// $XDG_CACHE_HOME/warpmux/rewrite, or ~/.cache/warpmux/rewrite; empty where neither is known.
std::string default_cache_folder();

}  // namespace wm::rewrite

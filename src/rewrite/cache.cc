#include "rewrite/cache.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "base/file.h"
#include "rewrite/wire.h"

namespace wm::rewrite {
namespace {

std::string path_for(const std::string& folder, const std::string& key) {
  return fmt::format("{}/{:016x}{:016x}.wmr", folder, digest(key), digest(key, 0x9e3779b97f4a7c15ULL));
}

bool still_the_same(const Dependency& file) {
  const auto content = read_file(file.path);
  return content && digest(*content) == file.digest;
}

}  // namespace

std::string Cache::path_of(const Request& request) const { return path_for(folder_, encode(request)); }

std::optional<Reply> Cache::find(const Request& request) const {
  const std::string key = encode(request);
  const auto file = read_file(path_for(folder_, key));
  if (!file || !file->starts_with(key)) return std::nullopt;
  auto reply = decode_reply(std::string_view(*file).substr(key.size()));
  if (!reply) return std::nullopt;
  for (const Dependency& dependency : reply->dependencies) {
    if (!still_the_same(dependency)) return std::nullopt;
  }
  return *std::move(reply);
}

Result<void> Cache::store(const Request& request, const Reply& reply) const {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) return Error{folder_ + ": " + failed.message()};
  const std::string key = encode(request);
  return write_file(path_for(folder_, key), key + encode(reply));
}

std::string default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/warpmux/rewrite";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.cache/warpmux/rewrite";
  }
  return {};
}

}  // namespace wm::rewrite

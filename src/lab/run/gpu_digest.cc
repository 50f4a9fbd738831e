#include "lab/run/gpu_digest.h"

#include <algorithm>

#include "base/yaml.h"
#include "lab/run/digest.h"

namespace wm::lab {
namespace {

void add(Digest& digest, const yaml::Value& value) {
  digest.add(static_cast<std::uint64_t>(value.kind)).add(value.text);
  digest.add(value.items.size());
  for (const yaml::Value& item : value.items) add(digest, item);
  std::vector<const yaml::Member*> sorted;
  for (const yaml::Member& member : value.members) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  digest.add(sorted.size());
  for (const yaml::Member* member : sorted) {
    digest.add(member->key);
    add(digest, member->value);
  }
}

}  // namespace

std::string gpu_digest(const std::string& text) {
  auto configuration = yaml::load(text, "");
  if (!configuration || configuration->kind != yaml::Value::Kind::map) return Digest{}.add(text).hex();
  std::erase_if(configuration->members, [](const yaml::Member& m) { return m.key == "about"; });
  Digest digest;
  add(digest, *configuration);
  return digest.hex();
}

}  // namespace wm::lab

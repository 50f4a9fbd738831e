#include "lab/experiment/seeds.h"

#include <numeric>
#include <set>

#include "base/yaml_map.h"

namespace wm::lab {

Result<void> read_seeds(const yaml::Value& value, const std::string& key, std::vector<std::uint64_t>& seeds) {
  constexpr std::uint64_t kMaxSeeds = 1000;
  const std::string what = "'" + key + "'";
  if (value.kind != yaml::Value::Kind::scalar && key == "seeds") {
    if (auto read = yaml::read(value, what, seeds); !read) return read;
    const std::set<std::uint64_t> distinct(seeds.begin(), seeds.end());
    if (seeds.empty() || distinct.size() != seeds.size())
      return Error{"'seeds' must name at least one seed, and none twice", value.place};
    return {};
  }
  std::uint64_t number = 0;
  if (auto read = yaml::read(value, what, number); !read) return read;
  if (key == "seed") {
    seeds.assign(1, number);
    return {};
  }
  if (number == 0 || number > kMaxSeeds)
    return Error{
        "'seeds' must be a list, or a number from 1 to " + std::to_string(kMaxSeeds) + ", not '" + value.text + "'",
        value.place};
  seeds.resize(number);
  std::iota(seeds.begin(), seeds.end(), 1);
  return {};
}

}  // namespace wm::lab

#include "lab/experiment/confirm.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "lab/store/parse_json.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLeastSample = 3;
constexpr std::size_t kPartOfGroup = 20;  // a 20th: 5%

std::vector<Cell> sample_of(const std::vector<Cell>& cells, std::size_t asked) {
  const std::size_t part = (cells.size() + kPartOfGroup - 1) / kPartOfGroup;
  const std::size_t size = std::min(cells.size(), asked != 0 ? asked : std::max(kLeastSample, part));
  std::vector<Cell> sample;
  for (std::size_t i = 0; i < size; ++i) sample.push_back(cells[(2 * i + 1) * cells.size() / (2 * size)]);
  return sample;
}

// The values of a result that its run determines, by path.
Json values_of(const std::string& result) {
  const Json document = parse_json(result);
  Json values = Json::object();
  for (const char* part : {"cycles", "kernels", "metrics", "held", "power", "classes"})
    if (document.is_object() && document.contains(part)) values[part] = document[part];
  return values.flatten();
}

// Rows of the refused groups that an earlier record joins to a group must not become current by that group's record.
void block_joined_groups(std::vector<GroupOutcome>& outcomes, const Confirmations& known) {
  for (GroupOutcome& o : outcomes)
    for (const GroupOutcome& other : outcomes)
      if (o.differences.empty() && !other.differences.empty() && other.record.to == o.record.to &&
          known.covers(other.record.from, o.record.from))
        o.blocked_by = other.record.from;
}

}  // namespace

Result<std::vector<StaleGroup>> stale_groups(const Matrix& matrix, const RowStore& store, std::size_t sample) {
  const auto confirmed = store.confirmations();
  if (!confirmed) return confirmed.error();
  std::map<std::pair<std::string, std::string>, std::map<std::string, const Cell*>> stale;  // by versions, then by key
  for (const Cell& cell : matrix.cells) {
    const auto row = store.find(cell.key);
    if (!row) return row.error();
    if (*row && (*row)->state == Row::State::done && !confirmed->covers((*row)->code_version, cell.code_version))
      stale[{(*row)->code_version, cell.code_version}][cell.key] = &cell;
  }
  std::vector<StaleGroup> groups;
  for (const auto& [versions, cells] : stale) {
    StaleGroup group{versions.first, versions.second, {}, {}};
    for (const auto& [key, cell] : cells) group.cells.push_back(*cell);
    group.sample = sample_of(group.cells, sample);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::optional<Difference> difference(const Row& before, const Row& now) {
  if (now.state == Row::State::failed)
    return Difference{before.key, before.command, "result", before.run_hash, now.error};
  if (before.run_hash != now.run_hash)
    return Difference{before.key, before.command, "run_hash", before.run_hash, now.run_hash};
  const Json fresh = values_of(now.result);
  const Json old = values_of(before.result);
  for (const auto& [path, value] : old.items()) {
    if (path.empty()) continue;  // the older result has no values
    const auto same = fresh.find(path);
    if (same == fresh.end()) return Difference{before.key, before.command, path, value.dump(), "nothing"};
    if (*same != value) return Difference{before.key, before.command, path, value.dump(), same->dump()};
  }
  return std::nullopt;
}

Result<std::vector<GroupOutcome>> confirm(RowStore& store, const std::vector<StaleGroup>& groups, const RowStore& again,
                                          const std::string& date) {
  const auto known = store.confirmations();
  if (!known) return known.error();
  std::vector<GroupOutcome> outcomes;
  std::vector<std::vector<Row>> samples;  // by group
  for (const StaleGroup& group : groups) {
    GroupOutcome outcome{{group.from, group.to, group.sample.size(), group.cells.size(), date}, {}, {}};
    std::vector<Row>& sample = samples.emplace_back();
    for (const Cell& cell : group.sample) {
      const auto before = store.find(cell.key);
      if (!before) return before.error();
      const auto now = again.find(cell.key);
      if (!now) return now.error();
      if (!*before || !*now || (*now)->code_version != group.to)
        return Error{"the sample was not run: " + cell.command()};
      if (const auto d = difference(**before, **now)) outcome.differences.push_back(*d);
      sample.push_back(**now);
    }
    outcomes.push_back(std::move(outcome));
  }
  block_joined_groups(outcomes, *known);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].confirmed()) continue;
    if (auto put = store.put(samples[i]); !put) return put.error();
    if (auto put = store.put(outcomes[i].record); !put) return put.error();
  }
  return outcomes;
}

}  // namespace wm::lab

#include "lab/experiment/record_index.h"

#include <algorithm>
#include <cmath>

#include "base/number.h"

namespace wm::lab {
namespace {

bool pass(const Record& record, const std::vector<Condition>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.holds(record); });
}

// All labels but the policy's, as one text; partners have the same.
std::string circumstances(const Record& record) {
  std::string text;
  for (const auto& [label, value] : record.labels)
    if (label != "policy") text.append(label).append("=").append(value).append("\n");
  return text;
}

}  // namespace

RecordIndex::RecordIndex(const Records& records) : records_(records) {
  for (std::uint32_t i = 0; i < records.size(); ++i)
    for (const auto& [name, value] : records[i].labels) {
      Label& label = labels_[name];
      ++label.records;
      Positions& same = label.by_text[value];
      if (same.empty()) label.values.push_back(value);
      same.push_back(i);
      if (const auto number = parse_double(value); number && !std::isnan(*number))
        label.by_number[*number].push_back(i);
      if (name == "seed" && !value.empty()) seeds_.insert(value);
    }
}

std::vector<std::string> RecordIndex::values(const std::string& label) const {
  const auto found = labels_.find(label);
  if (found == labels_.end()) return {};
  std::vector<std::string> values = found->second.values;
  const bool numbers =
      std::all_of(values.begin(), values.end(), [](const auto& v) { return parse_double(v).has_value(); });
  if (numbers)
    std::sort(values.begin(), values.end(),
              [](const auto& a, const auto& b) { return *parse_double(a) < *parse_double(b); });
  return values;
}

// A record without the label is compared by a measure of that name (Condition::holds), which is not indexed: the index
// is used where all records have the label.
const RecordIndex::Positions* RecordIndex::candidates(const Condition& condition) const {
  static const Positions kNone;
  if (condition.sign != Condition::Sign::equal) return nullptr;
  const auto label = labels_.find(condition.what);
  if (label == labels_.end() || label->second.records != records_.size()) return nullptr;
  if (const auto number = parse_double(condition.value)) {
    const auto found = label->second.by_number.find(*number);
    return std::isnan(*number) || found == label->second.by_number.end() ? &kNone : &found->second;
  }
  const auto found = label->second.by_text.find(condition.value);
  return found == label->second.by_text.end() ? &kNone : &found->second;
}

std::vector<const Record*> RecordIndex::select(const std::vector<Condition>& a, const std::vector<Condition>& b) const {
  const Positions* fewest = nullptr;
  for (const auto* conditions : {&a, &b})
    for (const Condition& c : *conditions)
      if (const Positions* found = candidates(c);
          found != nullptr && (fewest == nullptr || found->size() < fewest->size()))
        fewest = found;
  std::vector<const Record*> chosen;
  const auto consider = [&](const Record& r) {
    if (pass(r, a) && pass(r, b)) chosen.push_back(&r);
  };
  if (fewest == nullptr)
    for (const Record& r : records_) consider(r);
  else
    for (const std::uint32_t i : *fewest) consider(records_[i]);
  return chosen;
}

const Record* RecordIndex::partner(const Record& record, const std::string& policy) const {
  const auto [at, fresh] = partners_.try_emplace(policy);
  if (fresh)
    for (const Record& r : records_)
      if (const auto p = r.labels.find("policy"); p != r.labels.end() && p->second == policy)
        at->second[circumstances(r)] = &r;
  const auto found = at->second.find(circumstances(record));
  return found == at->second.end() ? nullptr : found->second;
}

}  // namespace wm::lab

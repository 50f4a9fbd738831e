#include "lab/experiment/expression.h"

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "lab/experiment/expression_node.h"

namespace wm::lab {
namespace {

using Node = ExpressionNode;
using Number = std::optional<double>;

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

// Finds the record of another policy in the same circumstances as a given one; the last where there are several.
class Partners {
 public:
  // For so many searches: the records are indexed only where that takes less time than to look through them each time.
  Partners(const std::string& policy, const Records& records, std::size_t searches) {
    if (policy.empty() || searches == 0) return;
    for (const Record& r : records)
      if (const auto p = r.labels.find("policy"); p != r.labels.end() && p->second == policy) all_.push_back(&r);
    if (searches <= kMaxUnindexed) return;
    for (const Record* r : all_) indexed_[circumstances(*r)] = r;
  }

  [[nodiscard]] const Record* of(const Record& record) const {
    if (!indexed_.empty()) {
      const auto found = indexed_.find(circumstances(record));
      return found == indexed_.end() ? nullptr : found->second;
    }
    const auto found = std::find_if(all_.rbegin(), all_.rend(),
                                    [&](const Record* other) { return same_circumstances(*other, record); });
    return found == all_.rend() ? nullptr : *found;
  }

 private:
  static constexpr std::size_t kMaxUnindexed = 8;

  static bool same_circumstances(const Record& a, const Record& b) {
    auto i = a.labels.begin(), j = b.labels.begin();
    while (true) {
      if (i != a.labels.end() && i->first == "policy") ++i;
      if (j != b.labels.end() && j->first == "policy") ++j;
      if (i == a.labels.end() || j == b.labels.end()) return i == a.labels.end() && j == b.labels.end();
      if (*i++ != *j++) return false;
    }
  }

  std::vector<const Record*> all_;
  std::map<std::string, const Record*> indexed_;
};

std::vector<double> values(const Node& call, const Records& records, const std::vector<Condition>& given) {
  std::vector<const Record*> chosen;
  for (const Record& r : records)
    if (pass(r, given) && pass(r, call.conditions)) chosen.push_back(&r);
  const Partners partners(call.against, records, chosen.size());
  std::vector<double> all;
  for (const Record* r : chosen) {
    const Number v = measure(*r, call.measure);
    if (!v) continue;
    if (call.against.empty()) {
      all.push_back(*v);
      continue;
    }
    const Record* other = partners.of(*r);
    const Number w = other == nullptr ? Number() : measure(*other, call.measure);
    if (!w) continue;
    if (call.function == "delta") all.push_back(*v - *w);
    if ((call.function == "gain" || call.function == "ratio") && *w > 0 && *v > 0) all.push_back(*v / *w);
    if (call.function == "below") all.push_back(*v < *w ? 1 : 0);
  }
  return all;
}

Number apply(const Node& call, const Records& records, const std::vector<Condition>& given) {
  const std::vector<double> all = values(call, records, given);
  const auto n = static_cast<double>(all.size());
  if (call.function == "count") return n;
  if (all.empty()) return std::nullopt;
  if (call.function == "min") return *std::min_element(all.begin(), all.end());
  if (call.function == "max") return *std::max_element(all.begin(), all.end());
  double sum = 0;
  const bool geometric = call.function == "gmean" || call.function == "gain";
  for (const double v : all) sum += geometric ? std::log(v) : v;
  if (call.function == "sum") return sum;
  return geometric ? std::exp(sum / n) : sum / n;
}

Number evaluate_node(const Node& node, const Records& records, const std::vector<Condition>& given) {
  using Kind = Node::Kind;
  if (node.kind == Kind::number) return node.number;
  if (node.kind == Kind::call) return apply(node, records, given);
  const Number a = evaluate_node(*node.left, records, given);
  const Number b = evaluate_node(*node.right, records, given);
  if (!a || !b) return std::nullopt;
  switch (node.kind) {
    case Kind::add:
      return *a + *b;
    case Kind::subtract:
      return *a - *b;
    case Kind::multiply:
      return *a * *b;
    case Kind::divide:
      return *b == 0 ? Number() : *a / *b;
    case Kind::less:
      return *a < *b ? 1 : 0;
    case Kind::less_equal:
      return *a <= *b ? 1 : 0;
    case Kind::greater:
      return *a > *b ? 1 : 0;
    case Kind::greater_equal:
      return *a >= *b ? 1 : 0;
    default:
      return std::nullopt;
  }
}

void collect(const Node& node, const std::string& label, std::vector<std::string>& out) {
  for (const Condition& c : node.conditions)
    if (c.what == label) out.push_back(c.value);
  if (label == "policy" && !node.against.empty()) out.push_back(node.against);
  if (node.left) collect(*node.left, label, out);
  if (node.right) collect(*node.right, label, out);
}

}  // namespace

Result<Expression> Expression::parse(const std::string& text, const Place& place,
                                     const std::vector<std::string>& labels) {
  auto root = parse_expression(text, place, labels);
  if (!root) return root.error();
  Expression e;
  e.text_ = text;
  e.root_ = *std::move(root);
  return e;
}

std::optional<double> Expression::evaluate(const Records& records, const std::vector<Condition>& given) const {
  return evaluate_node(*root_, records, given);
}

std::vector<std::string> Expression::mentioned(const std::string& label) const {
  std::vector<std::string> all;
  collect(*root_, label, all);
  return all;
}

}  // namespace wm::lab

#include "lab/experiment/expression.h"

#include <algorithm>
#include <cmath>

#include "lab/experiment/expression_node.h"

namespace wm::lab {
namespace {

using Node = ExpressionNode;
using Number = std::optional<double>;

std::vector<double> values(const Node& call, const RecordIndex& records, const std::vector<Condition>& given) {
  std::vector<double> all;
  for (const Record* r : records.select(given, call.conditions)) {
    const Number v = measure(*r, call.measure);
    if (!v) continue;
    if (call.against.empty()) {
      all.push_back(*v);
      continue;
    }
    const Record* other = records.partner(*r, call.against);
    const Number w = other == nullptr ? Number() : measure(*other, call.measure);
    if (!w) continue;
    if (call.function == "delta") all.push_back(*v - *w);
    if ((call.function == "gain" || call.function == "ratio") && *w > 0 && *v > 0) all.push_back(*v / *w);
    if (call.function == "below") all.push_back(*v < *w ? 1 : 0);
  }
  return all;
}

Number apply(const Node& call, const RecordIndex& records, const std::vector<Condition>& given) {
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

Number evaluate_node(const Node& node, const RecordIndex& records, const std::vector<Condition>& given) {
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

std::optional<double> Expression::evaluate(const RecordIndex& records, const std::vector<Condition>& given) const {
  return evaluate_node(*root_, records, given);
}

std::vector<std::string> Expression::mentioned(const std::string& label) const {
  std::vector<std::string> all;
  collect(*root_, label, all);
  return all;
}

}  // namespace wm::lab

// Recursive descent over one line: comparison, sum, product, factor.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "base/nearest.h"
#include "base/number.h"
#include "lab/experiment/expression_node.h"

namespace wm::lab {
namespace {

using Node = ExpressionNode;

const std::vector<std::string> kFunctions{"mean",  "gmean", "min",   "max",   "sum",
                                          "count", "gain",  "delta", "ratio", "below"};

class Parser {
 public:
  Parser(const std::string& text, const Place& place, const std::vector<std::string>& labels)
      : text_(text), place_(place), labels_(labels) {}

  Result<NodePointer> expression() {
    auto node = comparison();
    skip();
    if (node && at_ < text_.size()) return fail(fmt::format("cannot read '{}'", text_.substr(at_)));
    return node;
  }

 private:
  Result<NodePointer> comparison() {
    auto left = sum();
    if (!left) return left;
    static const std::vector<std::pair<std::string, Node::Kind>> signs{{"<=", Node::Kind::less_equal},
                                                                       {">=", Node::Kind::greater_equal},
                                                                       {"<", Node::Kind::less},
                                                                       {">", Node::Kind::greater}};
    for (const auto& [sign, kind] : signs)
      if (take(sign)) return binary(kind, *left, sum());
    return left;
  }

  Result<NodePointer> sum() {
    auto left = product();
    while (left) {
      if (take("+")) {
        left = binary(Node::Kind::add, *left, product());
      } else if (take("-")) {
        left = binary(Node::Kind::subtract, *left, product());
      } else {
        break;
      }
    }
    return left;
  }

  Result<NodePointer> product() {
    auto left = factor();
    while (left) {
      if (take("*")) {
        left = binary(Node::Kind::multiply, *left, factor());
      } else if (take("/")) {
        left = binary(Node::Kind::divide, *left, factor());
      } else {
        break;
      }
    }
    return left;
  }

  Result<NodePointer> factor() {
    if (take("(")) {
      auto inner = comparison();
      if (inner && !take(")")) return fail("')' expected");
      return inner;
    }
    const std::string word = take_word();
    if (word.empty()) return fail("a number, a function or '(' expected");
    if (const auto number = parse_double(word)) {
      auto node = std::make_shared<Node>();
      node->number = *number;
      return NodePointer(node);
    }
    return call(word);
  }

  Result<NodePointer> call(const std::string& function) {
    if (std::find(kFunctions.begin(), kFunctions.end(), function) == kFunctions.end())
      return fail(fmt::format("unknown function '{}'{}", function, did_you_mean(function, kFunctions)));
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::call;
    node->function = function;
    if (!take("(")) return fail(fmt::format("'(' expected behind '{}'", function));
    node->measure = take_word();
    if (!is_measure(node->measure)) {
      std::vector<std::string> names;
      for (const Measure& m : measures()) names.emplace_back(m.name);
      return fail(fmt::format("unknown measure '{}'{}", node->measure, did_you_mean(node->measure, names)));
    }
    while (take(","))
      if (auto read = condition(*node); !read) return read.error();
    if (!take(")")) return fail(fmt::format("',' or ')' expected in {}(", function));
    const bool pairs = function == "gain" || function == "delta" || function == "ratio" || function == "below";
    if (pairs && node->against.empty()) return fail(fmt::format("{} needs against=POLICY", function));
    if (!pairs && !node->against.empty())
      return fail(fmt::format("'against' is for gain and delta, ratio and below, not {}", function));
    return NodePointer(node);
  }

  Result<void> condition(Node& node) {
    Condition c;
    c.what = take_word();
    const bool partner = c.what == "against";
    if (!partner && std::find(labels_.begin(), labels_.end(), c.what) == labels_.end() && !is_measure(c.what))
      return Error{fmt::format("unknown label '{}'{} in '{}'", c.what, did_you_mean(c.what, labels_), text_), place_};
    using Sign = Condition::Sign;
    if (take("!=")) {
      c.sign = Sign::unequal;
    } else if (take("<=")) {
      c.sign = Sign::less_equal;
    } else if (take(">=")) {
      c.sign = Sign::greater_equal;
    } else if (take("<")) {
      c.sign = Sign::less;
    } else if (take(">")) {
      c.sign = Sign::greater;
    } else if (!take("=")) {
      return Error{fmt::format("a comparison expected behind '{}' in '{}'", c.what, text_), place_};
    }
    c.value = take_value();
    if (c.value.empty()) return Error{fmt::format("a value expected behind '{}' in '{}'", c.what, text_), place_};
    if (partner) {
      node.against = c.value;
    } else {
      node.conditions.push_back(std::move(c));
    }
    return {};
  }

  static Result<NodePointer> binary(Node::Kind kind, NodePointer left, Result<NodePointer> right) {
    if (!right) return right;
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = *std::move(right);
    return NodePointer(node);
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view sign) {
    skip();
    if (text_.compare(at_, sign.size(), sign) != 0) return false;
    at_ += sign.size();
    return true;
  }
  std::string take_while(bool (*belongs)(char)) {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  std::string take_word() {
    return take_while([](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; });
  }
  std::string take_value() {
    skip();
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string::npos) return {};
      std::string value = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return value;
    }
    return take_while([](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '+';
    });
  }
  [[nodiscard]] Error fail(const std::string& what) const {
    return Error{fmt::format("{} in '{}'", what, text_), place_};
  }

  const std::string& text_;
  const Place& place_;
  const std::vector<std::string>& labels_;
  std::size_t at_ = 0;
};

}  // namespace

Result<NodePointer> parse_expression(const std::string& text, const Place& place,
                                     const std::vector<std::string>& labels) {
  return Parser(text, place, labels).expression();
}

}  // namespace wm::lab

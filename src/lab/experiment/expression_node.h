// The parsed form of an expression; private to expression.cc and expression_parse.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment/condition.h"

namespace wm::lab {

struct ExpressionNode {
  enum class Kind { number, add, subtract, multiply, divide, less, less_equal, greater, greater_equal, call };
  Kind kind = Kind::number;
  double number = 0;
  std::shared_ptr<const ExpressionNode> left;
  std::shared_ptr<const ExpressionNode> right;
  // A call.
  std::string function;
  std::string measure;
  std::vector<Condition> conditions;
  std::string against;
};

using NodePointer = std::shared_ptr<const ExpressionNode>;

// Returns the first mistake as an error.
Result<NodePointer> parse_expression(const std::string& text, const Place& place,
                                     const std::vector<std::string>& labels);

}  // namespace wm::lab

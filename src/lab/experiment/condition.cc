#include "lab/experiment/condition.h"

#include "base/number.h"

namespace wm::lab {
namespace {

bool compare(double a, Condition::Sign sign, double b) {
  switch (sign) {
    case Condition::Sign::equal:
      return a == b;
    case Condition::Sign::unequal:
      return a != b;
    case Condition::Sign::less:
      return a < b;
    case Condition::Sign::less_equal:
      return a <= b;
    case Condition::Sign::greater:
      return a > b;
    case Condition::Sign::greater_equal:
      return a >= b;
  }
  return false;
}

}  // namespace

bool Condition::holds(const Record& record) const {
  if (const auto label = record.labels.find(what); label != record.labels.end()) {
    const auto a = parse_double(label->second);
    const auto b = parse_double(value);
    if (a && b) return compare(*a, sign, *b);
    return sign == Sign::unequal ? label->second != value : sign == Sign::equal && label->second == value;
  }
  const auto a = measure(record, what);
  const auto b = parse_double(value);
  return a && b && compare(*a, sign, *b);
}

}  // namespace wm::lab

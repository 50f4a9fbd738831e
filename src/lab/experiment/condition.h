// A condition on a record: one of its labels or measures compared with a value.
#pragma once

#include <string>

#include "lab/experiment/record.h"

namespace wm::lab {

struct Condition {
  enum class Sign { equal, unequal, less, less_equal, greater, greater_equal };
  std::string what;  // a label or a measure
  Sign sign = Sign::equal;
  std::string value;

  [[nodiscard]] bool holds(const Record& record) const;
};

}  // namespace wm::lab

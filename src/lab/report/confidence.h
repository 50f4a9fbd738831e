// A value of a plot or a claim, with its confidence interval where the experiment was run with several seeds.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lab/experiment/expression.h"

namespace wm::lab {

struct Estimate {
  double mean = 0;
  double half_width = 0;    // half of the 95% confidence interval of the mean; 0 where there are fewer than two samples
  std::size_t samples = 1;  // seeds that have a value
};

// The mean of independent samples and its interval by Student's t distribution. There must be at least one.
Estimate estimate(const std::vector<double>& samples);

// The expression over the records that pass `given`. Where the records have seeds it is computed for each seed, and the
// mean is estimated from these values; gains compare runs of the same seed. Empty where the expression has no value.
std::optional<Estimate> estimate(const Expression& expression, const RecordIndex& records,
                                 const std::vector<Condition>& given = {});

}  // namespace wm::lab

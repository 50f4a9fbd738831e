// An expression over the records of a figure, which gives a plotted value or the measured value of a claim.
//
//   mean(reached, policy=Rollover) - mean(reached, policy=Spart)
//   gain(ipc, policy=Dynamic, against=Left-Over)
//   mean(others, reached=1, goal>=0.8) / 2
//
// mean, gmean, min, max, sum and count are taken over the records whose labels and measures pass the conditions (=, !=,
// <, <=, >, >=); words with signs or spaces in them are quoted. gain is the geometric mean of each record's measure
// over that of its partner, which has the same labels but the policy `against`; delta is the mean of the differences.
// Numbers, + - *
// /, brackets and the comparisons < <= > >= (1 or 0) combine them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/experiment/condition.h"
#include "lab/experiment/record_index.h"

namespace wm::lab {

struct ExpressionNode;

class Expression {
 public:
  // `place` is the position of the text in its file. Conditions may name measures and these labels.
  static Result<Expression> parse(const std::string& text, const Place& place, const std::vector<std::string>& labels);

  // The value over the records that pass `given`; partners are searched among all records. Empty where a part of the
  // expression has no records.
  [[nodiscard]] std::optional<double> evaluate(const RecordIndex& records,
                                               const std::vector<Condition>& given = {}) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  // The values that conditions compare `label` with, for checks that such a policy or workload exists.
  [[nodiscard]] std::vector<std::string> mentioned(const std::string& label) const;

 private:
  std::string text_;
  std::shared_ptr<const ExpressionNode> root_;
};

}  // namespace wm::lab

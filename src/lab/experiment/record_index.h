// The records of a figure, indexed by what expressions select on, so that a point of a curve does not read all of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lab/experiment/condition.h"
#include "lab/experiment/record.h"

namespace wm::lab {

class RecordIndex {
 public:
  // The records must outlive the index.
  explicit RecordIndex(const Records& records);

  // The seeds that records name.
  [[nodiscard]] const std::set<std::string>& seeds() const { return seeds_; }
  // The values of a label: numbers are sorted, words have the order of the records.
  [[nodiscard]] std::vector<std::string> values(const std::string& label) const;
  // The records that pass all conditions of both lists, in their order.
  [[nodiscard]] std::vector<const Record*> select(const std::vector<Condition>& a,
                                                  const std::vector<Condition>& b) const;
  // The record of another policy whose other labels are those of `record`; the last where there are several, and
  // nullptr where there is none. The partners of a policy are indexed when they are first searched: calls from several
  // threads need a lock.
  [[nodiscard]] const Record* partner(const Record& record, const std::string& policy) const;

 private:
  using Positions = std::vector<std::uint32_t>;  // ascending
  struct Label {
    std::vector<std::string> values;  // distinct, in the order of the records
    std::size_t records = 0;          // records that have the label
    std::unordered_map<std::string, Positions> by_text;
    std::map<double, Positions> by_number;  // values that are numbers
  };

  // The records among which all lie that pass the condition; nullptr where the index does not know.
  [[nodiscard]] const Positions* candidates(const Condition& condition) const;

  const Records& records_;
  std::map<std::string, Label> labels_;
  std::set<std::string> seeds_;
  mutable std::map<std::string, std::unordered_map<std::string, const Record*>> partners_;  // by policy
};

}  // namespace wm::lab

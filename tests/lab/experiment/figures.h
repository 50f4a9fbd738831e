// Records with given labels and numbers, for tests of expressions and figures.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "base/json.h"
#include "lab/experiment/record.h"

namespace wm::lab {

class Table {
 public:
  // A run of two kernels: the first with a goal.
  void add(std::map<std::string, std::string> labels, double ipc, double of_goal, double other) {
    results_.push_back(
        {{"cycles", 1000},
         {"kernels",
          {{{"ipc", of_goal * 100}, {"normalized", of_goal * 0.8}, {"goal", 100}, {"reached", of_goal >= 1}},
           {{"ipc", 50}, {"normalized", other}, {"goal", nullptr}, {"reached", nullptr}}}},
         {"metrics", {{"ipc", ipc}}}});
    records_.push_back({std::to_string(records_.size()), std::move(labels), &results_.back()});
  }
  [[nodiscard]] const Records& records() const { return records_; }

 private:
  std::deque<nlohmann::ordered_json> results_;
  Records records_;
};

}  // namespace wm::lab

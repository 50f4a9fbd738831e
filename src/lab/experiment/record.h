// The results of a figure as a table: one record per cell, with labels to select by and numbers to compute with.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace wm::lab {

struct Record {
  std::string key;                            // key of the cell
  std::map<std::string, std::string> labels;  // gpu, workload, group, policy, goal, and the swept parameters
  const nlohmann::ordered_json* result = nullptr;
};
using Records = std::vector<Record>;

// A number of a record: a measure by name (measures()), or a path into the result: "kernels.0.counters.l1_misses".
// Empty where the run has no such number.
std::optional<double> measure(const Record& record, std::string_view name);

struct Measure {
  std::string_view name;
  std::string_view about;
};
const std::vector<Measure>& measures();
// Whether `measure` accepts the name.
bool is_measure(std::string_view name);

}  // namespace wm::lab

// Runs kernels functionally and compares their results with CPU references.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/input/subject.h"
#include "cli/output/table.h"

namespace wm::cli {

struct Checked {
  std::string name;
  std::string about;
  std::string size;
  bool passed = false;
  bool verified = false;  // its buffers were compared with their expected contents
  std::string detail;     // the reason of a failure, or a summary; may have several lines
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  double seconds = 0;  // time of the launches; inputs and references are not counted
};

struct CheckOptions {
  zoo::Size size = zoo::Size::small;
  unsigned jobs = 0;  // 0: as many as the machine has cores, at most 8
  std::uint64_t max_instructions = 0;
  std::string fmad = "on";
};

// Blocks of all launches; progress is measured in blocks.
double blocks_of(const gpu::Application& application);

// In the order of `subjects`, whatever the number of jobs.
std::vector<Checked> check(const std::vector<Subject>& subjects, const CheckOptions& options);

Table table_of(const std::vector<Checked>& checked);
nlohmann::ordered_json json_of(const std::vector<Checked>& checked);
// "32 kernels passed in 3.2 s", or how many did not.
std::string summary_of(const std::vector<Checked>& checked, double seconds);
bool all_passed(const std::vector<Checked>& checked);

}  // namespace wm::cli

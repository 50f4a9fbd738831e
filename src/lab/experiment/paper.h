// paper.yaml, which the figures of a paper share: kernels by class, sets of workloads, and the protocols' common part.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/yaml.h"
#include "lab/experiment/workload.h"

namespace wm::lab {

struct Paper {
  std::string title;
  std::string cite;
  std::map<std::string, std::vector<std::string>> classes;  // class → kernels
  std::vector<std::string> kernels;                         // kernels of all classes, in the order written
  std::string group_join = "+";
  bool group_ordered = false;  // C+M and M+C are different groups
  std::map<std::string, std::vector<Workload>> workloads;
  yaml::Value protocols;  // merged under a figure's own
};

// If the file does not exist, the figures share nothing.
Result<Paper> load_paper(const std::string& path, const Names& names);

// Reads a set of workloads: a name from the paper, a list of lists of kernels, or a product.
Result<std::vector<Workload>> read_workloads(const yaml::Value& value, const Paper& paper, const Names& names);

}  // namespace wm::lab

// Sets of kernels that run together, and the questions that the loader of experiments asks about names it cannot know.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace wm::lab {

struct Workload {
  std::string name;  // "DXT_MVP"
  std::vector<std::string> kernels;
  std::string group;        // the classes of the kernels: "C+M"
  std::string first_class;  // class of the first kernel
};

// Looks up names of GPUs and kernels. An error says what is wrong with the name.
struct Names {
  std::function<Result<std::string>(const std::string&)> gpu;  // returns its configuration, as text
  std::function<Result<void>(const std::string&)> kernel;
  // Ways to divide an SM of the GPU among kernels by blocks, such as "5/3". `full`: only those that leave no room for
  // another block.
  std::function<Result<std::vector<std::string>>(const std::string& gpu, const std::vector<std::string>& kernels,
                                                 bool full)>
      splits;
  std::function<Result<std::uint32_t>(const std::string& gpu)> sms;  // returns the number of SMs
};

}  // namespace wm::lab

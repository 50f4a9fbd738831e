// A kernel that a user names, from the zoo (`sgemm`, `BLK`, `histo/main`) or from a description of their own, with
// everything that is needed to run and check it. The name may be followed by `:size=medium`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input/ptx_origin.h"
#include "kernels/benchmark.h"

namespace wm::cli {

struct Subject {
  std::string name;  // as the lists print it
  std::string about;
  std::string suite;
  std::vector<std::string> aliases;
  std::vector<zoo::Kernel> kernels;
  std::string kernel;             // the one kernel named, as in `histo/main`; empty: all
  std::string ptx;                // the text
  std::string ptx_file;           // the name in messages
  std::optional<zoo::Size> size;  // the size in `NAME:size=medium`
  bool own = false;               // a user's own kernel, which is the same at every size
  std::function<zoo::Case(zoo::Size)> make;
};

// Names in the order of the lists; with no names, the whole zoo.
Result<std::vector<Subject>> find_subjects(const std::vector<std::string>& names, const PtxOrigin& origin);
Result<Subject> find_subject(const std::string& name, const PtxOrigin& origin);

Result<zoo::Size> parse_size(const std::string& text);
const char* name(zoo::Size size);

}  // namespace wm::cli

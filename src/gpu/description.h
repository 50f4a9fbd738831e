// A user's own kernels, described in a short YAML file: the PTX, the launches with their arguments, the buffers and the
// contents of variables. docs/guide/own-kernel.md is the format's page; examples/saxpy/saxpy.yaml is a complete one.
//
// The result is an Application: buffers are uploaded before its launches and downloaded after them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"
#include "gpu/element.h"

namespace wm::gpu {

// The contents a buffer must have when the kernel is done; integers compare exactly.
struct ExpectedContent {
  BufferId buffer;
  std::vector<std::byte> values;
  double absolute = 0;
  double relative = 0;
};

struct Description {
  std::string name;      // name of the file without its ending
  std::string about;     // one line, may be empty
  std::string ptx_path;  // where the PTX lies, relative to the working directory
  std::string entry;     // the first launch's
  Application application;
  std::vector<Element> elements;  // element type of each buffer
  std::vector<ExpectedContent> expected;

  // The kernels that are launched, in the order of their first launch.
  [[nodiscard]] std::vector<std::string> entries() const;
};

// Whether a kernel's name is the path of a description rather than a name of the zoo.
bool is_description(const std::string& name);

Result<Description> read_description(const std::string& path);
Result<Description> read_description(std::string_view text, const std::string& path);

}  // namespace wm::gpu

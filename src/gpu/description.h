// A user's own kernel, described in a short YAML file: the PTX, the entry, the launch, its arguments and its buffers.
// docs/guide/own-kernel.md is the format's page; examples/saxpy/saxpy.yaml is a complete one.
//
// The result is an Application of one launch: buffers are uploaded before it and downloaded after it.
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
  std::string entry;
  Application application;
  std::vector<Element> elements;  // element type of each buffer
  std::vector<ExpectedContent> expected;
};

// Whether a kernel's name is the path of a description rather than a name of the zoo.
bool is_description(const std::string& name);

Result<Description> read_description(const std::string& path);
Result<Description> read_description(std::string_view text, const std::string& path);

}  // namespace wm::gpu

// The source of a program, attached to its binary. Workers are made from source, so the binary that a client receives
// carries the source it was built from, and the program is recognised when the binary returns, in another process or
// under another daemon. PyOpenCL and others keep binaries on disk by default.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/program.h"

namespace wm::runtime {

struct AttachedSource {
  std::string source;
  std::string options;                            // The build that made the binary had these.
  std::vector<rewrite::Dependency> dependencies;  // files that the source included, as they were then
  friend bool operator==(const AttachedSource&, const AttachedSource&) = default;
};

// The binary followed by its source. Drivers read binaries from their beginning.
[[nodiscard]] std::string attach_source(std::string native, const AttachedSource& source);
[[nodiscard]] std::size_t attached_size(const AttachedSource& source);

struct SplitBinary {
  std::string_view native;               // The driver is given this part.
  std::optional<AttachedSource> source;  // nothing: none is attached, or it does not belong to this binary
};
[[nodiscard]] SplitBinary split_binary(std::string_view binary);

}  // namespace wm::runtime

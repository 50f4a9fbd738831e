// A kernel's arguments, extents and dumps as words of the command line.
//
//   u32:5   f32:1.5   u8:1,2,3        a scalar; several values are a struct or an array passed by value
//   buf:NAME:SIZE[:CONTENT]           a buffer; SIZE is bytes (4096) or elements (f32x1024)
//                                     CONTENT: zero, iota, iota-TYPE, random, random-TYPE, =VALUE, @FILE, none
//   ref:NAME                          a buffer named before
//   local:BYTES                       shared memory of each block, as an OpenCL __local pointer
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"
#include "gpu/element.h"

namespace wm::cli {

// 4, or 4,2, or 4,2,1; none of them zero.
Result<gpu::Dim3> parse_extent(std::string_view text);

// Collects arguments, and the buffers they name, into an application with one launch.
class ArgumentList {
 public:
  Result<void> add(const std::string& word);

  [[nodiscard]] gpu::Application application(gpu::Launch launch) const;
  [[nodiscard]] const std::vector<gpu::Element>& elements() const { return elements_; }

 private:
  Result<void> add_buffer(const std::vector<std::string>& parts, const std::string& word);
  [[nodiscard]] Result<gpu::BufferId> find(const std::string& name) const;

  gpu::Application buffers_;
  std::vector<gpu::Element> elements_;  // element type of each buffer
  std::vector<gpu::Argument> arguments_;
};

// NAME, NAME:TYPE or NAME:TYPE:COUNT for stdout; NAME=FILE for the raw bytes in a file.
struct Dump {
  std::string buffer;
  std::string file;
  bool typed = false;
  gpu::Element element{};
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t count = kAll;
};
Result<Dump> parse_dump(const std::string& word);

}  // namespace wm::cli

// Executing a kernel of a PTX file on arrays of numpy, without time.
#pragma once

#include <cstdint>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

#include "gpu/application.h"
#include "ptx/ir.h"

namespace wm::python {

class Kernel {
 public:
  // `entry` may be empty where the file has one kernel.
  Kernel(std::string file, const std::string& text, const std::string& entry, const std::string& fmad);

  // Arrays are buffers, written back in place where they are writable; numbers are scalars of the parameter's type.
  // Returns the counts of the launch.
  pybind11::dict run(const gpu::Dim3& grid, const gpu::Dim3& block, const pybind11::sequence& arguments,
                     std::size_t shared_bytes, std::uint64_t max_instructions) const;

  [[nodiscard]] const std::string& entry() const { return entry_; }
  // "u64 pointer", "f32", … in the order of the parameters.
  [[nodiscard]] std::vector<std::string> parameters() const;

 private:
  [[nodiscard]] const ptx::Function& function() const { return *module_.entry(entry_); }

  std::string file_;
  ptx::Module module_;
  std::string entry_;
};

}  // namespace wm::python

// A module loaded into a client's memory: its global and constant variables, allocated and initialised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "exec/address_space.h"
#include "exec/program.h"
#include "gpu/application.h"
#include "ptx/ir.h"

namespace wm::exec {

// The rows of a program's constant pool as one client sees them, 64-byte aligned.
class Constants {
 public:
  explicit Constants(std::size_t bytes);
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }

 private:
  std::unique_ptr<std::byte[]> storage_;
  std::byte* data_;
};

class Image {
 public:
  // Allocates every global and constant variable of `module` in `memory` and writes their initial values. An external
  // variable gets no memory: a kernel that uses it does not link.
  static Result<Image> load(const ptx::Module& module, AddressSpace& memory);
  // The same, with the memory of each variable from `allocate`.
  using Allocate = std::function<Result<std::uint64_t>(const ptx::Variable&)>;
  static Result<Image> load(const ptx::Module& module, AddressSpace& memory, const Allocate& allocate);

  // The constant pool of a program of the same module, with this client's addresses filled in.
  [[nodiscard]] Result<std::shared_ptr<const Constants>> link(const Program& program) const;

  // The address of a module variable by its index; 0 for shared and external ones.
  [[nodiscard]] std::uint64_t address(std::uint32_t variable) const { return addresses_[variable]; }
  // Writes the contents of variables into `memory`, where this image lies. An error names a variable that the module
  // does not have, or whose size differs.
  Result<void> write(const std::vector<gpu::VariableContent>& contents, AddressSpace& memory) const;

 private:
  std::vector<std::uint64_t> addresses_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> bytes_;
};

}  // namespace wm::exec

// Runs a form of validation/semantics through the executor, 32 elements at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "exec/lane/warp.h"
#include "validation/semantics/inputs.h"

namespace wm::exec::test {

class FormRun {
 public:
  // Throws std::invalid_argument with the executor's message when it does not know the form.
  explicit FormRun(const semantics::Form& form);

  // The outputs of 32 elements, destination after destination of each. Lanes outside `active` show kPoison.
  std::vector<std::uint64_t> warp(std::span<const semantics::Element> elements, Mask active = kAllLanes);
  std::vector<std::uint64_t> all(std::span<const semantics::Element> elements);

  static constexpr std::uint64_t kPoison = 0xa5a5a5a5a5a5a5a5ULL;

 private:
  void place(const std::string& text);
  ptx::Operand operand(const std::string& text);
  void decode();
  [[nodiscard]] RegisterRow row_of(const ptx::Operand& operand) const;
  [[nodiscard]] ptx::Type register_type(const ptx::Operand& operand) const;

  semantics::Form form_;
  ptx::Instruction instruction_;
  Operands operands_;
  std::vector<RegisterRow> more_;
  RegisterRow table_;
  LaneOp op_ = nullptr;
  Warp warp_;
};

}  // namespace wm::exec::test

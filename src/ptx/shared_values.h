// Values that an assembler computes once for several instructions, and where: addresses of shared variables,
// parameters, the descriptor of global memory, reciprocals of divisors, arguments of sines.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "ptx/assembled_instruction.h"
#include "ptx/lane_values.h"
#include "ptx/placement.h"

namespace wm::ptx {

class SharedValues {
 public:
  SharedValues(const Function& function, const ControlFlow& flow, const LaneValues& values, const Placement& placement,
               std::vector<AssembledInstruction>& out)
      : function_(function), flow_(flow), values_(values), placement_(placement), out_(out) {}

  // Addresses of shared variables outside of loops: called before branches are replaced by predicates.
  void price_addresses();
  // All others: called when every other instruction is known to be folded or not.
  void price();

 private:
  [[nodiscard]] const Instruction& at(std::uint32_t i) const { return function_.body[i]; }
  [[nodiscard]] bool takes_shared_address(const Instruction& instruction) const;
  void price_addresses_of_loops();
  void share_ranges();
  void share_reciprocal(std::uint32_t i);
  void price_parameter(std::uint32_t i);
  void price_descriptor();
  void find_readers(std::uint32_t reg, std::vector<std::uint32_t>& readers, bool& is_pointer) const;
  bool charge(std::uint32_t block, std::uint8_t count);

  const Function& function_;
  const ControlFlow& flow_;
  const LaneValues& values_;
  const Placement& placement_;
  std::vector<AssembledInstruction>& out_;
  std::set<std::uint32_t> has_shared_base_;  // blocks that compute the address of a shared variable
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> reciprocals_;  // block, divisor and whether it has a sign
};

}  // namespace wm::ptx

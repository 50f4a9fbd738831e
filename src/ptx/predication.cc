#include "ptx/predication.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "ptx/analysis.h"
#include "ptx/assembly.h"
#include "ptx/def_use.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {
namespace {

class Predication {
 public:
  explicit Predication(const Function& function)
      : function_(function),
        flow_(control_flow(function)),
        live_(liveness(function, flow_)),
        assembled_(assemble(function)),
        guards_(function.body.size()),
        removed_(function.body.size()) {}

  Function run() {
    for (std::uint32_t b = 0; b + 1 < flow_.blocks.size(); ++b) convert(b);
    return std::any_of(removed_.begin(), removed_.end(), [](bool r) { return r; }) ? rebuilt() : function_;
  }

 private:
  [[nodiscard]] bool is_plain_jump(std::uint32_t i) const {
    return function_.body[i].opcode == Opcode::bra && !function_.body[i].guard.present;
  }

  // Whether all instructions of the block can take the guard.
  [[nodiscard]] bool can_guard(const BasicBlock& block, std::uint32_t predicate) const {
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      if (is_plain_jump(i)) continue;
      if (function_.body[i].guard.present || guards_[i].present || removed_[i]) return false;
      bool writes = false;
      for_each_definition(function_.body[i], [&](std::uint32_t r) { writes = writes || r == predicate; });
      if (writes) return false;
    }
    return true;
  }

  // Whether every warp may execute the instruction without a guard: it only computes values that none of the blocks
  // behind it reads.
  [[nodiscard]] bool is_harmless(std::uint32_t i, std::initializer_list<std::uint32_t> behind) const {
    const Instruction& instruction = function_.body[i];
    const MemoryEffect effect = memory_effect(instruction);
    if (effect.reads || effect.writes || effect.fence || writes_carry(instruction) || reads_carry(instruction) ||
        reads_clock(instruction) || !has_destination(instruction))
      return false;
    bool read = false;
    for_each_definition(instruction, [&](std::uint32_t r) {
      for (const std::uint32_t b : behind)
        read = read || std::binary_search(live_.live_in[b].begin(), live_.live_in[b].end(), r);
    });
    return !read;
  }

  void guard_block(const BasicBlock& block, Guard guard, std::initializer_list<std::uint32_t> behind) {
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      if (is_plain_jump(i)) {
        removed_[i] = true;
      } else if (!is_harmless(i, behind)) {
        guards_[i] = guard;
      }
    }
  }

  // A branch to the end of the kernel becomes a guarded exit, not a predicate.
  [[nodiscard]] bool only_ends(const BasicBlock& block) const {
    const Opcode first = function_.body[block.begin].opcode;
    return first == Opcode::ret || first == Opcode::exit;
  }

  void convert(std::uint32_t b) {
    const BasicBlock& block = flow_.blocks[b];
    if (block.end == block.begin || block.successors.size() != 2) return;
    const std::uint32_t last = block.end - 1;
    const Instruction& branch = function_.body[last];
    if (branch.opcode != Opcode::bra || !branch.guard.present || !assembled_[last].folded) return;
    const BasicBlock& then = flow_.blocks[b + 1];
    const std::uint32_t target = block.successors[0] == b + 1 ? block.successors[1] : block.successors[0];
    if (target <= b + 1 || then.successors.size() != 1 || !can_guard(then, branch.guard.reg)) return;
    Guard fallen = branch.guard;
    fallen.negated = !fallen.negated;
    if (then.successors[0] == target) {  // the branch skips a block
      if (target != b + 2 || only_ends(flow_.blocks[target])) return;
    } else {  // it chooses one of two
      const BasicBlock& other = flow_.blocks[target];
      if (target != b + 2 || then.successors[0] != b + 3 || other.successors != then.successors ||
          !can_guard(other, branch.guard.reg))
        return;
      guard_block(other, branch.guard, {b + 3});
    }
    guard_block(then, fallen, {target, then.successors[0]});
    removed_[last] = true;
  }

  [[nodiscard]] Function rebuilt() const {
    Function result = function_;
    result.body.clear();
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      places.push_back(static_cast<std::uint32_t>(result.body.size()));
      if (removed_[i]) continue;
      result.body.push_back(function_.body[i]);
      if (guards_[i].present) result.body.back().guard = guards_[i];
    }
    places.push_back(static_cast<std::uint32_t>(result.body.size()));
    for (Label& label : result.labels) label.at = places[label.at];
    for (Pragma& pragma : result.pragmas) pragma.at = places[pragma.at];
    return result;
  }

  const Function& function_;
  const ControlFlow flow_;
  const Liveness live_;
  const std::vector<AssembledInstruction> assembled_;
  std::vector<Guard> guards_;  // by instruction; those that are added
  std::vector<bool> removed_;
};

}  // namespace

Function predicated(const Function& function) {
  if (function.body.empty() || function.refusal) return function;
  return Predication(function).run();
}

}  // namespace wm::ptx

// Branches, calls, returns, and changes of the stack.
#include <bit>
#include <fmt/format.h>

#include "exec/decode/function_decoder.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Type;

bool FunctionDecoder::control(const Instruction& instruction, Op& op) {
  switch (instruction.opcode) {
    case Opcode::bra:
      op.kind = Kind::branch;
      op.target = pc_of(instruction.operands[0]);
      op.reconverge = reconvergence(instruction);
      return true;
    case Opcode::brx_idx: {
      op.kind = Kind::indexed_branch;
      op.operands.source[0] = source(instruction.operands[0], Type::u32);
      const ptx::BranchTable& table = function_.branch_tables[instruction.operands[1].index];
      op.target = static_cast<std::uint32_t>(program_.branch_targets.size());
      op.targets = static_cast<std::uint32_t>(table.labels.size());
      for (const std::uint32_t label : table.labels)
        program_.branch_targets.push_back(out_.entry + function_.labels[label].at);
      op.reconverge = reconvergence(instruction);
      return true;
    }
    case Opcode::call:
      call(instruction, op);
      return true;
    case Opcode::ret:
      op.kind = Kind::ret;
      return true;
    case Opcode::exit:
      op.kind = Kind::exit;
      return true;
    case Opcode::trap:
      op.kind = Kind::trap;
      return true;
    case Opcode::brkpt:
    case Opcode::nanosleep:
    case Opcode::pmevent:
    case Opcode::griddepcontrol:
    case Opcode::setmaxnreg:
      op.kind = Kind::nothing;
      return true;
    default:
      return false;
  }
}

std::uint32_t FunctionDecoder::pc_of(const Operand& label) const {
  return out_.entry + function_.labels[label.index].at;
}

std::uint32_t FunctionDecoder::reconvergence(const Instruction& instruction) const {
  const auto at = static_cast<std::size_t>(&instruction - function_.body.data());
  const std::uint32_t block = flow_.post_dominator[flow_.block_of[at]];
  return block == ptx::kNoBlock ? kNoPc : out_.entry + flow_.blocks[block].begin;
}

// The arguments or results of a call, in the order of the callee's declaration.
std::vector<Passed> FunctionDecoder::handed_over(const Operand& list, const std::vector<ptx::Variable>& wanted) {
  std::vector<Passed> out;
  for (std::size_t i = 0; i < list.elements.size(); ++i) {
    const Operand& element = list.elements[i];
    Passed p;
    if (element.kind == Operand::Kind::variable) {
      p.offset = static_cast<std::uint32_t>(parameter_address(element) - kFrameParameters);
      p.bytes = static_cast<std::uint32_t>(variable(element).bytes());
    } else {
      const Type type = element.kind == Operand::Kind::reg ? function_.registers[element.index].type
                        : i < wanted.size()                ? wanted[i].type
                                                           : Type::b32;
      p.in_register = true;
      p.row = source(element, type);
      p.bytes = static_cast<std::uint32_t>(lane_bytes(type));
    }
    out.push_back(p);
  }
  return out;
}

namespace {

bool same_shape(const std::vector<ptx::Variable>& a, const std::vector<ptx::Variable>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].bytes() != b[i].bytes() || (a[i].space == ptx::Space::reg) != (b[i].space == ptx::Space::reg))
      return false;
  return true;
}

}  // namespace

void FunctionDecoder::call(const Instruction& instruction, Op& op) {
  const Operand& target = instruction.operands.at(1);
  const bool direct = target.kind == Operand::Kind::function;
  const std::vector<ptx::Variable>* results = nullptr;
  const std::vector<ptx::Variable>* parameters = nullptr;
  std::vector<std::uint32_t> reachable;  // Module::functions
  if (direct) {
    results = &module_.functions[target.index].results;
    parameters = &module_.functions[target.index].parameters;
    reachable.push_back(target.index);
  } else {
    const Operand& table = instruction.operands.at(3);
    if (table.kind == Operand::Kind::prototype) {
      results = &function_.prototypes[table.index].results;
      parameters = &function_.prototypes[table.index].parameters;
      for (const std::uint32_t f : layout_.functions)
        if (!module_.functions[f].entry) reachable.push_back(f);
    } else {
      reachable = function_.call_tables[table.index].functions;
      if (reachable.empty()) refuse(instruction, "names an empty list of targets");
      results = &module_.functions[reachable[0]].results;
      parameters = &module_.functions[reachable[0]].parameters;
    }
  }
  // Values passed in the frame must lie in the caller's frame; a kernel's own parameter does not.
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}})
    for (const Operand& element : instruction.operands[i].elements)
      if (element.kind == Operand::Kind::variable &&
          (variable(element).space != ptx::Space::param || parameter_address(element) < kFrameParameters))
        refuse(instruction, fmt::format("hands over '{}', which is no .param of the caller", variable(element).name));
  for (const Operand& element : instruction.operands[0].elements)
    if (element.kind != Operand::Kind::variable && element.kind != Operand::Kind::reg)
      refuse(instruction, "has a result that nothing can take");
  CallSite site;
  site.results = handed_over(instruction.operands[0], *results);
  site.arguments = handed_over(instruction.operands[2], *parameters);
  check_passed(instruction, site.results, *results);
  check_passed(instruction, site.arguments, *parameters);
  for (const std::uint32_t f : reachable)
    if (same_shape(module_.functions[f].results, *results) && same_shape(module_.functions[f].parameters, *parameters))
      site.allowed.push_back(layout_.number.at(f));
  op.targets = static_cast<std::uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(site));
  op.kind = direct ? Kind::call : Kind::indirect_call;
  if (direct)
    op.target = layout_.number.at(target.index);
  else
    op.operands.source[0] = source(target, Type::u64);
}

void FunctionDecoder::check_passed(const Instruction& instruction, const std::vector<Passed>& given,
                                   const std::vector<ptx::Variable>& wanted) const {
  for (std::size_t i = 0; i < given.size() && i < wanted.size(); ++i) {
    const bool in_register = wanted[i].space == ptx::Space::reg;
    const auto bytes = in_register ? static_cast<std::uint64_t>(lane_bytes(wanted[i].type)) : wanted[i].bytes();
    const bool predicate = given[i].in_register && given[i].bytes == 0;
    if (predicate != (in_register && bytes == 0) || given[i].bytes < bytes)
      refuse(instruction,
             fmt::format("hands over {} bytes where '{}' takes {}", given[i].bytes, wanted[i].name, bytes));
  }
}

bool FunctionDecoder::stack(const Instruction& instruction, Op& op) {
  constexpr std::uint64_t kDefaultAlign = 8;
  const auto& operands = instruction.operands;
  op.memory.bytes = static_cast<std::uint8_t>(lane_bytes(instruction.type()));
  switch (instruction.opcode) {
    case Opcode::alloca_: {
      const std::uint64_t align = operands.size() > 2 ? operands[2].bits : kDefaultAlign;
      if (!std::has_single_bit(align) || align > 4096) refuse(instruction, "has an alignment that is no power of two");
      op.mode = Mode::stack_allocate;
      op.targets = static_cast<std::uint32_t>(align);
      op.operands.source[0] = source(operands[1], instruction.type());
      break;
    }
    case Opcode::stacksave:
      op.mode = Mode::stack_save;
      break;
    case Opcode::stackrestore:
      op.mode = Mode::stack_restore;
      op.operands.source[0] = source(operands[0], instruction.type());
      break;
    default:
      return false;
  }
  op.kind = Kind::stack;
  if (op.mode != Mode::stack_restore) op.operands.destination[0] = destination(operands[0]);
  return true;
}

}  // namespace wm::exec

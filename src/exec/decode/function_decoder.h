// One function of a kernel: its instructions into operations, its registers into rows.
//
// Decoding fails at the first instruction that cannot be executed, with its place; methods signal that by throwing
// Refusal, which never leaves decode().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "exec/decode/constant_pool.h"
#include "exec/decode/module_layout.h"
#include "exec/decode/register_rows.h"
#include "exec/program.h"
#include "ptx/analysis.h"
#include "ptx/ir.h"

namespace wm::exec {

struct Refusal {
  Error error;
};

class FunctionDecoder {
 public:
  FunctionDecoder(const ptx::Module& module, const ModuleLayout& layout, std::uint32_t number, ConstantPool& pool,
                  Program& program);

  // Appends the function's operations to the program and fills in its ProgramFunction.
  void run();

 private:
  using Operand = ptx::Operand;
  using Instruction = ptx::Instruction;

  // function_decoder.cc: the frame
  void place_parameters();
  void place_locals();
  void decode(const Instruction& instruction);
  void finish_rows();
  void note_registers(const Instruction& instruction, OpInfo& info);
  std::uint32_t add_parameter(const ptx::Variable& variable);
  Passed passed(const ptx::Variable& variable, std::uint32_t offset) const;
  RegisterRow fresh_row(int bytes);

  // decode_operands.cc
  RegisterRow reg(std::uint32_t index) const { return rows_.row_of[index]; }
  [[nodiscard]] ptx::Type reg_type(const Operand& operand) const;
  RegisterRow destination(const Operand& operand) const;
  // A row of `type` for a source: a register, a constant, a special register or an address.
  RegisterRow source(const Operand& operand, ptx::Type type);
  RegisterRow special_row(ptx::Special special, int bytes);
  RegisterRow address_row(const Operand& operand, int bytes);
  // The address, within its own space, of the variable that an operand names, if it is known at decode.
  [[nodiscard]] std::uint64_t shared_offset(const Operand& operand) const;
  [[nodiscard]] std::uint64_t parameter_address(const Operand& operand) const;
  [[nodiscard]] const ptx::Variable& variable(const Operand& operand) const;
  void keep_rows(Op& op, std::vector<RegisterRow> rows);

  // decode_lane.cc, decode_memory.cc, decode_control.cc, decode_warp.cc: each fills `op` for its instructions and says
  // whether the instruction is one of its own.
  bool lane(const Instruction& instruction, Op& op);
  bool memory(const Instruction& instruction, Op& op);
  bool control(const Instruction& instruction, Op& op);
  bool cooperation(const Instruction& instruction, Op& op);
  bool mbarrier(const Instruction& instruction, Op& op);
  bool stack(const Instruction& instruction, Op& op);
  bool texture(const Instruction& instruction, Op& op);

  void load_store(const Instruction& instruction, Op& op, const Operand& data, const Operand& address);
  void atomic(const Instruction& instruction, Op& op);
  void async_copy(const Instruction& instruction, Op& op);
  void matrix(const Instruction& instruction, Op& op, const Operand& data, const Operand& address);
  void tile(const Instruction& instruction, Op& op, const Operand& data, const Operand& address);
  void window(const Instruction& instruction, Op& op);
  void fetch(const Instruction& instruction, Op& op);
  void surface(const Instruction& instruction, Op& op);
  void texture_query(const Instruction& instruction, Op& op);
  void texture_handle(const Instruction& instruction, const Operand& handle, Op& op);
  std::vector<RegisterRow> coordinates(const Instruction& instruction, const Operand& place, ptx::Type type);
  Memory access(const Instruction& instruction, const Operand& address, ptx::Space space, ptx::Type type);
  int data_bytes(const Operand& data, ptx::Type type) const;
  void call(const Instruction& instruction, Op& op);
  std::vector<Passed> handed_over(const Operand& list, const std::vector<ptx::Variable>& wanted);
  void check_passed(const Instruction& instruction, const std::vector<Passed>& given,
                    const std::vector<ptx::Variable>& wanted) const;
  [[nodiscard]] std::uint32_t pc_of(const Operand& label) const;
  [[nodiscard]] std::uint32_t reconvergence(const Instruction& instruction) const;

  [[noreturn]] void refuse(const Instruction& instruction, const std::string& why) const;

  const ptx::Module& module_;
  const ModuleLayout& layout_;
  const std::uint32_t index_;  // Module::functions
  const ptx::Function& function_;
  ConstantPool& pool_;
  Program& program_;
  ProgramFunction& out_;
  const ptx::ControlFlow flow_;
  RegisterRows rows_;
  std::map<std::pair<ptx::Special, int>, RegisterRow> specials_;
  std::map<std::pair<std::uint64_t, int>, RegisterRow> local_addresses_;
  std::vector<std::uint32_t> parameter_offsets_, result_offsets_, variable_offsets_;
  RegisterRow carry_;
  std::uint32_t first_number_ = 0;  // number of this function's first row among the program's registers
};

// "add.rn.f32"
std::string spelled(const ptx::Instruction& instruction);

}  // namespace wm::exec

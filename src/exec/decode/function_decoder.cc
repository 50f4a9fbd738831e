#include "exec/decode/function_decoder.h"

#include <algorithm>
#include <fmt/format.h>

#include "exec/special.h"
#include "ptx/def_use.h"

namespace wm::exec {

using ptx::Space;

namespace {

constexpr std::uint64_t kMaxParameterBytes = 1U << 16;
constexpr std::uint64_t kMaxLocalBytes = 512U << 10;  // a thread's, on any device

Error at(const Program& program, const ptx::Position& position, std::string what) {
  return {std::move(what), {program.file, position.line, position.column}};
}

// Operations on matrices that are spread over the lanes of a warp.
bool takes_whole_warp(ptx::Opcode opcode) {
  using ptx::Opcode;
  switch (opcode) {
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
    case Opcode::movmatrix:
    case Opcode::mma:
    case Opcode::wmma_load_a:
    case Opcode::wmma_load_b:
    case Opcode::wmma_load_c:
    case Opcode::wmma_store_d:
    case Opcode::wmma_mma:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string spelled(const ptx::Instruction& instruction) {
  std::string text(ptx::name(instruction.opcode));
  for (const ptx::Suffix s : instruction.suffixes) text.append(".").append(ptx::name(s));
  for (const ptx::Type t : instruction.types) text.append(".").append(ptx::name(t));
  return text;
}

FunctionDecoder::FunctionDecoder(const ptx::Module& module, const ModuleLayout& layout, std::uint32_t number,
                                 ConstantPool& pool, Program& program)
    : module_(module),
      layout_(layout),
      index_(layout.functions[number]),
      function_(module.functions[index_]),
      pool_(pool),
      program_(program),
      out_(program.functions[number]),
      flow_(ptx::control_flow(function_)) {}

void FunctionDecoder::refuse(const Instruction& instruction, const std::string& why) const {
  throw Refusal{at(program_, instruction.position, fmt::format("'{}' {}", spelled(instruction), why))};
}

void FunctionDecoder::run() {
  rows_ = layout_registers(function_, flow_);
  first_number_ = program_.register_count;
  out_.entry = static_cast<std::uint32_t>(program_.code.size());
  place_parameters();
  place_locals();
  for (const Instruction& instruction : function_.body) decode(instruction);

  // The end of the body is a return.
  Op last;
  last.kind = Kind::ret;
  last.unit = Class::branch;
  OpInfo info;
  info.function = layout_.number.at(index_);
  info.ptx_line = function_.body.empty() ? function_.position.line : function_.body.back().position.line;
  if (!function_.body.empty()) info.source = function_.body.back().source;
  info.first_register = static_cast<std::uint32_t>(program_.registers.size());
  info.text = "ret";
  program_.code.push_back(last);
  program_.info.push_back(std::move(info));
  out_.end = static_cast<std::uint32_t>(program_.code.size());
  finish_rows();
}

void FunctionDecoder::decode(const Instruction& instruction) {
  Op op;
  op.unit = classify(instruction);
  if (instruction.guard.present) {
    op.guard = reg(instruction.guard.reg);
    op.guard_negated = instruction.guard.negated;
  }
  if (!lane(instruction, op) && !memory(instruction, op) && !control(instruction, op) &&
      !cooperation(instruction, op) && !mbarrier(instruction, op) && !stack(instruction, op) &&
      !texture(instruction, op))
    refuse(instruction, "cannot be executed");
  op.whole_warp = takes_whole_warp(instruction.opcode);
  OpInfo info;
  info.ptx_line = instruction.position.line;
  info.source = instruction.source;
  info.function = layout_.number.at(index_);
  info.text = spelled(instruction);
  note_registers(instruction, info);
  program_.code.push_back(op);
  program_.info.push_back(std::move(info));
}

// Register numbers for a scoreboard. Destinations are the first operand of all but stores, reductions and the like.
void FunctionDecoder::note_registers(const Instruction& instruction, OpInfo& info) {
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
  const auto number = [&](std::uint32_t r) { return first_number_ + rows_.number[r]; };
  const auto note = [](std::vector<std::uint32_t>& list, std::uint32_t n) {
    if (std::find(list.begin(), list.end(), n) == list.end()) list.push_back(n);
  };
  const bool writes_first = ptx::has_destination(instruction);
  if (instruction.guard.present) note(reads, number(instruction.guard.reg));
  for (std::size_t i = 0; i < instruction.operands.size(); ++i)
    exec::for_each_register(instruction.operands[i],
                            [&](const Operand& r) { note(i == 0 && writes_first ? writes : reads, number(r.index)); });
  info.first_register = static_cast<std::uint32_t>(program_.registers.size());
  info.reads = static_cast<std::uint16_t>(reads.size());
  info.writes = static_cast<std::uint16_t>(writes.size());
  program_.registers.insert(program_.registers.end(), reads.begin(), reads.end());
  program_.registers.insert(program_.registers.end(), writes.begin(), writes.end());
}

std::uint32_t FunctionDecoder::add_parameter(const ptx::Variable& variable) {
  const std::uint64_t offset = align_up(out_.parameter_bytes, variable.align);
  if (variable.bytes() > kMaxParameterBytes || offset + variable.bytes() > kMaxParameterBytes)
    throw Refusal{at(program_, variable.position, fmt::format("'{}' is too large for a parameter", variable.name))};
  out_.parameter_bytes = static_cast<std::uint32_t>(offset + variable.bytes());
  return static_cast<std::uint32_t>(offset);
}

Passed FunctionDecoder::passed(const ptx::Variable& variable, std::uint32_t offset) const {
  Passed p;
  p.offset = offset;
  p.bytes = static_cast<std::uint32_t>(variable.bytes());
  if (variable.space != Space::reg) return p;
  p.in_register = true;
  for (std::uint32_t r = 0; r < function_.registers.size(); ++r)
    if (function_.registers[r].name == variable.name) p.row = rows_.row_of[r];
  p.bytes = static_cast<std::uint32_t>(lane_bytes(variable.type));
  return p;
}

// The kernel's own parameters belong to the launch; the frame holds those of device functions and of the calls made.
void FunctionDecoder::place_parameters() {
  const auto place = [&](const std::vector<ptx::Variable>& list, std::vector<std::uint32_t>& offsets,
                         std::vector<Passed>& out) {
    for (const ptx::Variable& v : list) {
      const bool in_frame = v.space != Space::reg;
      offsets.push_back(in_frame ? add_parameter(v) : 0);
      out.push_back(passed(v, offsets.back()));
    }
  };
  if (!function_.entry) {
    place(function_.results, result_offsets_, out_.results);
    place(function_.parameters, parameter_offsets_, out_.parameters);
  } else {
    for (const KernelParameter& p : program_.parameters) parameter_offsets_.push_back(p.offset);
  }
}

void FunctionDecoder::place_locals() {
  std::uint64_t local = 0;
  for (const ptx::Variable& v : function_.variables) {
    std::uint64_t offset = 0;
    if (v.space == Space::param) {
      offset = add_parameter(v);
    } else if (v.space == Space::local) {
      local = align_up(local, v.align);
      offset = local;
      local += std::min<std::uint64_t>(v.bytes(), kMaxLocalBytes + 1);
      if (local > kMaxLocalBytes)
        throw Refusal{at(program_, v.position,
                         fmt::format("'{}' takes the local memory of a thread past {} bytes", v.name, kMaxLocalBytes))};
    }
    variable_offsets_.push_back(static_cast<std::uint32_t>(offset));
  }
  out_.local_bytes = static_cast<std::uint32_t>(align_up(local, 16));
  out_.parameter_bytes = static_cast<std::uint32_t>(align_up(out_.parameter_bytes, 16));
}

RegisterRow FunctionDecoder::fresh_row(int bytes) {
  rows_.bytes = static_cast<std::uint32_t>(align_up(rows_.bytes, 16));
  const RegisterRow row{rows_.bytes};
  rows_.bytes += row_size(bytes);
  return row;
}

// Lists the rows that are filled when a frame begins: special registers, addresses of local variables, and zero for
// registers that may be read before they are written (undefined in PTX; zero makes every run the same).
void FunctionDecoder::finish_rows() {
  for (const auto& [what, destination] : specials_) {
    SetupRow row;
    row.kind = SetupRow::Kind::special;
    row.special = what.first;
    row.bytes = static_cast<std::uint8_t>(what.second);
    row.destination = destination;
    out_.setup.push_back(row);
  }
  for (const auto& [what, destination] : local_addresses_) {
    SetupRow row;
    row.kind = SetupRow::Kind::local_address;
    row.bytes = static_cast<std::uint8_t>(what.second);
    row.value = what.first;
    row.destination = destination;
    out_.setup.push_back(row);
  }
  for (const std::uint32_t r : rows_.undefined) {
    if (rows_.row_of[r].none()) continue;
    SetupRow row;
    row.bytes = static_cast<std::uint8_t>(lane_bytes(function_.registers[r].type));
    row.destination = rows_.row_of[r];
    out_.setup.push_back(row);
  }
  out_.row_bytes = static_cast<std::uint32_t>(align_up(rows_.bytes, 16));
  program_.register_count += rows_.rows;
}

}  // namespace wm::exec

// Loads, stores, atomics, copies, textures and surfaces, and the conversions between address spaces.
#include <algorithm>
#include <fmt/format.h>

#include "exec/decode/function_decoder.h"
#include "exec/texture_shape.h"
#include "exec/tile.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Space;
using ptx::Suffix;
using ptx::Type;

namespace {

// True for an access that a spin loop may wait on.
bool may_spin(const ptx::Instruction& i) {
  return i.opcode == Opcode::atom || i.has(Suffix::volatile_) || i.has(Suffix::relaxed) || i.has(Suffix::acquire) ||
         i.has(Suffix::cv) || i.has(Suffix::mmio);
}

// Addresses wrap.
std::int64_t sum(std::int64_t offset, std::uint64_t more) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + more);
}

Mode atomic_mode(const ptx::Instruction& i) {
  for (const Suffix s : i.suffixes) {
    switch (s) {
      case Suffix::add:
        return Mode::add;
      case Suffix::min:
        return Mode::min;
      case Suffix::max:
        return Mode::max;
      case Suffix::inc:
        return Mode::inc;
      case Suffix::dec:
        return Mode::dec;
      case Suffix::and_:
        return Mode::and_;
      case Suffix::or_:
        return Mode::or_;
      case Suffix::xor_:
        return Mode::xor_;
      case Suffix::exch:
        return Mode::exch;
      case Suffix::cas:
        return Mode::cas;
      default:
        break;
    }
  }
  return Mode::none;
}

}  // namespace

bool FunctionDecoder::memory(const Instruction& instruction, Op& op) {
  const auto& operands = instruction.operands;
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
      op.kind = Kind::load;
      load_store(instruction, op, operands[0], operands[1]);
      return true;
    case Opcode::st:
      op.kind = Kind::store;
      load_store(instruction, op, operands[1], operands[0]);
      return true;
    case Opcode::atom:
    case Opcode::red:
      atomic(instruction, op);
      return true;
    case Opcode::cp_async:
      async_copy(instruction, op);
      return true;
    case Opcode::ldmatrix:
      op.kind = Kind::matrix_load;
      matrix(instruction, op, operands[0], operands[1]);
      return true;
    case Opcode::stmatrix:
      op.kind = Kind::matrix_store;
      matrix(instruction, op, operands[1], operands[0]);
      return true;
    case Opcode::wmma_load_a:
    case Opcode::wmma_load_b:
    case Opcode::wmma_load_c:
      op.kind = Kind::matrix_load;
      tile(instruction, op, operands[0], operands[1]);
      return true;
    case Opcode::wmma_store_d:
      op.kind = Kind::matrix_store;
      tile(instruction, op, operands[1], operands[0]);
      return true;
    case Opcode::cvta:
    case Opcode::isspacep:
      window(instruction, op);
      return true;
    case Opcode::cp_async_wait_group:  // copies complete at issue; only a timing simulator needs the wait
      op.targets = static_cast<std::uint32_t>(operands[0].bits);
      [[fallthrough]];
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_all:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::applypriority:
    case Opcode::discard:
    case Opcode::membar:
    case Opcode::fence:
      op.kind = Kind::nothing;
      return true;
    default:
      return false;
  }
}

// The target of an access: the address operand, and the space, taken from the variable if the instruction names none.
Memory FunctionDecoder::access(const Instruction& instruction, const Operand& address, Space space, Type type) {
  Memory m;
  m.space = space;
  m.type = type;
  m.bytes = static_cast<std::uint8_t>(lane_bytes(type));
  m.offset = address.offset;
  m.spins = may_spin(instruction);
  const Operand& base = address.elements.at(0);
  if (base.kind == Operand::Kind::integer) {
    m.offset = sum(m.offset, base.bits);
    m.uniform = true;
    return m;
  }
  if (base.kind == Operand::Kind::reg) {
    m.base = reg(base.index);
    m.base_bytes = static_cast<std::uint8_t>(lane_bytes(function_.registers[base.index].type));
    return m;
  }
  const ptx::Variable& v = variable(base);
  const Space own = v.space;
  const bool global = own == Space::global || own == Space::constant;
  const bool fits = space == own || space == Space::generic || (space == Space::global && global);
  if (!fits) refuse(instruction, fmt::format("accesses '{}', which is in another state space", v.name));
  m.uniform = true;
  m.space = own;
  switch (own) {
    case Space::shared:
      m.offset = sum(m.offset, shared_offset(base) + static_cast<std::uint64_t>(base.offset));
      break;
    case Space::param:
      m.offset = sum(m.offset, parameter_address(base) + static_cast<std::uint64_t>(base.offset));
      break;
    default:
      m.base = address_row(base, 8);
      m.base_bytes = 8;
      break;
  }
  return m;
}

// Bytes of one lane of the registers that take or give the data; immediates fit in.
int FunctionDecoder::data_bytes(const Operand& data, Type type) const {
  int bytes = 0;
  const auto look = [&](const Operand& one) {
    if (one.kind == Operand::Kind::reg) bytes = std::max(bytes, lane_bytes(function_.registers[one.index].type));
  };
  look(data);
  for (const Operand& element : data.elements) look(element);
  return bytes != 0 ? bytes : lane_bytes(type);
}

void FunctionDecoder::load_store(const Instruction& instruction, Op& op, const Operand& data, const Operand& address) {
  const Type type = instruction.type();
  op.memory = access(instruction, address, instruction.space(), type);
  op.memory.count = static_cast<std::uint8_t>(instruction.vector_width());
  const int bytes = data_bytes(data, type);
  op.memory.row_bytes = static_cast<std::uint8_t>(bytes);
  op.memory.sign_extend = ptx::is_signed(type);
  if (type == Type::pred || bytes < lane_bytes(type) || bytes > 16) refuse(instruction, "does not fit its registers");
  if (bytes == 16 && lane_bytes(type) != 16) refuse(instruction, "does not fit its registers");
  if (instruction.opcode == Opcode::st && op.memory.space == Space::constant)
    refuse(instruction, "stores to constant memory");
  static constexpr Type kUntyped[] = {Type::b8, Type::b16, Type::b32, Type::b64, Type::b128};
  const Type row_type =
      *std::find_if(std::begin(kUntyped), std::end(kUntyped), [&](Type t) { return lane_bytes(t) == bytes; });
  const auto row_of = [&](const Operand& one) {
    if (one.kind == Operand::Kind::reg && lane_bytes(function_.registers[one.index].type) != bytes)
      refuse(instruction, "mixes registers of different widths");
    return op.kind == Kind::load ? destination(one) : source(one, row_type);
  };
  if (data.kind == Operand::Kind::vector) {
    std::vector<RegisterRow> rows;
    for (const Operand& element : data.elements) rows.push_back(row_of(element));
    keep_rows(op, std::move(rows));
  } else if (op.kind == Kind::load) {
    op.operands.destination[0] = row_of(data);
  } else {
    op.operands.source[0] = row_of(data);
  }
}

void FunctionDecoder::atomic(const Instruction& instruction, Op& op) {
  const bool returns = instruction.opcode == Opcode::atom;
  const Type type = instruction.type();
  const auto& operands = instruction.operands;
  const std::size_t address = returns ? 1 : 0;
  op.kind = returns ? Kind::atomic : Kind::reduction;
  op.mode = atomic_mode(instruction);
  op.memory = access(instruction, operands[address], instruction.space(), type);
  op.memory.count = static_cast<std::uint8_t>(instruction.vector_width());
  op.memory.row_bytes = op.memory.bytes;
  if (op.memory.space == Space::constant || op.memory.space == Space::param || op.memory.space == Space::local)
    refuse(instruction, "works on global and shared memory only");
  if (ptx::is_float(instruction.type()) && (op.mode == Mode::min || op.mode == Mode::max))
    refuse(instruction, "finds no minimum or maximum of floats");
  const Operand& data = operands[address + 1];
  if (data.kind == Operand::Kind::vector) {
    std::vector<RegisterRow> rows;
    if (returns)
      for (const Operand& element : operands[0].elements) rows.push_back(destination(element));
    for (const Operand& element : data.elements) rows.push_back(source(element, type));
    keep_rows(op, std::move(rows));
    return;
  }
  if (returns) op.operands.destination[0] = destination(operands[0]);
  op.operands.source[0] = source(data, type);
  if (op.mode == Mode::cas) op.operands.source[1] = source(operands[address + 2], type);
}

void FunctionDecoder::async_copy(const Instruction& instruction, Op& op) {
  const auto& operands = instruction.operands;
  op.kind = Kind::async_copy;
  const std::uint64_t bytes = operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) refuse(instruction, "copies 4, 8 or 16 bytes");
  if (instruction.has(Suffix::cg) && bytes != 16) refuse(instruction, "copies 16 bytes");
  Memory to = access(instruction, operands[0], Space::shared, Type::b8);
  Memory from = access(instruction, operands[1], Space::global, Type::b8);
  to.bytes = from.bytes = static_cast<std::uint8_t>(bytes);
  op.memory = from;
  op.target = static_cast<std::uint32_t>(program_.second_access.size());
  program_.second_access.push_back(to);
  const bool hint = instruction.has(Suffix::L2_cache_hint);
  if (operands.size() > (hint ? 4U : 3U)) {
    const Operand& more = operands[3];
    const bool ignore = more.kind == Operand::Kind::reg && function_.registers[more.index].type == Type::pred;
    op.operands.source[ignore ? 2 : 1] = source(more, ignore ? Type::pred : Type::u32);
    op.operands.negated[2] = more.negated;
  }
}

void FunctionDecoder::matrix(const Instruction& instruction, Op& op, const Operand& data, const Operand& address) {
  op.memory = access(instruction, address, instruction.space(), Type::b16);
  op.memory.row_bytes = 4;
  op.memory.sign_extend = instruction.has(Suffix::trans);  // here: whether the matrix is transposed
  op.memory.count = static_cast<std::uint8_t>(std::max<std::size_t>(data.elements.size(), 1));
  std::vector<RegisterRow> rows;
  const auto row_of = [&](const Operand& one) {
    return op.kind == Kind::matrix_load ? destination(one) : source(one, Type::b32);
  };
  if (data.kind == Operand::Kind::vector)
    for (const Operand& element : data.elements) rows.push_back(row_of(element));
  else
    rows.push_back(row_of(data));
  keep_rows(op, std::move(rows));
}

void FunctionDecoder::tile(const Instruction& instruction, Op& op, const Operand& data, const Operand& address) {
  matrix(instruction, op, data, address);
  op.memory.sign_extend = false;
  program_.tiles.push_back(tile_places(instruction, static_cast<std::uint32_t>(op.operands.more.size())));
  op.targets = static_cast<std::uint32_t>(program_.tiles.size());
  Operand packed;
  packed.kind = Operand::Kind::integer;
  packed.bits = packed_stride(program_.tiles.back().tile);
  op.operands.source[0] = source(instruction.operands.size() > 2 ? instruction.operands[2] : packed, Type::u32);
}

void FunctionDecoder::window(const Instruction& instruction, Op& op) {
  op.memory.space = instruction.space();
  if (instruction.opcode == Opcode::isspacep) {
    op.kind = Kind::in_space;
    op.operands.source[0] = source(instruction.operands[1], Type::u64);
  } else {
    if (lane_bytes(instruction.type()) != 8) refuse(instruction, "takes 64-bit addresses only");
    op.kind = instruction.has(Suffix::to) ? Kind::from_generic : Kind::to_generic;
    op.operands.source[0] = source(instruction.operands[1], Type::u64);
  }
  op.operands.destination[0] = destination(instruction.operands[0]);
}

bool FunctionDecoder::texture(const Instruction& instruction, Op& op) {
  switch (instruction.opcode) {
    case Opcode::tex:
    case Opcode::tld4:
      fetch(instruction, op);
      return true;
    case Opcode::suld_b:
    case Opcode::sust_b:
    case Opcode::sured_b:
      surface(instruction, op);
      return true;
    case Opcode::txq:
    case Opcode::suq:
      texture_query(instruction, op);
      return true;
    default:
      return false;
  }
}

// The handle is the address of a header: a register's value, or that of a variable.
void FunctionDecoder::texture_handle(const Instruction& instruction, const Operand& handle, Op& op) {
  if (handle.kind == Operand::Kind::variable && variable(handle).space != Space::global)
    refuse(instruction, "takes a texture from a parameter or from other than global memory");
  if (handle.kind == Operand::Kind::integer) refuse(instruction, "takes a number as a texture");
  if (handle.kind == Operand::Kind::reg && lane_bytes(function_.registers[handle.index].type) != 8)
    refuse(instruction, "takes handles of 64 bits only");
  op.memory.base = source(handle, Type::b64);
  op.memory.base_bytes = 8;
  op.memory.space = Space::global;
  op.memory.offset = 0;
}

std::vector<RegisterRow> FunctionDecoder::coordinates(const Instruction& instruction, const Operand& place, Type type) {
  const std::uint32_t count = texture_shape(instruction).coordinates();
  std::vector<RegisterRow> rows;
  if (place.kind == Operand::Kind::vector)
    for (const Operand& element : place.elements) rows.push_back(source(element, type));
  else
    rows.push_back(source(place, type));
  if (rows.size() < count) refuse(instruction, fmt::format("takes {} coordinates", count));
  rows.resize(count);  // three coordinates are written as a vector of four
  return rows;
}

void FunctionDecoder::fetch(const Instruction& instruction, Op& op) {
  const auto& operands = instruction.operands;
  const Operand& place = operands[1];
  if (place.elements.size() != 2) refuse(instruction, "takes a separate sampler");
  op.kind = Kind::texture;
  texture_handle(instruction, place.elements[0], op);
  TextureShape shape = texture_shape(instruction);
  shape.has_index = instruction.types.back() == Type::s32;
  op.targets = shape.pack();
  std::vector<RegisterRow> rows;
  for (const Operand& element : operands[0].elements) rows.push_back(destination(element));
  for (const RegisterRow row : coordinates(instruction, place.elements[1], instruction.types.back()))
    rows.push_back(row);
  keep_rows(op, std::move(rows));
  if (instruction.has(Suffix::level)) op.operands.source[0] = source(operands[2], instruction.types.back());
}

// The rows of the data as for loads and stores, then the coordinates.
void FunctionDecoder::surface(const Instruction& instruction, Op& op) {
  const auto& operands = instruction.operands;
  const bool is_load = instruction.opcode == Opcode::suld_b;
  const Operand& data = operands[is_load ? 0 : 1];
  const Operand& place = operands[is_load ? 1 : 0];
  if (place.elements.size() != 2) refuse(instruction, "takes no sampler");
  const Type type = instruction.type();
  op.kind = is_load                                ? Kind::surface_load
            : instruction.opcode == Opcode::sust_b ? Kind::surface_store
                                                   : Kind::surface_reduction;
  if (op.kind == Kind::surface_reduction) op.mode = surface_reduction(instruction);
  texture_handle(instruction, place.elements[0], op);
  op.targets = texture_shape(instruction).pack();
  op.memory.type = type;
  op.memory.bytes = static_cast<std::uint8_t>(lane_bytes(type));
  op.memory.count = static_cast<std::uint8_t>(instruction.vector_width());
  const int bytes = data_bytes(data, type);
  op.memory.row_bytes = static_cast<std::uint8_t>(bytes);
  if (bytes < lane_bytes(type) || bytes > 8) refuse(instruction, "does not fit its registers");
  const Type row_type = bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
  const auto row_of = [&](const Operand& one) {
    if (one.kind == Operand::Kind::reg && lane_bytes(function_.registers[one.index].type) != bytes)
      refuse(instruction, "mixes registers of different widths");
    return is_load ? destination(one) : source(one, row_type);
  };
  std::vector<RegisterRow> rows;
  if (data.kind == Operand::Kind::vector)
    for (const Operand& element : data.elements) rows.push_back(row_of(element));
  else
    (is_load ? op.operands.destination[0] : op.operands.source[0]) = row_of(data);
  for (const RegisterRow row : coordinates(instruction, place.elements[1], Type::b32)) rows.push_back(row);
  keep_rows(op, std::move(rows));
}

void FunctionDecoder::texture_query(const Instruction& instruction, Op& op) {
  if (instruction.has(ptx::Suffix::channel_order) || instruction.has(ptx::Suffix::channel_data_type))
    refuse(instruction, "asks for a format of OpenCL, which textures of CUDA do not have");
  op.kind = Kind::texture_query;
  op.mode = exec::texture_query(instruction);
  const Operand& handle = instruction.operands[1];
  texture_handle(instruction, handle.elements.at(0), op);
  op.memory.offset = handle.offset;
  op.operands.destination[0] = destination(instruction.operands[0]);
}

}  // namespace wm::exec

// mov: between registers of one width, of predicates, and between a register and the parts of a vector.
#include <cstring>

#include "exec/lane/form.h"

namespace wm::exec {

namespace {

using ptx::Operand;
using ptx::Type;

template <typename T>
void copy(const Operands& operands, const Frame& frame) {
  const T* source = frame.source<T>(operands.source[0]);
  T* destination = frame.destination<T>(operands.destination[0]);
  if (frame.active == kAllLanes)
    std::memmove(destination, source, sizeof(T) * kLanes);
  else
    blend(destination, source, frame.active);
}

void copy_predicate(const Operands& operands, const Frame& frame) {
  write_mask(frame, operands.destination[0], Source<Flag>(operands, frame, 0).mask);
}

// 128-bit registers have no integer of their own: lane by lane, as bytes.
template <int Bytes>
void copy_lane(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, Bytes);
}
void copy_wide(const Operands& operands, const Frame& frame) {
  const auto* source = frame.source<std::byte>(operands.source[0]);
  auto* destination = frame.destination<std::byte>(operands.destination[0]);
  for (int i = 0; i < kLanes; ++i)
    if (((frame.active >> i) & 1U) != 0) std::memmove(destination + i * 16, source + i * 16, 16);
}

// more: the register, then its parts, lowest first. A register is never one of its own parts.
template <int Part, int Count>
void pack(const Operands& operands, const Frame& frame) {
  auto* destination = frame.destination<std::byte>(operands.more[0]);
  for (int part = 0; part < Count; ++part) {
    const auto* source = frame.source<std::byte>(operands.more[static_cast<std::size_t>(part) + 1]);
    std::byte* to = destination + part * Part;
    if (frame.active == kAllLanes) {
      WM_EACH_LANE copy_lane<Part>(to + i * Part * Count, source + i * Part);
    } else {
      for (int i = 0; i < kLanes; ++i)
        if (((frame.active >> i) & 1U) != 0) copy_lane<Part>(to + i * Part * Count, source + i * Part);
    }
  }
}

// more: the parts, lowest first, then the register; `_` is a part that is dropped.
template <int Part, int Count>
void unpack(const Operands& operands, const Frame& frame) {
  const auto* source = frame.source<std::byte>(operands.more[Count]);
  for (int part = 0; part < Count; ++part) {
    const RegisterRow part_row = operands.more[static_cast<std::size_t>(part)];
    if (part_row.none()) continue;
    auto* to = frame.destination<std::byte>(part_row);
    const std::byte* from = source + part * Part;
    if (frame.active == kAllLanes) {
      WM_EACH_LANE copy_lane<Part>(to + i * Part, from + i * Part * Count);
    } else {
      for (int i = 0; i < kLanes; ++i)
        if (((frame.active >> i) & 1U) != 0) copy_lane<Part>(to + i * Part, from + i * Part * Count);
    }
  }
}

template <int Part, int Count>
LaneOp parts(bool packing) {
  return packing ? pack<Part, Count> : unpack<Part, Count>;
}

LaneOp with_vector(bool packing, int bytes, std::size_t count) {
  if (bytes == 16 && count == 2) return parts<8, 2>(packing);
  if (bytes == 16 && count == 4) return parts<4, 4>(packing);
  if (bytes == 8 && count == 2) return parts<4, 2>(packing);
  if (bytes == 8 && count == 4) return parts<2, 4>(packing);
  if (bytes == 4 && count == 2) return parts<2, 2>(packing);
  if (bytes == 4 && count == 4) return parts<1, 4>(packing);
  if (bytes == 2 && count == 2) return parts<1, 2>(packing);
  return nullptr;
}

}  // namespace

LaneOp move(Form& form) {
  const auto& operands = form.instruction().operands;
  if (operands.size() != 2) return nullptr;
  const int bytes = ptx::bytes(form.type());
  if (operands[0].kind == Operand::Kind::vector) return with_vector(false, bytes, operands[0].elements.size());
  if (operands[1].kind == Operand::Kind::vector) return with_vector(true, bytes, operands[1].elements.size());
  if (form.type() == Type::pred) return copy_predicate;
  switch (bytes) {
    case 1:
      return copy<std::uint8_t>;
    case 2:
      return copy<std::uint16_t>;
    case 4:
      return copy<std::uint32_t>;
    case 8:
      return copy<std::uint64_t>;
    case 16:
      return copy_wide;
    default:
      return nullptr;
  }
}

}  // namespace wm::exec

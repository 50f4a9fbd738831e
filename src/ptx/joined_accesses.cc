#include "ptx/joined_accesses.h"

#include <map>
#include <tuple>

#include "ptx/memory_effect.h"

namespace wm::ptx {

void join_shared_accesses(const Function& function, const ControlFlow& flow, const LaneValues& values, Opcode opcode,
                          std::vector<AssembledInstruction>& out) {
  const auto at = [&](std::uint32_t i) -> const Instruction& { return function.body[i]; };
  // Block, part, guard (twice its register and whether it is negated), base and offset.
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::int64_t>;
  std::map<Place, std::uint32_t> accesses;
  std::uint32_t part = 0;
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    const Instruction& access = at(i);
    const MemoryEffect effect = memory_effect(access);
    const bool conflicts = opcode == Opcode::ld ? effect.writes : effect.reads && !effect.constant;
    if (effect.fence || (conflicts && may_overlap(effect.space, Space::shared))) ++part;
    if (access.opcode != opcode || effect.fence || access.space() != Space::shared || access.vector_width() != 1)
      continue;
    if (bytes(access.type()) != 4 && bytes(access.type()) != 8) continue;
    const Operand& address = access.operands[opcode == Opcode::ld ? 1 : 0];
    if (address.elements.empty() || address.elements[0].kind != Operand::Kind::reg) continue;
    const std::uint64_t guard =
        access.guard.present ? access.guard.reg * 2ULL + (access.guard.negated ? 1 : 0) : ~std::uint64_t{0};
    accesses.emplace(Place{flow.block_of[i], part, guard, address.elements[0].index, address.offset}, i);
  }
  for (const auto& [place, i] : accesses) {
    const auto& [block, number, guard, base, offset] = place;
    const std::int64_t size = bytes(at(i).type());
    for (const std::int64_t vector_bytes : {16, 8}) {
      if (out[i].folded || out[i].joined_words != 1 || offset % vector_bytes != 0 || vector_bytes == size) continue;
      if ((1 << values.low_zeros(base)) < vector_bytes) continue;
      std::vector<std::uint32_t> others;
      for (std::int64_t next = size; next < vector_bytes; next += size) {
        const auto found = accesses.find({block, number, guard, base, offset + next});
        if (found != accesses.end() && bytes(at(found->second).type()) == size) others.push_back(found->second);
      }
      if (others.size() + 1 != static_cast<std::size_t>(vector_bytes / size)) continue;
      out[i].joined_words = static_cast<std::uint8_t>(vector_bytes / 4);
      for (const std::uint32_t other : others) out[other].folded = true;
    }
  }
}

}  // namespace wm::ptx

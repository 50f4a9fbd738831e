#include "ptx/analysis.h"
#include "ptx/def_use.h"
#include "ptx/register_set.h"

namespace wm::ptx {
namespace {

// Registers of 32 bits that one value takes; 16-bit values take a whole one.
std::uint32_t words(Type type) { return type == Type::pred ? 0 : static_cast<std::uint32_t>((bits(type) + 31) / 32); }

}  // namespace

RegisterDemand register_demand(const Module&, const Function& function) {
  const ControlFlow flow = control_flow(function);
  const Liveness live = liveness(function, flow);
  RegisterDemand demand;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    RegisterSet now(function.registers.size());
    std::uint32_t registers = 0;
    std::uint32_t predicates = 0;
    const auto begin = [&](std::uint32_t r) {
      if (now.contains(r)) return;
      now.insert(r);
      registers += words(function.registers[r].type);
      predicates += function.registers[r].type == Type::pred ? 1 : 0;
    };
    const auto end = [&](std::uint32_t r) {
      if (!now.contains(r)) return;
      now.erase(r);
      registers -= words(function.registers[r].type);
      predicates -= function.registers[r].type == Type::pred ? 1 : 0;
    };
    for (const std::uint32_t r : live.live_out[b]) begin(r);
    for (std::uint32_t i = flow.blocks[b].end; i-- > flow.blocks[b].begin;) {
      for_each_definition(function.body[i], begin);
      demand.registers = std::max(demand.registers, registers);
      demand.predicates = std::max(demand.predicates, predicates);
      if (!function.body[i].guard.present) for_each_definition(function.body[i], end);
      for_each_use(function.body[i], begin);
    }
    demand.registers = std::max(demand.registers, registers);
    demand.predicates = std::max(demand.predicates, predicates);
  }
  return demand;
}

}  // namespace wm::ptx

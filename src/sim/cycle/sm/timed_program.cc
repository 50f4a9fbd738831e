#include "sim/cycle/sm/timed_program.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace wm::sim {
namespace {

using exec::Class;
using exec::Kind;
using gpu::Unit;

// Instructions that become several: the beginning and the end of their name, the issue slots they take and where.
// Counted in the machine code ptxas 13 makes of them for sm_90 (common paths, without the rare ones they branch to).
struct Expansion {
  std::string_view begins;
  std::string_view ends;
  Unit unit;
  std::uint8_t slots;
};
constexpr std::array kExpansions{
    Expansion{"div.rn", "f32", Unit::fp32, 9},     Expansion{"div.full", "f32", Unit::fp32, 4},
    Expansion{"div.approx", "f32", Unit::fp32, 3}, Expansion{"div.r", "f64", Unit::fp64, 11},
    Expansion{"rcp.rn", "f32", Unit::fp32, 6},     Expansion{"rcp.r", "f64", Unit::fp64, 8},
    Expansion{"sqrt.rn", "f32", Unit::fp32, 8},    Expansion{"sqrt.r", "f64", Unit::fp64, 12},
    Expansion{"div.", "32", Unit::integer, 18},    Expansion{"rem.", "32", Unit::integer, 20},
    Expansion{"div.", "64", Unit::integer, 60},    Expansion{"rem.", "64", Unit::integer, 64},
    Expansion{"div.", "16", Unit::integer, 12},    Expansion{"rem.", "16", Unit::integer, 12},
    Expansion{"mul.lo", "64", Unit::integer, 4},   Expansion{"mad.lo", "64", Unit::integer, 4},
    Expansion{"mul.hi", "64", Unit::integer, 8},   Expansion{"sin.approx", "f32", Unit::sfu, 2},
    Expansion{"cos.approx", "f32", Unit::sfu, 2},  Expansion{"ex2.approx", "f32", Unit::sfu, 2},
    Expansion{"lg2.approx", "f32", Unit::sfu, 2},  Expansion{"bfe.", "32", Unit::integer, 2},
    Expansion{"bfi.", "32", Unit::integer, 3},     Expansion{"add.", "64", Unit::integer, 2},
    Expansion{"sub.", "64", Unit::integer, 2},     Expansion{"shl.", "64", Unit::integer, 2},
    Expansion{"shr.", "64", Unit::integer, 2},     Expansion{"and.", "64", Unit::integer, 2},
    Expansion{"or.", "64", Unit::integer, 2},      Expansion{"xor.", "64", Unit::integer, 2},
    Expansion{"setp.", "64", Unit::integer, 2},    Expansion{"min.", "64", Unit::integer, 3},
    Expansion{"max.", "64", Unit::integer, 3},     Expansion{"selp.", "64", Unit::integer, 2},
};

Unit unit_of(const exec::Op& op) {
  switch (op.unit) {
    case Class::fp32:
    case Class::fp16:
      return Unit::fp32;
    case Class::fp64:
      return Unit::fp64;
    case Class::special_function:
      return Unit::sfu;
    case Class::tensor:
      return Unit::tensor;
    case Class::load:
    case Class::store:
    case Class::atomic:
    case Class::exchange:
      return Unit::load_store;
    case Class::branch:
    case Class::barrier:
      return Unit::branch;
    default:
      return Unit::integer;
  }
}

TimedKind kind_of(const exec::Op& op) {
  switch (op.kind) {
    case Kind::load:
    case Kind::matrix_load:
    case Kind::async_copy:
      return op.memory.space == ptx::Space::constant || op.memory.space == ptx::Space::param ? TimedKind::constant
                                                                                             : TimedKind::load;
    case Kind::store:
    case Kind::matrix_store:
      return TimedKind::store;
    case Kind::atomic:
    case Kind::reduction:
      return TimedKind::atomic;
    case Kind::barrier:
      return TimedKind::barrier;
    case Kind::branch:
    case Kind::indexed_branch:
    case Kind::call:
    case Kind::indirect_call:
    case Kind::ret:
      return TimedKind::branch;
    case Kind::exit:
      return TimedKind::exit;
    default:
      return TimedKind::compute;
  }
}

// What an assembler makes nothing of: parameters are operands in the constant bank, moves and zero-extensions are
// renamings, address conversions are no-ops under one address space.
bool folds(const exec::Op& op, const std::string& text) {
  if (op.kind == Kind::load && op.memory.space == ptx::Space::param) return true;
  if (op.kind == Kind::to_generic || op.kind == Kind::from_generic) return true;
  if (op.kind != Kind::lane) return false;
  return (op.unit == Class::move && !op.reads_clock) || text == "cvt.u64.u32" || text == "cvt.u32.u64";
}

// 64-bit additions that end an address computed by a widening multiply: the assembler makes one multiply-add of both.
bool ends_wide_multiply(const exec::Program& p, std::uint32_t pc) {
  const std::string& text = p.info[pc].text;
  if (text != "add.s64" && text != "add.u64") return false;
  for (const std::uint32_t r : p.reads(pc))
    for (std::uint32_t before = pc; before-- > 0 && pc - before <= 24;) {
      const auto writes = p.writes(before);
      if (std::find(writes.begin(), writes.end(), r) == writes.end()) continue;
      if (p.info[before].text.starts_with("mul.wide")) return true;
      break;
    }
  return false;
}

}  // namespace

TimedProgram time_program(std::shared_ptr<const exec::Program> program, const gpu::GpuConfig& config) {
  TimedProgram timed{.program = program, .ops = {}, .register_count = program->register_count};
  timed.ops.reserve(program->code.size());
  for (std::uint32_t pc = 0; pc < program->code.size(); ++pc) {
    const exec::Op& op = program->code[pc];
    const exec::OpInfo& info = program->info[pc];
    TimedOp t;
    t.unit = unit_of(op);
    t.kind = kind_of(op);
    t.folded = folds(op, info.text) || ends_wide_multiply(*program, pc);
    t.leaves_call = op.kind == Kind::ret && info.function != 0;
    t.first_register = info.first_register;
    t.reads = info.reads;
    t.writes = info.writes;
    t.line = pc / std::max(1U, config.icache.line / config.icache.instruction_bytes);
    if (op.kind == Kind::lane)
      for (const Expansion& e : kExpansions)
        if (info.text.starts_with(e.begins) && info.text.ends_with(e.ends)) {
          t.unit = e.unit;
          t.slots = e.slots;
          break;
        }
    const gpu::UnitConfig& unit = config.sm.units[static_cast<std::size_t>(t.unit)];
    const std::uint32_t interval = std::max(1U, 32 / unit.lanes);
    t.occupies = static_cast<std::uint16_t>(interval * t.slots);
    // The parts of an expanded instruction depend on each other, two at a time on average.
    t.latency = static_cast<std::uint16_t>(unit.latency + (t.slots > 1 ? unit.latency * (t.slots - 1) / 2 : 0));
    timed.ops.push_back(t);
  }
  return timed;
}

}  // namespace wm::sim

#include "sim/cycle/sm/timed_program.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "ptx/assembly.h"
#include "sim/cycle/sm/balanced_shifts.h"

namespace wm::sim {
namespace {

using exec::Class;
using exec::Kind;
using gpu::Unit;

// The code that an assembler makes of an instruction: the beginning and the end of its name, the unit its longest part
// goes to, the issue slots of all parts, how many of them take the unit, and how many further instructions of the fp32
// unit's latency its result waits for. Counted in the machine code ptxas 13 makes for sm_90 (common paths, without the
// rare ones they branch to) and checked against the latency and rate probes on an H200. The first that fits is taken.
struct Expansion {
  std::string_view begins;
  std::string_view ends;
  Unit unit;
  std::uint8_t issue_slots;
  std::uint8_t on_unit;
  std::uint8_t chain;
};
constexpr std::array kExpansions{
    Expansion{"div.rn", "f32", Unit::fp32, 17, 17, 13},
    Expansion{"div.full", "f32", Unit::sfu, 8, 1, 5},
    Expansion{"div.approx", "f32", Unit::sfu, 4, 1, 3},
    Expansion{"div.r", "f64", Unit::fp64, 11, 11, 20},
    Expansion{"rcp.rn", "f32", Unit::fp32, 9, 9, 7},
    Expansion{"rcp.r", "f64", Unit::fp64, 8, 8, 14},
    Expansion{"sqrt.rn", "f32", Unit::fp32, 11, 11, 9},
    Expansion{"sqrt.r", "f64", Unit::fp64, 12, 12, 22},
    // Without .ftz, small values are scaled before and after.
    Expansion{"rcp.approx.ftz", "f32", Unit::sfu, 1, 1, 0},
    Expansion{"rcp.approx", "f32", Unit::sfu, 4, 1, 3},
    Expansion{"rsqrt.approx.ftz", "f32", Unit::sfu, 1, 1, 0},
    Expansion{"rsqrt.approx", "f32", Unit::sfu, 4, 1, 3},
    Expansion{"sqrt.approx", "f32", Unit::sfu, 5, 1, 5},
    Expansion{"ex2.approx.ftz", "f32", Unit::sfu, 1, 1, 0},
    Expansion{"ex2.approx", "f32", Unit::sfu, 4, 1, 3},
    Expansion{"lg2.approx.ftz", "f32", Unit::sfu, 1, 1, 0},
    Expansion{"lg2.approx", "f32", Unit::sfu, 4, 1, 3},
    Expansion{"sin.approx", "f32", Unit::sfu, 2, 1, 1},
    Expansion{"cos.approx", "f32", Unit::sfu, 2, 1, 1},
    Expansion{"div.s", "32", Unit::integer, 30, 12, 34},
    Expansion{"div.", "32", Unit::integer, 27, 11, 31},
    Expansion{"rem.s", "32", Unit::integer, 30, 12, 34},
    Expansion{"rem.", "32", Unit::integer, 27, 11, 31},
    Expansion{"div.", "64", Unit::integer, 80, 40, 60},
    Expansion{"rem.", "64", Unit::integer, 80, 40, 60},
    Expansion{"div.", "16", Unit::integer, 14, 5, 12},
    Expansion{"rem.", "16", Unit::integer, 14, 5, 12},
    Expansion{"mul.lo", "64", Unit::integer, 4, 4, 1},
    Expansion{"mad.lo", "64", Unit::integer, 4, 4, 1},
    Expansion{"mul.hi", "64", Unit::integer, 8, 8, 4},
    Expansion{"mul.hi", "32", Unit::integer, 1, 2, 1},
    Expansion{"mad.hi", "32", Unit::integer, 1, 2, 1},
    Expansion{"bfe.", "32", Unit::integer, 2, 2, 1},
    Expansion{"bfi.", "32", Unit::integer, 3, 3, 2},
    Expansion{"popc.", "", Unit::sfu, 1, 1, 0},
    Expansion{"clz.", "", Unit::sfu, 1, 1, 0},
    Expansion{"bfind.", "", Unit::sfu, 1, 1, 0},
    Expansion{"brev.", "", Unit::sfu, 1, 1, 0},
};
// Differences with an assembler for sm_90 (`assembled`), by the rate and latency probes on an H200: the special
// function unit computes reciprocals and checks of divisions.
constexpr std::array kAssembledExpansions{
    Expansion{"div.rn", "f32", Unit::sfu, 10, 2, 10},
    Expansion{"rcp.rn", "f32", Unit::sfu, 10, 1, 15},
    Expansion{"sqrt.rn", "f32", Unit::sfu, 12, 1, 10},
    Expansion{"div.r", "f64", Unit::fp64, 16, 9, 29},
    Expansion{"rcp.r", "f64", Unit::fp64, 9, 7, 22},
    Expansion{"sqrt.r", "f64", Unit::fp64, 24, 10, 21},
    Expansion{"rsqrt.approx.ftz", "f32", Unit::sfu, 1, 1, 0},
    Expansion{"rsqrt.approx", "f32", Unit::sfu, 4, 1, 5},
    Expansion{"lg2.approx.ftz", "f32", Unit::sfu, 1, 1, 0},
    Expansion{"lg2.approx", "f32", Unit::sfu, 4, 1, 5},
    Expansion{"div.s", "32", Unit::sfu, 26, 3, 30},
    Expansion{"rem.s", "32", Unit::sfu, 25, 3, 30},
    Expansion{"div.", "32", Unit::sfu, 20, 3, 28},
    Expansion{"rem.", "32", Unit::sfu, 19, 3, 28},
    Expansion{"mul.lo", "64", Unit::multiply, 3, 3, 2},
    Expansion{"mad.lo", "64", Unit::multiply, 3, 3, 2},
    Expansion{"mul.hi", "64", Unit::multiply, 8, 8, 7},
    Expansion{"mul.", "32", Unit::multiply, 1, 1, 0},
    Expansion{"mad.", "32", Unit::multiply, 1, 1, 0},
    Expansion{"dp4a", "", Unit::multiply, 1, 1, 0},
    Expansion{"dp2a", "", Unit::multiply, 1, 1, 0},
};
// Divisions that find the reciprocal of their divisor computed.
constexpr std::array kDivisionsByReciprocal{
    Expansion{"div.s", "32", Unit::multiply, 12, 2, 9},
    Expansion{"rem.s", "32", Unit::multiply, 10, 2, 8},
    Expansion{"div.", "32", Unit::multiply, 9, 2, 7},
    Expansion{"rem.", "32", Unit::multiply, 8, 2, 7},
};
// 64-bit integers are two registers: each part of a result can be used as soon as it is computed.
constexpr std::array<std::string_view, 11> kPairs{"add", "sub",  "shl", "shr", "and", "or",
                                                  "xor", "setp", "min", "max", "selp"};

bool is_wide_integer(std::string_view text) {
  if (!text.ends_with(".s64") && !text.ends_with(".u64") && !text.ends_with(".b64")) return false;
  const std::string_view name = text.substr(0, text.find('.'));
  return std::find(kPairs.begin(), kPairs.end(), name) != kPairs.end();
}

// Conversions to or from floating point are made where the special functions are; between half and single, and between
// integers, where arithmetic is.
bool converts_float(const exec::Op& op, std::string_view text) {
  return op.unit == Class::conversion && (text.find("f32") != text.npos || text.find("f64") != text.npos) &&
         text.find("f16") == text.npos;
}

// A conversion of a word to single precision is an instruction of the integer unit.
bool is_word_to_float(std::string_view text) {
  return text.starts_with("cvt.r") && (text.ends_with(".f32.s32") || text.ends_with(".f32.u32"));
}

bool is_any(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return text.starts_with(name); });
}

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
    case Kind::surface_load:
    case Kind::texture:
      return op.memory.space == ptx::Space::constant || op.memory.space == ptx::Space::param ? TimedKind::constant
                                                                                             : TimedKind::load;
    case Kind::store:
    case Kind::matrix_store:
    case Kind::surface_store:
      return TimedKind::store;
    case Kind::atomic:
    case Kind::reduction:
    case Kind::surface_reduction:
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

CopyRole copy_role(const exec::Op& op, std::string_view text) {
  if (op.kind == Kind::async_copy) return CopyRole::copy;
  if (text == "cp.async.commit_group") return CopyRole::commit;
  if (text == "cp.async.wait_group") return CopyRole::wait_group;
  return text == "cp.async.wait_all" ? CopyRole::wait_all : CopyRole::none;
}

// Instructions for which the assembler emits no code: parameters are operands in the constant bank, moves and
// zero-extensions are renamings, address conversions are no-ops under one address space.
bool folds(const exec::Op& op, const std::string& text) {
  if (op.kind == Kind::load && op.memory.space == ptx::Space::param) return true;
  if (op.kind == Kind::to_generic || op.kind == Kind::from_generic) return true;
  if (op.kind != Kind::lane) return false;
  // A sign is changed where an operand is read.
  if (text == "neg.f32" || text == "abs.f32") return true;
  return (op.unit == Class::move && !op.reads_clock) || text == "cvt.u64.u32" || text == "cvt.u32.u64";
}

// The same where an assembler's marks say which moves and parameters need no instruction.
bool folds_beside_marks(const exec::Op& op, const std::string& text) {
  return op.kind == Kind::to_generic || op.kind == Kind::from_generic || text == "neg.f32" || text == "abs.f32";
}

// The assembler's marks by pc: a function's instructions are decoded in order, each to one operation.
std::vector<ptx::AssembledInstruction> marks_of(const exec::Program& program, const ptx::Module* module) {
  std::vector<ptx::AssembledInstruction> marks(program.code.size());
  if (module == nullptr) return marks;
  for (const exec::ProgramFunction& f : program.functions) {
    if (f.entry == f.end || f.builtin != exec::ProgramFunction::Builtin::none) continue;
    const auto made = ptx::assemble(module->functions[f.module_index]);
    std::copy(made.begin(), made.end(), marks.begin() + f.entry);
  }
  return marks;
}

// The assembler lays basic blocks out so that a jump falls through, or merges it with the condition before it.
bool falls_through(const exec::Program& p, std::uint32_t pc) {
  const exec::Op& op = p.code[pc];
  const auto conditional = [&](const exec::Op& o) { return o.kind == Kind::branch && !o.guard.none(); };
  if (op.kind != Kind::branch || conditional(op)) return false;
  return op.target > pc || (pc != 0 && conditional(p.code[pc - 1]));
}

// A divergent forward branch: the assembler adds instructions that split the lanes and reconverge them. A branch that
// leaves the kernel needs none.
bool parts_lanes(const exec::Program& p, std::uint32_t pc) {
  const exec::Op& op = p.code[pc];
  return op.kind == Kind::branch && !op.guard.none() && op.target > pc && op.reconverge != exec::kNoPc &&
         op.target < p.code.size() && p.code[op.target].kind != Kind::exit && p.code[op.target].kind != Kind::ret;
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

// Atomics of shared memory that are loops of loads and compare-and-swaps, or take two passes.
int shared_atomic_weight(const exec::Op& op, std::string_view text) {
  if (op.memory.space != ptx::Space::shared || (op.kind != Kind::atomic && op.kind != Kind::reduction)) return 1;
  if (text.find(".cas") != text.npos) return 2;
  if (text.ends_with("64")) return 8;
  return text.ends_with("f32") && text.find(".add") != text.npos ? 6 : 1;
}

// The instructions of a turn of such a loop in the machine code of ptxas 13 for sm_90: a load, the operation,
// compare-and-swap, a comparison of the old value and a branch; 64 bits take two for a sum and for the comparison.
std::uint8_t shared_atomic_turn(const exec::Op& op, std::string_view text) {
  if (shared_atomic_weight(op, text) == 1 || text.find(".cas") != text.npos) return 0;
  if (text.ends_with("f64")) return 6;
  return text.ends_with("64") ? 7 : 5;
}

// Reads beyond the first of the bank that has most of an instruction's operands. Registers lie in banks by their
// number.
std::uint32_t bank_conflicts(std::span<const std::uint32_t> reads, std::uint32_t banks) {
  if (banks == 0) return 0;
  std::uint32_t max_same = 1;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    std::uint32_t same = 1;
    for (std::size_t j = i + 1; j < reads.size(); ++j)
      same += reads[j] != reads[i] && reads[j] % banks == reads[i] % banks ? 1 : 0;
    max_same = std::max(max_same, same);
  }
  return max_same - 1;
}

// Sets the unit of an arithmetic operation and the cycles it occupies.
void expand(const exec::Op& op, std::string_view text, const gpu::GpuConfig& config, bool has_reciprocal, TimedOp& t,
            std::uint32_t& on_unit, std::uint32_t& chain) {
  const auto apply = [&](const Expansion& e) {
    if (!text.starts_with(e.begins) || !text.ends_with(e.ends)) return false;
    t.unit = e.unit == Unit::multiply && !config.sm.has_multiply_unit ? Unit::integer : e.unit;
    t.issue_slots = e.issue_slots;
    on_unit = e.on_unit;
    chain = e.chain;
    return true;
  };
  if (has_reciprocal && std::any_of(kDivisionsByReciprocal.begin(), kDivisionsByReciprocal.end(), apply)) return;
  const bool is_high = text.starts_with("mul.hi") || text.starts_with("mad.hi");
  if (config.assembled && !(is_high && text.ends_with("32")) &&
      std::any_of(kAssembledExpansions.begin(), kAssembledExpansions.end(), apply))
    return;
  if (std::any_of(kExpansions.begin(), kExpansions.end(), apply)) {
    if (is_high && config.sm.has_multiply_unit) t.unit = Unit::multiply;
    return;
  }
  if (is_wide_integer(text)) {
    t.issue_slots = 2;
    on_unit = 2;
    if (config.assembled && config.sm.fp32_adds && is_any(text, {"add.", "sub."})) t.unit = Unit::fp32;
  } else if (config.assembled && is_word_to_float(text)) {
    t.unit = Unit::integer;
  } else if (converts_float(op, text)) {
    t.unit = Unit::sfu;
  } else if (config.sm.fp32_adds) {
    // Comparisons and choices of floats are the integer unit's; integer sums go where there is room.
    if (t.unit == Unit::fp32 && is_any(text, {"min.", "max.", "setp.", "set.", "selp.", "slct."}))
      t.unit = Unit::integer;
    if (t.unit == Unit::integer && is_any(text, {"add.s32", "add.u32", "sub.s32", "sub.u32"})) t.unit = Unit::fp32;
  }
}

// Precomputes facts that the schedulers need at each issue.
void prepare(TimedOp& t, const exec::Program& program) {
  const std::uint32_t* registers = program.registers.data() + t.first_register;
  const std::uint32_t count = std::uint32_t{t.reads} + t.writes;
  for (std::uint32_t i = 0; i < TimedOp::kFew; ++i) t.operands[i] = i < count ? registers[i] : program.register_count;
  t.written = t.writes == 1 ? registers[t.reads] : program.register_count + 1;
  t.few = count <= TimedOp::kFew;
  t.direct = !t.folded && !t.waits_for_loads && t.branch.guard_latency == 0;
  if (t.is_plain()) t.plain_unit = static_cast<std::uint8_t>(t.unit);
  t.next_issue = std::max<std::uint16_t>(t.occupies, t.issue_slots);
  t.issued_line = t.folded ? TimedOp::kFoldedLine : t.line;
  t.simple = t.writes <= 1 && t.copies == CopyRole::none && t.kind != TimedKind::branch && t.issue_slots == 1;
}

}  // namespace

TimedProgram time_program(const std::shared_ptr<const exec::Program>& program, const gpu::GpuConfig& config,
                          const ptx::Module* assembled, bool fetches_textures) {
  const bool takes_read_only = config.texture.read_only_loads || fetches_textures;
  const ptx::Module* const module = config.assembled ? assembled : nullptr;
  TimedProgram timed{.program = program, .ops = {}, .register_count = program->register_count};
  timed.ops.reserve(program->code.size());
  const std::vector<ptx::AssembledInstruction> marks = marks_of(*program, module);
  for (std::uint32_t pc = 0; pc < program->code.size(); ++pc) {
    const exec::Op& op = program->code[pc];
    const exec::OpInfo& info = program->info[pc];
    TimedOp t;
    t.unit = unit_of(op);
    t.kind = kind_of(op);
    const ptx::AssembledInstruction& mark = marks[pc];
    t.folded = module == nullptr
                   ? folds(op, info.text) || ends_wide_multiply(*program, pc) || falls_through(*program, pc)
                   : folds_beside_marks(op, info.text) || mark.folded;
    t.copies = copy_role(op, info.text);
    t.groups = t.copies == CopyRole::wait_group ? op.targets : 0;
    t.waits_for_loads = (op.kind == Kind::ret && info.function != 0) || t.copies == CopyRole::wait_group ||
                        t.copies == CopyRole::wait_all;
    const bool is_plain = op.kind == Kind::lane && t.kind == TimedKind::compute && !t.folded && !t.waits_for_loads &&
                          t.copies == CopyRole::none;
    t.plain_unit = is_plain ? 0 : TimedOp::kNotPlain;
    t.read_only =
        op.kind == Kind::texture || (takes_read_only && op.kind == Kind::load && info.text.starts_with("ld.global.nc"));
    t.first_register = info.first_register;
    t.reads = info.reads;
    t.writes = mark.is_unused && op.memory.space == ptx::Space::shared ? 0 : info.writes;
    t.shared.weight =
        static_cast<std::uint8_t>(std::max(1, mark.joined_words / 2) * shared_atomic_weight(op, info.text));
    t.shared.turn_slots = module != nullptr ? shared_atomic_turn(op, info.text) : std::uint8_t{0};
    t.adds_up = op.memory.space == ptx::Space::shared ? mark.is_increment : mark.is_combined;
    t.line = pc / std::max(1U, config.icache.line / config.icache.instruction_bytes);
    std::uint32_t on_unit = 1;
    std::uint32_t chain = 0;
    if (op.kind == Kind::lane) expand(op, info.text, config, mark.has_reciprocal, t, on_unit, chain);
    if (mark.is_wide_product) {
      t.issue_slots = 1;
      on_unit = 1;
      t.unit = config.sm.has_multiply_unit ? Unit::multiply : Unit::integer;
    }
    t.branch.parts_lanes = parts_lanes(*program, pc) && (module == nullptr || mark.parts_lanes);
    if (t.branch.parts_lanes && !mark.is_split_before) t.issue_slots = 3;
    if (mark.is_one_word || mark.has_range) t.issue_slots = on_unit = 1;
    if (op.kind == Kind::branch && !op.guard.none() && !t.folded)
      t.branch.guard_latency = static_cast<std::uint16_t>(config.sm.branch_guard_latency);
    if (module != nullptr && op.kind == Kind::load && op.memory.space == ptx::Space::param) t.unit = Unit::integer;
    if (t.shared.turn_slots != 0) t.issue_slots = 2;  // lanes are split before the loop and joined behind it
    t.issue_slots = static_cast<std::uint8_t>(t.issue_slots + mark.added);
    const gpu::UnitConfig& unit = config.sm.units[static_cast<std::size_t>(t.unit)];
    t.occupies = static_cast<std::uint16_t>(std::max(1U, 32 / unit.lanes) * on_unit);
    t.latency = static_cast<std::uint16_t>(unit.latency + chain * config.sm.units[0].latency);
    if (op.kind == Kind::lane && !config.assembled && converts_float(op, info.text)) {  // twice as fast as others there
      t.occupies = static_cast<std::uint16_t>(std::max(1, t.occupies / 2));
      t.latency = static_cast<std::uint16_t>(std::max(1, t.latency * 2 / 3));
    }
    t.occupies = static_cast<std::uint16_t>(t.occupies + bank_conflicts(program->reads(pc), config.sm.register_banks));
    // A value goes from lane to lane by way of shared memory's crossbar.
    if (op.kind == Kind::shuffle) t.latency = static_cast<std::uint16_t>(config.shared.latency);
    timed.ops.push_back(t);
  }
  if (module != nullptr) balance_shifts(timed.ops, *program, config);
  for (TimedOp& t : timed.ops) prepare(t, *program);
  return timed;
}

}  // namespace wm::sim

#include "rewrite/ptx/gates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "rewrite/ptx/counted_loop.h"
#include "rewrite/ptx/function_editor.h"
#include "rewrite/ptx/loops.h"

namespace wm::rewrite {
namespace {

using build::Reg;
using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

constexpr std::uint32_t kTestInstructions = 3;
constexpr std::uint32_t kMaxTestCost = 50;  // a test may cost one part in so many of a loop's instructions

bool is_branch(const Instruction& i) { return i.opcode == Opcode::bra; }

// A loop that stands in one piece and can be copied.
bool can_unroll(const Function& function, const Loop& loop) {
  if (!loop.innermost || !loop.contiguous) return false;
  return std::none_of(function.body.begin() + loop.begin, function.body.begin() + loop.end,
                      [](const Instruction& i) { return i.opcode == Opcode::brx_idx; });
}

class GateWriter {
 public:
  GateWriter(Function& kernel, const GateOptions& options)
      : options_(options),
        loops_(find_loops(kernel, ptx::control_flow(kernel))),
        labels_(kernel.labels),
        counted_(counted_loops(kernel)),
        loop_starts_(starts(kernel)),
        editor_(kernel) {}

  GatedKernel run() {
    GatedKernel result;
    for (const Loop& loop : loops_) result.gates += loop.back_edges.empty() ? 0 : 1;
    if (result.gates == 0) {
      editor_.finish();
      return result;
    }
    prologue();
    while (!editor_.at_end()) {
      if (const auto strip = counted_.find(editor_.index()); strip != counted_.end()) {
        strip_mine(strip->second);
        ++result.strips;
      } else if (const Loop* loop = unrollable_at(editor_.index())) {
        unroll(*loop);
        ++result.unrolled;
      } else if (const Loop* back = loop_of_back_edge(editor_.index())) {
        gate_back_edge(*back);
      } else {
        editor_.keep();
      }
    }
    editor_.finish();
    return result;
  }

 private:
  struct Strip {
    const Loop* loop;
    CountedLoop count;
  };
  // Loops to strip-mine, by their first instruction.
  std::map<std::uint32_t, Strip> counted_loops(const Function& kernel) const {
    std::map<std::uint32_t, Strip> found;
    for (const Loop& loop : loops_) {
      if (const auto count = counted_loop(kernel, loop)) found.emplace(loop.begin, Strip{&loop, *count});
    }
    return found;
  }

  // Loops to unroll, by their first instruction.
  std::map<std::uint32_t, const Loop*> starts(const Function& kernel) const {
    std::map<std::uint32_t, const Loop*> found;
    for (const Loop& loop : loops_) {
      if (!loop.back_edges.empty() && !counted_.contains(loop.begin) && can_unroll(kernel, loop) && copies(loop) > 1)
        found.emplace(loop.begin, &loop);
    }
    return found;
  }

  [[nodiscard]] std::uint32_t copies(const Loop& loop) const {
    const std::uint32_t size = std::max(loop.instructions, 1U);
    const std::uint32_t wanted = (kTestInstructions * kMaxTestCost + size - 1) / size;
    return std::max(std::min(wanted, options_.max_unrolled / size), 1U);
  }

  [[nodiscard]] const Loop* unrollable_at(std::uint32_t index) const {
    const auto it = loop_starts_.find(index);
    return it == loop_starts_.end() ? nullptr : it->second;
  }

  [[nodiscard]] const Loop* loop_of_back_edge(std::uint32_t index) const {
    for (const Loop& loop : loops_) {
      if (std::find(loop.back_edges.begin(), loop.back_edges.end(), index) != loop.back_edges.end()) return &loop;
    }
    return nullptr;
  }

  void prologue() {
    gate_ = editor_.add_register("%wm_gate", Type::b64);
    word_ = editor_.add_register("%wm_gate_word", Type::b32);
    count_ = editor_.add_register("%wm_gate_count", Type::b32);
    left_ = editor_.add_register("%wm_gate_left", Type::b32);
    test_ = editor_.add_register("%wm_gate_test", Type::pred);
    emit_address();
    editor_.emit(build::mov(word_, build::number(0), Type::u32));
    editor_.emit(build::mov(count_, build::number(0), Type::u32));
  }

  void emit_address() {
    if (options_.word_address != 0) {
      editor_.emit(build::mov(gate_, build::number(options_.word_address), Type::u64));
      return;
    }
    const std::uint32_t parameter = editor_.add_address_parameter("wm_gate");
    editor_.emit(
        build::make(Opcode::ld, {Suffix::param}, {Type::u64},
                    {build::operand(gate_), build::at(build::variable(Operand::Scope::parameter, parameter))}));
  }

  Instruction load_word() const {
    return build::make(Opcode::ld, {Suffix::volatile_, Suffix::global}, {Type::u32},
                       {build::operand(word_), build::at(build::operand(gate_))});
  }

  Instruction compare(Suffix how, Reg value, std::uint64_t with) const {
    return build::make(Opcode::setp, {how}, {Type::u32},
                       {build::operand(test_), build::operand(value), build::number(with)});
  }

  // The test, after `weight` instructions, and the way back to the header.
  void gate_and_go(std::uint32_t header, std::uint32_t weight) {
    if (2 * weight < options_.interval) {
      editor_.emit(build::make(Opcode::add, {}, {Type::u32},
                               {build::operand(count_), build::operand(count_), build::number(weight)}));
      editor_.emit(compare(Suffix::lt, count_, options_.interval));
      editor_.emit(build::only_if(test_, true, build::branch(header)));
      editor_.emit(build::mov(count_, build::number(0), Type::u32));
    }
    editor_.emit(compare(Suffix::eq, word_, 0));
    editor_.emit(load_word());
    editor_.emit(build::only_if(test_, true, build::branch(header)));
    const std::uint32_t hold = editor_.add_label("$wm_hold");
    editor_.emit(build::mov(left_, build::number(options_.max_sleeps), Type::u32));
    editor_.place(hold);
    editor_.emit(build::make(Opcode::nanosleep, {}, {Type::u32}, {build::number(options_.sleep_nanoseconds)}));
    editor_.emit(load_word());
    editor_.emit(compare(Suffix::eq, word_, 0));
    editor_.emit(build::only_if(test_, true, build::branch(header)));
    editor_.emit(
        build::make(Opcode::sub, {}, {Type::u32}, {build::operand(left_), build::operand(left_), build::number(1)}));
    editor_.emit(compare(Suffix::ne, left_, 0));
    editor_.emit(build::only_if(test_, true, build::branch(hold)));
    // The block was held for long enough: the kernel that closed the gate may be waiting for it.
    editor_.emit(build::make(Opcode::add, {}, {Type::u64},
                             {build::operand(gate_), build::operand(gate_), build::number(kOpenGateOffset)}));
    editor_.emit(build::mov(word_, build::number(0), Type::u32));
    editor_.emit(build::branch(header));
  }

  // Threads that do not take a conditional branch go around the gate.
  std::optional<std::uint32_t> jump_around(const Instruction& branch) {
    if (!branch.guard.present) return std::nullopt;
    const std::uint32_t around = editor_.add_label("$wm_on");
    editor_.emit(build::only_if({branch.guard.reg}, branch.guard.negated, build::branch(around)));
    return around;
  }

  void gate_back_edge(const Loop& loop) {
    const Instruction branch = editor_.current();
    editor_.place_labels();
    const auto around = jump_around(branch);
    gate_and_go(branch.operands[0].index, loop.instructions);
    editor_.skip();
    if (around) editor_.place(*around);
  }

  // bound' = the bound, or the counter's value some iterations on where that is nearer.
  void emit_near_bound(const Strip& strip, const Instruction& compare, Reg near, std::uint64_t distance) {
    const bool wide = strip.count.wide;
    const Type u = wide ? Type::u64 : Type::u32, s = wide ? Type::s64 : Type::s32, b = wide ? Type::b64 : Type::b32;
    const Operand counter = build::operand(Reg{strip.count.counter});
    const Operand& bound = compare.operands[2];
    const bool up = strip.count.step > 0;
    // The bound is further away than `distance`, as unsigned numbers; and, for lt and gt, it is not behind.
    editor_.emit(build::make(Opcode::mov, {}, {b}, {build::operand(near), bound}));
    editor_.emit(
        build::make(Opcode::sub, {}, {s},
                    {build::operand(near), up ? build::operand(near) : counter, up ? counter : build::operand(near)}));
    editor_.emit(build::make(Opcode::setp, {Suffix::gt}, {u},
                             {build::operand(test_), build::operand(near), build::number(distance)}));
    if (compare.suffixes[0] != Suffix::ne) {
      editor_.emit(build::make(Opcode::setp, {compare.suffixes[0], Suffix::and_}, compare.types,
                               {build::operand(test_), counter, bound, build::operand(test_)}));
    }
    const auto step = static_cast<std::uint64_t>(up ? distance : ~distance + 1);
    editor_.emit(build::make(Opcode::add, {}, {s}, {build::operand(near), counter, build::number(step)}));
    editor_.emit(
        build::make(Opcode::selp, {}, {b}, {build::operand(near), build::operand(near), bound, build::operand(test_)}));
  }

  void strip_mine(const Strip& strip) {
    const Loop& loop = *strip.loop;
    const std::uint32_t iterations = std::max(options_.interval / std::max(loop.instructions, 1U), 1U);
    const auto size = static_cast<std::uint64_t>(strip.count.step > 0 ? strip.count.step : -strip.count.step);
    const Reg near = editor_.add_register("%wm_bound", strip.count.wide ? Type::b64 : Type::b32);
    const std::uint32_t outer = editor_.add_label("$wm_strip"), inner = editor_.add_label("$wm_inner");
    const std::uint32_t exit = editor_.add_label("$wm_exit");
    const std::vector<Instruction> body = body_of(loop);
    const Instruction& compare = body[strip.count.compare - loop.begin];
    editor_.place(outer);
    emit_near_bound(strip, compare, near, size * iterations);
    editor_.place(inner);
    for (std::uint32_t i = 0; i + 1 < body.size(); ++i) {
      Instruction copy = body[i];
      if (i + loop.begin == strip.count.compare) copy.operands[2] = build::operand(near);
      editor_.emit(std::move(copy));
    }
    const Reg predicate{body.back().guard.reg};
    editor_.emit(build::only_if(predicate, true, build::branch(inner)));
    editor_.emit(compare);
    editor_.emit(build::only_if(predicate, false, build::branch(exit)));
    gate_and_go(outer, options_.interval);
    editor_.place(exit);
  }

  void unroll(const Loop& loop) {
    const std::uint32_t count = copies(loop);
    const std::vector<Instruction> body = body_of(loop);
    const std::uint32_t first = editor_.add_label("$wm_loop");
    const std::uint32_t exit = editor_.add_label("$wm_exit");
    std::uint32_t header = first;
    for (std::uint32_t copy = 0; copy < count; ++copy) {
      const bool last = copy + 1 == count;
      const std::uint32_t next = last ? first : editor_.add_label("$wm_loop");
      const LabelMap inner = place_of_copy(loop, copy);
      editor_.place(header);
      copy_body(loop, body, inner, {next, exit, last ? loop.instructions * count : 0});
      header = next;
    }
    editor_.place(exit);
  }

  struct BackEdge {
    std::uint32_t header;  // the next copy begins there
    std::uint32_t exit;
    std::uint32_t weight;  // 0: the next copy follows; otherwise that many instructions lie between two tests
  };
  using LabelMap = std::map<std::uint32_t, std::uint32_t>;

  // The old walk is moved past the loop; its labels stand in the first copy.
  std::vector<Instruction> body_of(const Loop& loop) {
    std::vector<Instruction> body;
    for (std::uint32_t i = loop.begin; i < loop.end; ++i) {
      body.push_back(editor_.current());
      editor_.skip();
    }
    return body;
  }

  // Labels inside the loop: those of the original stand in the first copy, others are new.
  LabelMap place_of_copy(const Loop& loop, std::uint32_t copy) {
    LabelMap map;
    for (std::uint32_t l = 0; l < labels_.size(); ++l) {
      if (labels_[l].at <= loop.begin || labels_[l].at >= loop.end) continue;
      map.emplace(l, editor_.add_label("$wm_copy" + std::to_string(copy)));
    }
    return map;
  }

  void copy_body(const Loop& loop, const std::vector<Instruction>& body, const LabelMap& inner,
                 const BackEdge& back_edge) {
    for (std::uint32_t i = 0; i < body.size(); ++i) {
      for (const auto& [old, copied] : inner) {
        if (labels_[old].at == loop.begin + i) editor_.place(copied);
      }
      const bool last = i + 1 == body.size();
      const Instruction& instruction = body[i];
      const bool back = is_branch(instruction) && labels_[instruction.operands[0].index].at == loop.begin;
      if (!back) {
        emit_copy(instruction, inner);
        if (last && (instruction.guard.present || !is_branch(instruction))) editor_.emit(build::branch(back_edge.exit));
        continue;
      }
      copy_back_edge(instruction, last, back_edge);
    }
  }

  void emit_copy(Instruction instruction, const LabelMap& inner) {
    if (is_branch(instruction)) {
      std::uint32_t& target = instruction.operands[0].index;
      if (const auto copied = inner.find(target); copied != inner.end()) target = copied->second;
    }
    editor_.emit(std::move(instruction));
  }

  void copy_back_edge(const Instruction& branch, bool last, const BackEdge& back_edge) {
    if (back_edge.weight == 0 && !last) {
      Instruction to_next = branch;
      to_next.operands[0] = build::label(back_edge.header);
      editor_.emit(std::move(to_next));
      return;
    }
    if (last && branch.guard.present) {
      editor_.emit(build::only_if({branch.guard.reg}, branch.guard.negated, build::branch(back_edge.exit)));
      if (back_edge.weight != 0) gate_and_go(back_edge.header, back_edge.weight);
      return;
    }
    const auto around = jump_around(branch);
    if (back_edge.weight != 0) gate_and_go(back_edge.header, back_edge.weight);
    if (around) editor_.place(*around);
  }

  const GateOptions& options_;
  const std::vector<Loop> loops_;
  const std::vector<ptx::Label> labels_;  // the original body has these
  const std::map<std::uint32_t, Strip> counted_;
  const std::map<std::uint32_t, const Loop*> loop_starts_;
  FunctionEditor editor_;
  Reg gate_{}, word_{}, count_{}, left_{}, test_{};
};

}  // namespace

Result<GatedKernel> add_gates(ptx::Module& module, const std::string& kernel, const GateOptions& options) {
  const auto it = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const Function& f) { return f.entry && f.name == kernel; });
  if (it == module.functions.end()) return Error{"no kernel '" + kernel + "'"};
  if (it->refusal) return Error{it->refusal->what};
  return GateWriter(*it, options).run();
}

}  // namespace wm::rewrite

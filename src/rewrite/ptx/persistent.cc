#include "rewrite/ptx/persistent.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "rewrite/ptx/loops.h"
#include "rewrite/ptx/special_values.h"
#include "rewrite/ptx/uniformity.h"

namespace wm::rewrite {
namespace {

using build::Reg;
using ptx::Function;
using ptx::Instruction;
using ptx::Module;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Suffix;
using ptx::Type;

constexpr std::uint32_t kBarriers = 16;
constexpr std::array kVirtual{Special::ctaid_x,  Special::ctaid_y,  Special::ctaid_z,
                              Special::nctaid_x, Special::nctaid_y, Special::nctaid_z};

bool is_barrier(const Instruction& i) { return i.opcode == Opcode::bar || i.opcode == Opcode::barrier; }
bool leaves_kernel(const Instruction& i) { return i.opcode == Opcode::ret || i.opcode == Opcode::exit; }

// The functions that a kernel can reach, itself included, by index.
std::vector<std::uint32_t> reachable(const Module& module, std::uint32_t kernel) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open{kernel};
  while (!open.empty()) {
    const std::uint32_t f = open.back();
    open.pop_back();
    if (!seen.insert(f).second) continue;
    for (const Instruction& i : module.functions[f].body) {
      if (i.opcode == Opcode::call && i.operands[1].kind == Operand::Kind::function)
        open.push_back(i.operands[1].index);
    }
  }
  return {seen.begin(), seen.end()};
}

bool reads_special(const Instruction& i, Special first, Special last) {
  const auto has = [&](const auto& self, const Operand& o) -> bool {
    if (o.kind == Operand::Kind::special && o.special >= first && o.special <= last) return true;
    return std::any_of(o.elements.begin(), o.elements.end(), [&](const Operand& e) { return self(self, e); });
  };
  return std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) { return has(has, o); });
}

// A loop with such an instruction may wait for another block.
bool may_wait(const Instruction& i) {
  const bool global = i.space() == ptx::Space::global || i.space() == ptx::Space::generic;
  if (i.opcode == Opcode::ld) {
    return global && (i.has(Suffix::volatile_) || i.has(Suffix::relaxed) || i.has(Suffix::acquire));
  }
  return i.opcode == Opcode::atom && global && (i.has(Suffix::cas) || i.has(Suffix::exch));
}

std::optional<std::string> objection(const Instruction& i, bool in_kernel) {
  if (i.opcode == Opcode::barrier_cluster || i.opcode == Opcode::mapa || i.opcode == Opcode::getctarank ||
      reads_special(i, Special::is_explicit_cluster, Special::cluster_nctarank)) {
    return "it uses clusters";
  }
  if (i.opcode == Opcode::griddepcontrol) return "it waits for another grid";
  if (reads_special(i, Special::envreg0, Special::envreg31)) return "it synchronises its grid (%envreg)";
  if (i.opcode == Opcode::call && i.operands[1].kind != Operand::Kind::function) return "it calls through a pointer";
  if (i.opcode == Opcode::exit && !in_kernel) return "a function that it calls ends threads";
  if (is_barrier(i) && (i.has(Suffix::arrive) || i.operands.size() > (i.has(Suffix::red) ? 3U : 1U))) {
    return "it has barriers for a part of a block";
  }
  const std::size_t id = i.has(Suffix::red) ? 1 : 0;
  if (is_barrier(i) && i.operands[id].kind != Operand::Kind::integer) return "it chooses barriers at run time";
  return std::nullopt;
}

std::optional<std::string> objection(const Function& f) {
  if (f.refusal) return f.refusal->what;
  if (f.declaration && f.name != "vprintf" && f.name != "__assertfail")
    return "it calls '" + f.name + "' of the driver";
  for (const Instruction& i : f.body) {
    if (auto why = objection(i, f.entry)) return why;
  }
  if (f.body.empty()) return std::nullopt;
  const ptx::ControlFlow flow = ptx::control_flow(f);
  for (const Loop& loop : find_loops(f, flow)) {
    for (const std::uint32_t b : loop.blocks) {
      const auto begin = f.body.begin() + flow.blocks[b].begin, end = f.body.begin() + flow.blocks[b].end;
      if (std::any_of(begin, end, may_wait)) return "a loop of it may wait for another block";
    }
  }
  return std::nullopt;
}

class KernelShape {
 public:
  KernelShape(const Module& module, std::uint32_t kernel)
      : module_(module), kernel_(module.functions[kernel]), reached_(reachable(module, kernel)) {}

  [[nodiscard]] std::optional<std::string> refusal() const {
    for (const Directive& d : kernel_.directives) {
      if (d.name.find("cluster") != std::string::npos) return "it uses clusters";
    }
    for (const std::uint32_t f : reached_) {
      if (auto why = objection(module_.functions[f])) return why;
    }
    if (!free_barrier()) return "it uses all barriers of a block";
    return early_exit();
  }

  // A barrier that nothing of the kernel uses.
  [[nodiscard]] std::optional<std::uint32_t> free_barrier() const {
    std::set<std::uint64_t> used;
    for (const std::uint32_t f : reached_) {
      for (const Instruction& i : module_.functions[f].body) {
        if (is_barrier(i)) used.insert(i.operands[i.has(Suffix::red) ? 1 : 0].bits);
      }
    }
    for (std::uint32_t id = kBarriers; id-- > 0;) {
      if (!used.contains(id)) return id;
    }
    return std::nullopt;
  }

 private:
  using Directive = ptx::Directive;

  [[nodiscard]] bool has_barrier(const Instruction& i) const {
    if (is_barrier(i)) return true;
    if (i.opcode != Opcode::call) return false;
    const auto inside = reachable(module_, i.operands[1].index);
    return std::any_of(inside.begin(), inside.end(), [&](std::uint32_t f) {
      return std::any_of(module_.functions[f].body.begin(), module_.functions[f].body.end(), is_barrier);
    });
  }

  // The hardware does not wait at a barrier for threads that have ended; workers' threads never end before the last
  // virtual block. So some threads of a block must not end before a barrier that others reach.
  [[nodiscard]] std::optional<std::string> early_exit() const {
    const auto& body = kernel_.body;
    if (std::none_of(body.begin(), body.end(), [this](const Instruction& i) { return has_barrier(i); })) return {};
    const ptx::ControlFlow flow = ptx::control_flow(kernel_);
    const Uniformity uniformity(kernel_, flow);
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
      const Instruction& last = body[flow.blocks[b].end - 1];
      if (last.opcode != Opcode::brx_idx && !uniformity.guard_varies(last)) continue;
      const auto blocks = uniformity.divergent_blocks(b);
      const bool ends = leaves_kernel(last) || std::any_of(blocks.begin(), blocks.end(), [&](std::uint32_t d) {
                          return leaves_kernel(body[flow.blocks[d].end - 1]) || flow.blocks[d].end == body.size();
                        });
      if (ends && barrier_follows(flow, b)) return "some threads of a block may end before a barrier that others reach";
    }
    return std::nullopt;
  }

  [[nodiscard]] bool barrier_follows(const ptx::ControlFlow& flow, std::uint32_t from) const {
    std::vector<bool> seen(flow.blocks.size());
    std::vector<std::uint32_t> open(flow.blocks[from].successors);
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      if (seen[b]) continue;
      seen[b] = true;
      for (std::uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
        if (has_barrier(kernel_.body[i])) return true;
      }
      open.insert(open.end(), flow.blocks[b].successors.begin(), flow.blocks[b].successors.end());
    }
    return false;
  }

  const Module& module_;
  const Function& kernel_;
  const std::vector<std::uint32_t> reached_;
};

class WorkerWriter {
 public:
  WorkerWriter(Function& kernel, const SpecialNeeds& needs, std::uint32_t barrier)
      : editor_(kernel), needs_(needs), barrier_(barrier) {}

  void run() {
    add_names();
    prologue();
    take_chunk();
    place_block();
    use_special_values(editor_, needs_, values_);
    editor_.finish();
    replace_exits();
  }

 private:
  void add_names() {
    ptx::Variable control;
    control.name = "wm_control";
    control.space = ptx::Space::param;
    control.type = Type::u64;
    control.align = 8;
    control_ = editor_.add_parameter(control);
    ptx::Variable grid;
    grid.name = "wm_grid";
    grid.space = ptx::Space::param;
    grid.type = Type::b8;
    grid.align = 4;
    grid.shape = {sizeof(PersistentGrid)};
    grid_ = editor_.add_parameter(grid);
    ptx::Variable ticket;
    ticket.name = "wm_ticket";
    ticket.space = ptx::Space::shared;
    ticket.type = Type::b32;
    ticket.align = 4;
    ticket_ = editor_.add_variable(ticket);
    address_ = editor_.add_register("%wm_control", Type::b64);
    first_ = editor_.add_register("%wm_first", Type::pred);
    test_ = editor_.add_register("%wm_test", Type::pred);
    for (Reg* reg : {&block_, &limit_, &total_, &chunk_, &temporary_, &low_, &high_}) {
      *reg = editor_.add_register("%wm_word", Type::b32);
    }
    for (const Special special : kVirtual) values_.emplace(special, editor_.add_register("%wm_id", Type::b32));
    next_ = editor_.add_label("$wm_next");
    fetch_ = editor_.add_label("$wm_fetch");
    fetched_ = editor_.add_label("$wm_fetched");
    start_ = editor_.add_label("$wm_start");
  }

  void op(Opcode opcode, std::vector<Suffix> suffixes, Type type, std::vector<Operand> operands) {
    editor_.emit(build::make(opcode, std::move(suffixes), {type}, std::move(operands)));
  }
  static Operand o(Reg reg) { return build::operand(reg); }
  Reg value(Special special) const { return values_.at(special); }
  void wait_for_all() { editor_.emit(build::make(Opcode::barrier, {Suffix::sync}, {}, {build::number(barrier_)})); }
  void load_grid(Reg to, std::int64_t offset) {
    op(Opcode::ld, {Suffix::param}, Type::b32,
       {o(to), build::at(build::variable(Operand::Scope::parameter, grid_), offset)});
  }

  void prologue() {
    op(Opcode::ld, {Suffix::param}, Type::u64,
       {o(address_), build::at(build::variable(Operand::Scope::parameter, control_))});
    load_grid(value(Special::nctaid_x), 0);
    load_grid(value(Special::nctaid_y), 4);
    load_grid(value(Special::nctaid_z), 8);
    load_grid(chunk_, 12);
    op(Opcode::mul, {Suffix::lo}, Type::u32, {o(total_), o(value(Special::nctaid_x)), o(value(Special::nctaid_y))});
    op(Opcode::mul, {Suffix::lo}, Type::u32, {o(total_), o(total_), o(value(Special::nctaid_z))});
    editor_.emit(build::mov(low_, build::special(Special::tid_x), Type::u32));
    editor_.emit(build::mov(high_, build::special(Special::tid_y), Type::u32));
    op(Opcode::or_, {}, Type::b32, {o(low_), o(low_), o(high_)});
    editor_.emit(build::mov(high_, build::special(Special::tid_z), Type::u32));
    op(Opcode::or_, {}, Type::b32, {o(low_), o(low_), o(high_)});
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(first_), o(low_), build::number(0)});
    editor_.emit(build::branch(fetch_));
    // A virtual block has ended.
    editor_.place(next_);
    op(Opcode::add, {}, Type::u32, {o(block_), o(block_), build::number(1)});
    wait_for_all();
    op(Opcode::setp, {Suffix::lt}, Type::u32, {o(test_), o(block_), o(limit_)});
    editor_.emit(build::only_if(test_, true, build::branch(start_)));
  }

  // The first thread takes the next chunk, if this SM may run more.
  void take_chunk() {
    const auto word = [this](std::int64_t offset) { return build::at(o(address_), offset); };
    const Operand ticket = build::at(build::variable(Operand::Scope::local, ticket_));
    editor_.place(fetch_);
    editor_.emit(build::only_if(first_, false, build::branch(fetched_)));
    editor_.emit(build::mov(block_, build::number(0xffffffffU), Type::u32));
    editor_.emit(build::mov(temporary_, build::special(Special::smid), Type::u32));
    op(Opcode::ld, {Suffix::volatile_, Suffix::global}, Type::u32, {o(low_), word(4)});
    op(Opcode::ld, {Suffix::volatile_, Suffix::global}, Type::u32, {o(high_), word(8)});
    op(Opcode::setp, {Suffix::ge}, Type::u32, {o(test_), o(temporary_), o(low_)});
    editor_.emit(build::make(Opcode::setp, {Suffix::lt, Suffix::and_}, {Type::u32},
                             {o(test_), o(temporary_), o(high_), o(test_)}));
    editor_.emit(build::only_if(
        test_, true,
        build::make(Opcode::atom, {Suffix::global, Suffix::add}, {Type::u32}, {o(block_), word(0), o(chunk_)})));
    op(Opcode::st, {Suffix::shared}, Type::u32, {ticket, o(block_)});
    editor_.place(fetched_);
    wait_for_all();
    op(Opcode::ld, {Suffix::shared}, Type::u32, {o(block_), ticket});
    // The first thread takes the next chunk only after all threads have read this one's number.
    wait_for_all();
    op(Opcode::setp, {Suffix::ge}, Type::u32, {o(test_), o(block_), o(total_)});
    Instruction leave = build::make(Opcode::exit, {}, {}, {});
    editor_.emit(build::only_if(test_, true, std::move(leave)));
    op(Opcode::sub, {}, Type::u32, {o(temporary_), o(total_), o(block_)});
    op(Opcode::min, {}, Type::u32, {o(temporary_), o(temporary_), o(chunk_)});
    op(Opcode::add, {}, Type::u32, {o(limit_), o(block_), o(temporary_)});
  }

  void place_block() {
    const Reg x = value(Special::ctaid_x), y = value(Special::ctaid_y), z = value(Special::ctaid_z);
    editor_.place(start_);
    op(Opcode::div, {}, Type::u32, {o(temporary_), o(block_), o(value(Special::nctaid_x))});
    op(Opcode::rem, {}, Type::u32, {o(x), o(block_), o(value(Special::nctaid_x))});
    op(Opcode::rem, {}, Type::u32, {o(y), o(temporary_), o(value(Special::nctaid_y))});
    op(Opcode::div, {}, Type::u32, {o(z), o(temporary_), o(value(Special::nctaid_y))});
    body_begins_ = editor_.size();
  }

  // Threads that would end go on with the next virtual block.
  void replace_exits() {
    Function& kernel = editor_.function();
    for (std::size_t i = body_begins_; i < kernel.body.size(); ++i) {
      Instruction& instruction = kernel.body[i];
      if (!leaves_kernel(instruction)) continue;
      const ptx::Guard guard = instruction.guard;
      instruction = build::branch(next_);
      instruction.guard = guard;
    }
    if (kernel.body.empty() || kernel.body.back().guard.present || kernel.body.back().opcode != Opcode::bra) {
      kernel.body.push_back(build::branch(next_));
    }
  }

  FunctionEditor editor_;
  const SpecialNeeds& needs_;
  const std::uint32_t barrier_;
  SpecialRegisters values_;
  std::uint32_t control_ = 0, grid_ = 0, ticket_ = 0;
  std::uint32_t next_ = 0, fetch_ = 0, fetched_ = 0, start_ = 0, body_begins_ = 0;
  Reg address_{}, first_{}, test_{}, block_{}, limit_{}, total_{}, chunk_{}, temporary_{}, low_{}, high_{};
};

}  // namespace

Result<void> make_persistent(Module& module, const std::string& name) {
  const auto it = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const Function& f) { return f.entry && f.name == name; });
  if (it == module.functions.end()) return Error{"no kernel '" + name + "'"};
  const auto index = static_cast<std::uint32_t>(it - module.functions.begin());
  const KernelShape shape(module, index);
  if (const auto why = shape.refusal()) return Error{*why};
  const std::uint32_t barrier = *shape.free_barrier();
  const auto needs = find_special_needs(module, kVirtual);
  if (!needs) return needs.error();
  const auto shared_with_others = [&](std::uint32_t f) {
    return !module.functions[f].entry && !needs->by_function[f].empty();
  };
  const auto reached = reachable(module, index);
  const auto kernels =
      std::count_if(module.functions.begin(), module.functions.end(), [](const Function& f) { return f.entry; });
  if (kernels > 1 && std::any_of(reached.begin(), reached.end(), shared_with_others)) {
    return Error{"a function that reads block indices may be called by other kernels of the module"};
  }
  pass_special_values(module, *needs);
  WorkerWriter(module.functions[index], *needs, barrier).run();
  return {};
}

}  // namespace wm::rewrite

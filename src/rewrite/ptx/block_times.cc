#include "rewrite/ptx/block_times.h"

#include <algorithm>

#include "rewrite/ptx/function_editor.h"

namespace wm::rewrite {
namespace {

using build::Reg;
using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Suffix;
using ptx::Type;

bool ends_thread(const Instruction& i) { return i.opcode == Opcode::ret || i.opcode == Opcode::exit; }

class BlockTimeWriter {
 public:
  explicit BlockTimeWriter(Function& kernel) : editor_(kernel) {}

  void run() {
    add_names();
    write_start();
    bool falls_off = true;
    while (!editor_.at_end()) {
      const bool end = ends_thread(editor_.current());
      falls_off = !end || editor_.current().guard.present;
      if (end) {
        write_end_before(editor_.current());
      } else {
        editor_.keep();
      }
    }
    if (falls_off) {
      editor_.place_labels();
      write_end();
      emit(Opcode::ret, {}, {}, {});
    }
    editor_.finish();
  }

 private:
  void add_names() {
    parameter_ = editor_.add_address_parameter("wm_block_times");
    entry_ = editor_.add_register("%wm_block_time", Type::b64);
    time_ = editor_.add_register("%wm_time", Type::b64);
    block_ = editor_.add_register("%wm_block", Type::b32);
    value_ = editor_.add_register("%wm_value", Type::b32);
    test_ = editor_.add_register("%wm_chosen", Type::pred);
  }

  void emit(Opcode opcode, std::vector<Suffix> suffixes, std::vector<Type> types, std::vector<Operand> operands) {
    editor_.emit(build::make(opcode, std::move(suffixes), std::move(types), std::move(operands)));
  }
  void read(Special from) { editor_.emit(build::mov(value_, build::special(from), Type::u32)); }

  // entry_ = the address of this block's BlockTime. Computed at both ends, so that no register is live in between.
  void find_entry() {
    const auto block = [&] { return build::operand(block_); };
    const auto value = [&] { return build::operand(value_); };
    editor_.emit(build::mov(block_, build::special(Special::ctaid_z), Type::u32));
    for (const auto& [size, index] :
         {std::pair{Special::nctaid_y, Special::ctaid_y}, {Special::nctaid_x, Special::ctaid_x}}) {
      read(size);
      emit(Opcode::mul, {Suffix::lo}, {Type::u32}, {block(), block(), value()});
      read(index);
      emit(Opcode::add, {}, {Type::u32}, {block(), block(), value()});
    }
    emit(Opcode::ld, {Suffix::param}, {Type::u64},
         {build::operand(entry_), build::at(build::variable(Operand::Scope::parameter, parameter_))});
    emit(Opcode::mul, {Suffix::wide}, {Type::u32}, {build::operand(time_), block(), build::number(sizeof(BlockTime))});
    emit(Opcode::add, {}, {Type::u64}, {build::operand(entry_), build::operand(entry_), build::operand(time_)});
    editor_.emit(build::mov(time_, build::special(Special::globaltimer), Type::u64));
  }

  void write_start() {
    const std::uint32_t others = editor_.add_label("$wm_started");
    editor_.emit(build::mov(block_, build::special(Special::tid_x), Type::u32));
    for (const Special other : {Special::tid_y, Special::tid_z}) {
      read(other);
      emit(Opcode::or_, {}, {Type::b32}, {build::operand(block_), build::operand(block_), build::operand(value_)});
    }
    emit(Opcode::setp, {Suffix::ne}, {Type::u32}, {build::operand(test_), build::operand(block_), build::number(0)});
    editor_.emit(build::only_if(test_, true, build::branch(others)));
    find_entry();
    emit(Opcode::st, {Suffix::global}, {Type::u64}, {build::at(build::operand(entry_)), build::operand(time_)});
    read(Special::smid);
    emit(Opcode::cvt, {}, {Type::u64, Type::u32}, {build::operand(time_), build::operand(value_)});
    emit(Opcode::st, {Suffix::global}, {Type::u64}, {build::at(build::operand(entry_), 16), build::operand(time_)});
    editor_.place(others);
  }

  // The lane with no active lane below it writes.
  void write_end() {
    const std::uint32_t others = editor_.add_label("$wm_ended");
    emit(Opcode::activemask, {}, {Type::b32}, {build::operand(block_)});
    read(Special::lanemask_lt);
    emit(Opcode::and_, {}, {Type::b32}, {build::operand(block_), build::operand(block_), build::operand(value_)});
    emit(Opcode::setp, {Suffix::ne}, {Type::u32}, {build::operand(test_), build::operand(block_), build::number(0)});
    editor_.emit(build::only_if(test_, true, build::branch(others)));
    find_entry();
    emit(Opcode::red, {Suffix::global, Suffix::max}, {Type::u64},
         {build::at(build::operand(entry_), 8), build::operand(time_)});
    editor_.place(others);
  }

  void write_end_before(Instruction end) {
    editor_.place_labels();
    std::uint32_t around = 0;
    const bool guarded = end.guard.present;
    if (guarded) {
      around = editor_.add_label("$wm_goes_on");
      editor_.emit(build::only_if({end.guard.reg}, end.guard.negated, build::branch(around)));
      end.guard = {};
    }
    write_end();
    editor_.emit(std::move(end));
    editor_.skip();
    if (guarded) editor_.place(around);
  }

  FunctionEditor editor_;
  std::uint32_t parameter_ = 0;
  Reg entry_{}, time_{}, block_{}, value_{}, test_{};
};

}  // namespace

Result<void> add_block_times(ptx::Module& module, const std::string& kernel) {
  const auto it = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const Function& f) { return f.entry && f.name == kernel; });
  if (it == module.functions.end()) return Error{"no kernel '" + kernel + "'"};
  if (it->refusal) return Error{it->refusal->what};
  for (const Function& f : module.functions) {
    if (!f.entry &&
        std::any_of(f.body.begin(), f.body.end(), [](const Instruction& i) { return i.opcode == Opcode::exit; }))
      return Error{"'" + f.name + "' ends threads of the kernel that calls it"};
  }
  BlockTimeWriter(*it).run();
  return {};
}

}  // namespace wm::rewrite

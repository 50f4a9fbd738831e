// call{.uni} (results), target, (arguments), prototype;
#include <fmt/format.h>

#include "ptx/body_parser.h"

namespace wm::ptx {

Operand BodyParser::arguments() {
  Operand list;
  list.kind = Operand::Kind::arguments;
  tokens_.expect('(', "before arguments");
  if (tokens_.accept(')')) return list;
  do {
    const Position at = tokens_.current().position;
    Operand argument = operand_without_pair();
    switch (argument.kind) {
      case Operand::Kind::reg:
      case Operand::Kind::integer:
      case Operand::Kind::f32:
      case Operand::Kind::f64:
      case Operand::Kind::variable:
        break;
      default:
        tokens_.fail(at, "an argument is a .param variable, a register or a number");
    }
    list.elements.push_back(std::move(argument));
  } while (tokens_.accept(','));
  tokens_.expect(')', "after arguments");
  return list;
}

void BodyParser::check_call(const Instruction& instruction, std::span<const Variable> results,
                            std::span<const Variable> parameters) const {
  const auto check = [&](const Operand& given, std::span<const Variable> wanted, std::string_view what) {
    if (given.elements.size() == wanted.size()) return;
    tokens_.fail(instruction.position,
                 fmt::format("the call gives {} {}, expected {}", given.elements.size(), what, wanted.size()));
  };
  check(instruction.operands[0], results, "results");
  check(instruction.operands[2], parameters, "arguments");
}

void BodyParser::call(Instruction& instruction) {
  for (const Token& part : parts_)
    if (part.text != "uni" || parts_.size() > 1) {
      tokens_.fail(part.position, fmt::format("unexpected '.{}' in 'call', expected .uni or nothing", part.text));
    }
  Operand none;
  none.kind = Operand::Kind::arguments;
  instruction.operands.assign(3, none);
  if (tokens_.current().is('(')) {
    instruction.operands[0] = arguments();
    tokens_.expect(',', "after a call's results");
  }
  const Token target = tokens_.expect_identifier("a function or a register");
  instruction.operands[1] = named(target);
  const bool direct = instruction.operands[1].kind == Operand::Kind::function;
  const bool indirect = instruction.operands[1].kind == Operand::Kind::reg &&
                        bits(function_.registers[instruction.operands[1].index].type) == 64;
  if (!direct && !indirect) {
    tokens_.fail(target.position, fmt::format("'{}' is neither a function nor a 64-bit register", target.text));
  }
  bool more = tokens_.accept(',');
  if (more && tokens_.current().is('(')) {
    instruction.operands[2] = arguments();
    more = tokens_.accept(',');
  }
  if (direct && !more) {
    const Function& callee = module_.functions[instruction.operands[1].index];
    if (callee.entry) tokens_.fail(target.position, fmt::format("'{}' is a kernel and cannot be called", target.text));
    check_call(instruction, callee.results, callee.parameters);
  } else {
    call_through(instruction, target, more);
  }
  tokens_.expect(';', "after an instruction");
}

// The list of targets, or the prototype, of an indirect call.
void BodyParser::call_through(Instruction& instruction, const Token& target, bool more) {
  const Token table = more ? tokens_.expect_identifier("the name of .calltargets or .callprototype") : target;
  Operand operand = more ? named(table) : Operand{};
  if (operand.kind == Operand::Kind::prototype) {
    const Prototype& prototype = function_.prototypes[operand.index];
    check_call(instruction, prototype.results, prototype.parameters);
  } else if (operand.kind == Operand::Kind::call_targets) {
    const CallTable& targets = function_.call_tables[operand.index];
    for (const std::uint32_t f : targets.functions) {
      check_call(instruction, module_.functions[f].results, module_.functions[f].parameters);
    }
  } else {
    tokens_.fail(table.position, "an indirect call needs the name of .calltargets or .callprototype");
  }
  instruction.operands.push_back(std::move(operand));
}

}  // namespace wm::ptx

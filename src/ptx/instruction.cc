// An instruction: its guard, its name understood part by part, and the form its operands fit.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "ptx/body_parser.h"
#include "ptx/operand_check.h"

namespace wm::ptx {
namespace {

// Instructions PTX has and warpmux does not; anything else is a misspelling.
constexpr std::string_view kUnsupported[] = {
    "clusterlaunchcontrol",
    "cp",
    "istypep",
    "mbarrier",
    "multimem",
    "suld",
    "sured",
    "sust",
    "tcgen05",
    "tensormap",
    "vabsdiff",
    "vadd",
    "vmad",
    "vmax",
    "vmin",
    "vset",
    "vshl",
    "vshr",
    "vsub",
    "wgmma",
    "wmma",
};

// The text of `first` and of the `count` dotted tokens after it, if nothing stands between them.
std::string_view joined(const Token& first, const std::vector<Token>& parts, std::size_t count) {
  if (count == 0) return first.text;
  const char* end = parts[count - 1].text.data() + parts[count - 1].text.size();
  return {first.text.data(), static_cast<std::size_t>(end - first.text.data())};
}

constexpr bool has_dotted_family(std::string_view name) {
  return name == "cp" || name == "bar" || name == "barrier" || name == "brx" || name == "cvt" || name == "wmma" ||
         name == "mbarrier" || name == "suld" || name == "sust" || name == "sured";
}

}  // namespace

Guard BodyParser::guard() {
  Guard result;
  if (!tokens_.accept('@')) return result;
  result.present = true;
  result.negated = tokens_.accept('!');
  result.reg = predicate_named(tokens_.expect_identifier("a predicate after '@'"));
  return result;
}

void BodyParser::mnemonic(Instruction& instruction) {
  const Token first = tokens_.expect_identifier("an instruction");
  instruction.position = first.position;
  parts_.clear();
  name_parts_.clear();
  while (tokens_.current().kind == TokenKind::dotted) parts_.push_back(tokens_.advance());

  std::optional<Opcode> opcode;
  std::size_t used = has_dotted_family(first.text) ? std::min<std::size_t>(3, parts_.size()) : 0;
  for (;; --used) {
    opcode = opcode_named(joined(first, parts_, used));
    if (opcode || used == 0) break;
  }
  if (!opcode) {
    const bool known =
        std::find(std::begin(kUnsupported), std::end(kUnsupported), first.text) != std::end(kUnsupported);
    tokens_.fail(first.position, fmt::format("{} instruction '{}'", known ? "unsupported" : "unknown", first.text));
  }
  instruction.opcode = *opcode;
  parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(used));
  for (const Token& part : parts_) {
    if (const auto type = type_named(part.text)) {
      name_parts_.emplace_back(*type);
      instruction.types.push_back(*type);
    } else if (const auto suffix = suffix_named(part.text)) {
      name_parts_.emplace_back(*suffix);
      instruction.suffixes.push_back(*suffix);
    } else {
      tokens_.fail(part.position, fmt::format("unknown suffix '.{}' of '{}'", part.text, name(*opcode)));
    }
  }
}

std::string BodyParser::mnemonic_text(const Instruction& instruction) const {
  std::string text(name(instruction.opcode));
  for (const Token& part : parts_) text += fmt::format(".{}", part.text);
  return text;
}

void BodyParser::instruction() {
  Instruction instruction;
  instruction.source = source_;
  const Position begin = tokens_.current().position;
  instruction.guard = guard();
  mnemonic(instruction);
  instruction.position = begin;
  positions_.clear();
  if (instruction.opcode == Opcode::call) {
    call(instruction);
  } else {
    if (!tokens_.current().is(';')) {
      do {
        positions_.push_back(tokens_.current().position);
        instruction.operands.push_back(instruction.opcode == Opcode::bra ? label() : operand());
      } while (tokens_.accept(','));
    }
    choose_form(instruction);
    tokens_.expect(';', "after an instruction");
  }
  function_.body.push_back(std::move(instruction));
}

// The part at which the forms that got farthest gave up, and what they would have taken there.
void BodyParser::fail_name(const Instruction& instruction) const {
  std::size_t farthest = 0;
  NameParts expected;
  bool may_end = false;
  for (const Form& form : forms(instruction.opcode)) {
    const NameMatch match = match_name(form, name_parts_);
    if (match.matched > farthest) {
      farthest = match.matched;
      expected.reset();
      may_end = false;
    }
    if (match.matched != farthest) continue;
    expected |= match.expected;
    may_end = may_end || match.may_end;
  }
  const std::string list = expected.none() ? "nothing more" : list_parts(expected) + (may_end ? " or nothing" : "");
  if (farthest < parts_.size()) {
    tokens_.fail(parts_[farthest].position, fmt::format("unexpected '.{}' in '{}', expected {}", parts_[farthest].text,
                                                        mnemonic_text(instruction), list));
  }
  tokens_.fail(instruction.position, fmt::format("'{}' is incomplete, expected {}", mnemonic_text(instruction), list));
}

// ptxas takes the parts of a name in any order and headers use that (atom.add.release.gpu.u32); the IR keeps the ISA's.
void BodyParser::put_name_in_order(Instruction& instruction) {
  const auto all = forms(instruction.opcode);
  const auto fits = [&](const Form& form) { return match_name(form, name_parts_).complete; };
  if (std::any_of(all.begin(), all.end(), fits)) return;
  for (const Form& form : all) {
    const std::vector<std::size_t> order = match_in_any_order(form, name_parts_);
    if (order.empty()) continue;
    std::vector<Token> parts;
    std::vector<NamePart> name_parts;
    for (const std::size_t i : order) {
      parts.push_back(parts_[i]);
      name_parts.push_back(name_parts_[i]);
    }
    parts_ = std::move(parts);
    name_parts_ = std::move(name_parts);
    instruction.suffixes.clear();
    for (const NamePart part : name_parts_)
      if (!part.is_type()) instruction.suffixes.push_back(part.suffix());
    return;
  }
}

void BodyParser::choose_form(Instruction& instruction) {
  put_name_in_order(instruction);
  const OperandCheck check{function_, instruction};
  if (instruction.opcode < Opcode::vadd2 || instruction.opcode > Opcode::vset4) {
    for (std::size_t i = 0; i < instruction.operands.size(); ++i)
      if (instruction.operands[i].kind == Operand::Kind::reg && instruction.operands[i].bits != 0)
        tokens_.fail(positions_[i], fmt::format("'{}' takes whole registers only", mnemonic_text(instruction)));
  }
  bool named = false;
  std::size_t farthest = 0;
  std::string complaint;
  std::size_t min_operands = SIZE_MAX;
  std::size_t max_operands = 0;
  for (const Form& form : forms(instruction.opcode)) {
    if (!match_name(form, name_parts_).complete) continue;
    named = true;
    min_operands = std::min(min_operands, form.required);
    max_operands = std::max(max_operands, form.operands.size());
    if (instruction.operands.size() < form.required || instruction.operands.size() > form.operands.size()) continue;
    std::size_t fits = 0;
    while (fits < instruction.operands.size() && check.fits(form.operands[fits], instruction.operands[fits])) ++fits;
    if (fits == instruction.operands.size()) {
      for (std::size_t i = 0; i < fits; ++i) check.settle(form.operands[i], instruction.operands[i]);
      return;
    }
    if (complaint.empty() || fits > farthest) {
      farthest = fits;
      complaint = check.expected(form.operands[fits]);
    }
  }
  if (!named) fail_name(instruction);
  if (complaint.empty()) {
    const std::string count = min_operands == max_operands ? fmt::format("{}", max_operands)
                                                           : fmt::format("{} to {}", min_operands, max_operands);
    tokens_.fail(instruction.position, fmt::format("'{}' takes {} operand{}, found {}", mnemonic_text(instruction),
                                                   count, max_operands == 1 ? "" : "s", instruction.operands.size()));
  }
  tokens_.fail(positions_[farthest],
               fmt::format("operand {} of '{}' is {}, expected {}", farthest + 1, mnemonic_text(instruction),
                           check.describe(instruction.operands[farthest]), complaint));
}

}  // namespace wm::ptx

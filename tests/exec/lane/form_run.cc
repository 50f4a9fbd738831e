#include "exec/lane/form_run.h"

#include <algorithm>

namespace wm::exec::test {

namespace {

using ptx::Operand;
using ptx::Type;

Type type_of(const semantics::Place& place) {
  return place.type == "carry" ? Type::pred : *ptx::type_named(place.type);
}

// At commas that stand outside braces.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace

FormRun::FormRun(const semantics::Form& form)
    : form_(form),
      instruction_(named(form.name)),
      warp_(static_cast<int>(form.destinations.size() + form.sources.size()) + 1) {
  for (const std::string& part : split(form.operands, ',')) instruction_.operands.push_back(operand(part));
  decode();
}

// A register's index is its row: destinations first, then sources.
Operand FormRun::operand(const std::string& text) {
  Operand result;
  if (text[0] == '{' || text.find('|') != std::string::npos) {
    const bool vector = text[0] == '{';
    result.kind = vector ? Operand::Kind::vector : Operand::Kind::pair;
    const std::string inner = vector ? text.substr(1, text.size() - 2) : text;
    for (const std::string& part : split(inner, vector ? ',' : '|')) result.elements.push_back(operand(part));
  } else if (text == "_") {
    result.kind = Operand::Kind::sink;
  } else if (text[0] == '!' || text[0] == 'd' || text[0] == 's') {
    result.kind = Operand::Kind::reg;
    result.negated = text[0] == '!';
    const std::string name = text.substr(result.negated ? 1 : 0);
    const auto count = static_cast<std::uint32_t>(std::stoul(name.substr(1)));
    result.index = name[0] == 'd' ? count : count + static_cast<std::uint32_t>(form_.destinations.size());
  } else {
    result.kind = Operand::Kind::integer;
    result.bits = std::stoull(text, nullptr, 0);
  }
  return result;
}

RegisterRow FormRun::row_of(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg ? Warp::row(static_cast<int>(operand.index)) : RegisterRow{};
}

Type FormRun::register_type(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg) return Type::none;
  const std::size_t destinations = form_.destinations.size();
  return type_of(operand.index < destinations ? form_.destinations[operand.index]
                                              : form_.sources[operand.index - destinations]);
}

void FormRun::decode() {
  std::vector<Type> types;
  for (const Operand& operand : instruction_.operands) types.push_back(register_type(operand));
  const auto op = lane_op(instruction_, types);
  if (!op) throw std::invalid_argument(op.error().to_string());
  op_ = *op;
  operands_.immediate = lane_immediate(instruction_, types);
  std::size_t source = 0;
  for (std::size_t i = 0; i < instruction_.operands.size(); ++i) {
    const Operand& operand = instruction_.operands[i];
    const bool group = operand.kind == Operand::Kind::vector;
    for (const Operand& element : operand.elements)
      if (group) more_.push_back(row_of(element));
    if (operand.kind == Operand::Kind::reg) more_.push_back(row_of(operand));
    if (i == 0 && operand.kind == Operand::Kind::pair) {
      operands_.destination = {row_of(operand.elements[0]), row_of(operand.elements[1])};
    } else if (i == 0) {
      operands_.destination[0] = row_of(operand);
    } else if (!group && lane_operand_type(instruction_, i) != Type::none) {
      operands_.negated[source] = operand.negated;
      operands_.source[source++] = row_of(operand);
    }
  }
  const int destinations = static_cast<int>(form_.destinations.size());
  if (form_.destinations.back().type == "carry") operands_.destination[1] = Warp::row(destinations - 1);
  if (form_.sources.back().type == "carry")
    operands_.source[3] = Warp::row(destinations + static_cast<int>(form_.sources.size()) - 1);
  operands_.more = more_;
}

std::vector<std::uint64_t> FormRun::warp(std::span<const semantics::Element> elements, Mask active) {
  Row row;
  row.fill(kPoison);
  // The table of forms gives the borrow of a subtraction; the executor keeps its complement, the carry.
  const bool borrows = form_.name.substr(0, 3) == "sub";
  const auto flip = [&](const semantics::Place& place) {
    if (borrows && place.type == "carry")
      for (std::uint64_t& value : row) value ^= 1U;
  };
  const std::size_t destinations = form_.destinations.size();
  for (std::size_t d = 0; d < destinations; ++d) {
    flip(form_.destinations[d]);
    warp_.set(static_cast<int>(d), type_of(form_.destinations[d]), row);
    flip(form_.destinations[d]);
  }
  for (std::size_t s = 0; s < form_.sources.size(); ++s) {
    for (std::size_t i = 0; i < kLanes; ++i) row[i] = elements[i][s];
    flip(form_.sources[s]);
    warp_.set(static_cast<int>(destinations + s), type_of(form_.sources[s]), row);
  }
  warp_.run(op_, operands_, active);
  std::vector<std::uint64_t> outputs(kLanes * destinations);
  for (std::size_t d = 0; d < destinations; ++d) {
    row = warp_.get(static_cast<int>(d), type_of(form_.destinations[d]));
    flip(form_.destinations[d]);
    for (std::size_t i = 0; i < kLanes; ++i) outputs[i * destinations + d] = row[i];
  }
  return outputs;
}

std::vector<std::uint64_t> FormRun::all(std::span<const semantics::Element> elements) {
  std::vector<std::uint64_t> outputs;
  for (std::size_t at = 0; at + kLanes <= elements.size(); at += kLanes) {
    const auto part = warp(elements.subspan(at, kLanes));
    outputs.insert(outputs.end(), part.begin(), part.end());
  }
  return outputs;
}

}  // namespace wm::exec::test

#include "rewrite/ptx/function_editor.h"

#include <algorithm>
#include <utility>

namespace wm::rewrite {
namespace {

constexpr std::uint32_t kUnknown = 0xffffffffU;

// `base`, or `base` with a number behind it where the function has such a name.
template <typename List>
std::string unique_name(const List& list, std::string_view base) {
  std::string name(base);
  const auto taken = [&] {
    return std::any_of(list.begin(), list.end(), [&](const auto& x) { return x.name == name; });
  };
  for (int n = 2; taken(); ++n) name = std::string(base) + "_" + std::to_string(n);
  return name;
}

}  // namespace

FunctionEditor::FunctionEditor(ptx::Function& function)
    : function_(function),
      old_labels_(function.labels.size()),
      old_(std::move(function.body)),
      new_place_(old_.size() + 1, kUnknown) {
  body_.reserve(old_.size() + old_.size() / 8 + 16);
}

build::Reg FunctionEditor::add_register(std::string_view name, ptx::Type type) {
  function_.registers.push_back({unique_name(function_.registers, name), type});
  return {static_cast<std::uint32_t>(function_.registers.size() - 1)};
}

std::uint32_t FunctionEditor::add_label(std::string_view name) {
  function_.labels.push_back({unique_name(function_.labels, name), 0});
  return static_cast<std::uint32_t>(function_.labels.size() - 1);
}

std::uint32_t FunctionEditor::add_variable(ptx::Variable variable) {
  variable.name = unique_name(function_.variables, variable.name);
  function_.variables.push_back(std::move(variable));
  return static_cast<std::uint32_t>(function_.variables.size() - 1);
}

std::uint32_t FunctionEditor::add_parameter(ptx::Variable variable) {
  variable.name = unique_name(function_.parameters, variable.name);
  function_.parameters.push_back(std::move(variable));
  return static_cast<std::uint32_t>(function_.parameters.size() - 1);
}

std::uint32_t FunctionEditor::add_address_parameter(std::string_view name) {
  ptx::Variable address;
  address.name = name;
  address.space = ptx::Space::param;
  address.type = ptx::Type::u64;
  address.align = 8;
  return add_parameter(std::move(address));
}

void FunctionEditor::place_labels() {
  if (new_place_[at_] == kUnknown) new_place_[at_] = size();
}

void FunctionEditor::replace(ptx::Instruction instruction) {
  place_labels();
  body_.push_back(std::move(instruction));
  ++at_;
}

void FunctionEditor::skip() {
  place_labels();
  ++at_;
}

void FunctionEditor::finish() {
  while (!at_end()) keep();
  place_labels();
  for (std::size_t i = 0; i < old_labels_; ++i) function_.labels[i].at = new_place_[function_.labels[i].at];
  for (ptx::Pragma& pragma : function_.pragmas) pragma.at = new_place_[pragma.at];
  function_.body = std::move(body_);
}

}  // namespace wm::rewrite

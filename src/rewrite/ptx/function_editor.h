// Rebuilds the body of a PTX function: code is inserted before, between and in place of its instructions, while labels
// and pragmas keep their places.
//
// A pass walks the old body once, in order:
//
//   FunctionEditor editor(function);
//   while (!editor.at_end()) { … editor.emit(…); editor.keep(); … }
//   editor.finish();
//
// Code that is emitted before an instruction is executed by threads that fall through to it. Threads that jump to its
// label execute the code too if `place_labels` was called first.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/build.h"

namespace wm::rewrite {

namespace build = ptx::build;

class FunctionEditor {
 public:
  explicit FunctionEditor(ptx::Function& function);

  // --- names: each is made unique in the function
  build::Reg add_register(std::string_view name, ptx::Type type);
  std::uint32_t add_label(std::string_view name);
  std::uint32_t add_variable(ptx::Variable variable);
  std::uint32_t add_parameter(ptx::Variable variable);
  std::uint32_t add_address_parameter(std::string_view name);

  // --- the walk over the old body
  [[nodiscard]] bool at_end() const { return at_ == old_.size(); }
  [[nodiscard]] std::uint32_t index() const { return at_; }
  [[nodiscard]] const ptx::Instruction& current() const { return old_[at_]; }
  // Copies the instruction, or another in its place, and goes on.
  void keep() { replace(old_[at_]); }
  void replace(ptx::Instruction instruction);
  // Leaves the instruction out and goes on.
  void skip();

  // The labels of the current instruction stand before what is emitted next.
  void place_labels();
  void emit(ptx::Instruction instruction) { body_.push_back(std::move(instruction)); }
  // The label stands before what is emitted next.
  void place(std::uint32_t label) { function_.labels[label].at = size(); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(body_.size()); }

  // Copies what is left of the old body and puts the new one in its place.
  void finish();

  [[nodiscard]] ptx::Function& function() { return function_; }

 private:
  ptx::Function& function_;
  const std::size_t old_labels_;
  std::vector<ptx::Instruction> old_;
  std::vector<ptx::Instruction> body_;
  std::vector<std::uint32_t> new_place_;  // by old index
  std::uint32_t at_ = 0;
};

}  // namespace wm::rewrite

// A function's body: statements, instructions, operands. One object a function.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/forms.h"
#include "ptx/ir.h"
#include "ptx/module_names.h"
#include "ptx/scope.h"
#include "ptx/token_stream.h"

namespace wm::ptx {

// A .loc seen, to be checked against the .file table when the module is complete.
struct FileUse {
  std::uint32_t file = 0;
  Position position;
};

class BodyParser {
 public:
  BodyParser(TokenStream& tokens, const Module& module, const ModuleNames& names, Function& function);

  // From the `{` to the `}`.
  void parse();
  [[nodiscard]] FileUse largest_file() const { return largest_file_; }

 private:
  // body_parser.cc: statements
  void statement();
  void directive();
  void registers();
  void variables(Space space);
  void location();
  void pragma();
  void label_or_table();
  void branch_targets(const Token& name);
  void call_targets(const Token& name);
  void call_prototype(const Token& name);

  // instruction.cc: an instruction's name, and which form its operands fit
  void instruction();
  Guard guard();
  void mnemonic(Instruction& instruction);
  void choose_form(Instruction& instruction);
  void put_name_in_order(Instruction& instruction);
  [[noreturn]] void fail_name(const Instruction& instruction) const;
  [[nodiscard]] std::string mnemonic_text(const Instruction& instruction) const;

  // operands.cc: operands as written
  Operand operand();
  Operand operand_without_pair();
  Operand number();
  Operand address();
  Operand texture(Operand result);
  std::uint64_t selection();
  Operand vector();
  Operand named(const Token& name);
  Operand label();
  std::int64_t offset();
  Operand special(const Token& name);
  std::uint32_t predicate_named(const Token& name);

  // call.cc
  void call(Instruction& instruction);
  void call_through(Instruction& instruction, const Token& target, bool more);
  Operand arguments();
  void check_call(const Instruction& instruction, std::span<const Variable> results,
                  std::span<const Variable> parameters) const;

  TokenStream& tokens_;
  const Module& module_;
  const ModuleNames& names_;
  Function& function_;
  Scopes scopes_;
  SourceLine source_;
  FileUse largest_file_;
  std::vector<Token> parts_;          // parts of the mnemonic being read
  std::vector<NamePart> name_parts_;  // the same, understood
  std::vector<Position> positions_;   // positions of the operands being read
};

}  // namespace wm::ptx

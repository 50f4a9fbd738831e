// Conditions of a program on predefined macros: `#ifdef cl_khr_fp64`, `#if __OPENCL_VERSION__ >= 200`. The device's
// compiler may define these differently from this clang, so the assumptions are reported with the result.
#pragma once

#include <clang/Lex/PPCallbacks.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewrite/program.h"

namespace clang {
class MacroInfo;
class Preprocessor;
}  // namespace clang

namespace wm::rewrite {

struct UsedMacros {
  std::set<std::string> values;                   // macros whose value a condition looked into
  std::map<std::string, Assumption> assumptions;  // by name
};

class Conditions final : public clang::PPCallbacks {
 public:
  // `own`: names that the build options define or undefine.
  Conditions(const clang::Preprocessor& pp, const std::set<std::string>& own, UsedMacros& used_macros)
      : pp_(pp), own_(own), used_macros_(used_macros) {}

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& definition, clang::SourceRange range,
                    const clang::MacroArgs* arguments) override;
  void Defined(const clang::Token& name, const clang::MacroDefinition& definition, clang::SourceRange range) override;
  void Ifdef(clang::SourceLocation at, const clang::Token& name, const clang::MacroDefinition& definition) override;
  void Ifndef(clang::SourceLocation at, const clang::Token& name, const clang::MacroDefinition& definition) override;
  void Elifdef(clang::SourceLocation at, const clang::Token& name, const clang::MacroDefinition& definition) override;
  void Elifndef(clang::SourceLocation at, const clang::Token& name, const clang::MacroDefinition& definition) override;
  void If(clang::SourceLocation at, clang::SourceRange condition, ConditionValueKind value) override;
  void Elif(clang::SourceLocation at, clang::SourceRange condition, ConditionValueKind value,
            clang::SourceLocation first) override;

 private:
  void note(const clang::IdentifierInfo* name, bool valued);
  // Names in the condition that stand for nothing here, which no other call tells of.
  void look_for_unknown(clang::SourceRange condition);
  void look_for_unknown(const clang::IdentifierInfo* name, std::set<const clang::IdentifierInfo*>& seen);
  [[nodiscard]] bool is_the_programs(const clang::MacroInfo& macro) const;

  const clang::Preprocessor& pp_;
  const std::set<std::string>& own_;
  UsedMacros& used_macros_;
};

}  // namespace wm::rewrite

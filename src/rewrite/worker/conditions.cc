#include "rewrite/worker/conditions.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/Preprocessor.h>

namespace wm::rewrite {
namespace {

std::string text_of(const clang::Preprocessor& pp, const clang::MacroInfo& macro) {
  std::string text;
  for (const clang::Token& part : macro.tokens()) text += (text.empty() ? "" : " ") + pp.getSpelling(part);
  return text;
}

// The value of a single integer literal as decimal text; empty for anything else.
std::string number_of(const std::string& text) {
  unsigned long long value = 0;
  llvm::StringRef digits = llvm::StringRef(text).rtrim("uUlL");
  return digits.empty() || digits.getAsInteger(0, value) ? std::string{} : std::to_string(value);
}

}  // namespace

bool Conditions::is_the_programs(const clang::MacroInfo& macro) const {
  const clang::SourceManager& sources = pp_.getSourceManager();
  const clang::SourceLocation at = macro.getDefinitionLoc();
  return !sources.isWrittenInBuiltinFile(at) && !sources.isWrittenInCommandLineFile(at);
}

void Conditions::note(const clang::IdentifierInfo* name, bool valued) {
  const std::string spelled = name->getName().str();
  const clang::MacroInfo* macro = pp_.getMacroInfo(name);
  if (own_.contains(spelled)) return;
  if (macro != nullptr && (macro->isBuiltinMacro() || is_the_programs(*macro))) return;
  Assumption& assumption = used_macros_.assumptions[spelled];
  assumption.name = spelled;
  assumption.defined = macro != nullptr;
  assumption.valued = assumption.valued || valued;
  assumption.value = macro != nullptr ? number_of(text_of(pp_, *macro)) : std::string{};
}

void Conditions::MacroExpands(const clang::Token& name, const clang::MacroDefinition& definition, clang::SourceRange,
                              const clang::MacroArgs*) {
  const clang::IdentifierInfo* identifier = name.getIdentifierInfo();
  if (pp_.isParsingIfOrElifDirective()) {
    used_macros_.values.insert(identifier->getName().str());
    return note(identifier, true);
  }
  // A macro that is kept as a name is expanded by the device's compiler.
  const clang::MacroInfo* macro = definition.getMacroInfo();
  if (macro != nullptr && text_of(pp_, *macro) != identifier->getName()) note(identifier, true);
}

void Conditions::Defined(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange) {
  note(name.getIdentifierInfo(), false);
}
void Conditions::Ifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) {
  note(name.getIdentifierInfo(), false);
}
void Conditions::Ifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) {
  note(name.getIdentifierInfo(), false);
}
void Conditions::Elifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) {
  note(name.getIdentifierInfo(), false);
}
void Conditions::Elifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) {
  note(name.getIdentifierInfo(), false);
}
void Conditions::If(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind) {
  look_for_unknown(condition);
}
void Conditions::Elif(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind value,
                      clang::SourceLocation) {
  if (value != CVK_NotEvaluated) look_for_unknown(condition);
}

void Conditions::look_for_unknown(clang::SourceRange condition) {
  const clang::SourceManager& sources = pp_.getSourceManager();
  const llvm::StringRef text =
      clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(condition), sources, pp_.getLangOpts());
  const std::string copy = text.str();  // the lexer wants a zero behind it
  clang::Lexer lexer({}, pp_.getLangOpts(), copy.data(), copy.data(), copy.data() + copy.size());
  std::set<const clang::IdentifierInfo*> seen;
  bool only_whether = false;  // inside `defined`, which another callback reports
  clang::Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(clang::tok::eof); lexer.LexFromRawLexer(token)) {
    if (token.isNot(clang::tok::raw_identifier)) continue;
    const clang::IdentifierInfo* name = pp_.getIdentifierInfo(token.getRawIdentifier());
    if (!only_whether) look_for_unknown(name, seen);
    only_whether = name->getName() == "defined";
  }
}

void Conditions::look_for_unknown(const clang::IdentifierInfo* name, std::set<const clang::IdentifierInfo*>& seen) {
  if (name->getName() == "defined" || !seen.insert(name).second) return;
  const clang::MacroInfo* macro = pp_.getMacroInfo(name);
  if (macro == nullptr) return note(name, true);
  if (!is_the_programs(*macro) && !own_.contains(name->getName().str())) return;
  bool only_whether = false;
  for (const clang::Token& part : macro->tokens()) {
    const clang::IdentifierInfo* inner = part.getIdentifierInfo();
    if (inner == nullptr) continue;
    if (!only_whether && macro->getParameterNum(inner) < 0) look_for_unknown(inner, seen);
    only_whether = inner->getName() == "defined";
  }
}

}  // namespace wm::rewrite

#include "rewrite/worker/survey.h"

#include <algorithm>
#include <array>
#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <map>

#include "rewrite/worker/kernel_info.h"
#include "rewrite/worker/marks.h"
#include "rewrite/worker/spin.h"
#include "rewrite/worker/text.h"

namespace wm::rewrite {
namespace {

using FunctionIndex = std::map<const clang::FunctionDecl*, std::size_t>;  // by first declaration; never iterated

std::optional<Query> query_named(llvm::StringRef name) {
  if (name == "get_group_id") return Query::group_id;
  if (name == "get_num_groups") return Query::num_groups;
  if (name == "get_global_id") return Query::global_id;
  if (name == "get_global_size") return Query::global_size;
  if (name == "get_global_offset") return Query::global_offset;
  if (name == "get_work_dim") return Query::work_dim;
  if (name == "get_global_linear_id") return Query::global_linear_id;
  if (name == "get_local_id") return Query::local_id;
  if (name == "get_local_size") return Query::local_size;
  return std::nullopt;
}

// Why a kernel that calls this built-in is not rewritten; empty for built-ins that only concern their own group.
std::string objection_to(llvm::StringRef name) {
  const auto is_one_of = [name](auto... prefixes) { return (name.starts_with(prefixes) || ...); };
  if (name.contains("sub_group") || name == "get_max_sub_group_size") return "uses sub-groups (" + name.str() + ")";
  if (is_one_of("enqueue_", "get_default_queue", "ndrange_", "create_user_event", "retain_event", "release_event",
                "set_user_event_status", "capture_event_profiling_info", "get_kernel_"))
    return "enqueues work on the device (" + name.str() + ")";
  if (name.contains("_pipe")) return "uses pipes (" + name.str() + ")";
  if (name.contains("named_barrier")) return "uses named barriers (" + name.str() + ")";
  if (is_one_of("__nvvm_read_ptx_sreg", "__builtin_amdgcn", "__builtin_ptx"))
    return "reads registers of the device (" + name.str() + ")";
  return {};
}

class BodySurvey : public clang::RecursiveASTVisitor<BodySurvey> {
 public:
  BodySurvey(clang::ASTContext& context, const Text& text, const FunctionIndex& index, Function& out)
      : context_(context), text_(text), index_(index), out_(out) {}

  bool VisitCallExpr(clang::CallExpr* call) {  // NOLINT(readability-identifier-naming): clang's name
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) return refuse("calls through a pointer or a block");
    if (const auto found = index_.find(callee->getCanonicalDecl()); found != index_.end()) {
      return note_call(call, found->second);
    }
    const llvm::StringRef name = callee->getName();
    if (std::string why = objection_to(name); !why.empty()) return refuse(std::move(why));
    if (const auto query = query_named(name)) return note_query(call, *query);
    return !is_barrier_name(name.str()) || note_barrier(call);
  }

  bool VisitDeclStmt(clang::DeclStmt* statement) {  // NOLINT(readability-identifier-naming)
    std::size_t in_local = 0;
    for (const clang::Decl* decl : statement->decls()) in_local += is_local(decl) ? 1 : 0;
    if (in_local == 0) return true;
    const auto begin = text_.offset(statement->getBeginLoc());
    const auto end = text_.token(statement->getEndLoc());
    const auto count = std::distance(statement->decl_begin(), statement->decl_end());
    if (!begin || !end) return refuse("declares local memory in a macro of OpenCL's header");
    if (in_local != static_cast<std::size_t>(count)) return refuse("declares local and private variables together");
    for (const clang::Decl* decl : statement->decls()) {
      note_local(llvm::cast<clang::VarDecl>(decl), {text_.begin_of(*begin), end->end});
    }
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* use) {  // NOLINT(readability-identifier-naming)
    if (is_the_programs(use->getDecl())) return refuse("uses a variable of the program in global memory");
    if (!is_local(use->getDecl())) return true;
    const auto known = locals_.find(use->getDecl());
    const auto span = text_.token(use->getLocation());
    if (known == locals_.end() || !span) return refuse("names local memory in a macro of OpenCL's header");
    out_.locals[known->second].uses.push_back(*span);
    return true;
  }

  bool VisitBlockExpr(clang::BlockExpr*) { return refuse("uses blocks"); }  // NOLINT(readability-identifier-naming)
  bool VisitAsmStmt(clang::AsmStmt*) {
    return refuse("uses inline assembly");
  }  // NOLINT(readability-identifier-naming)

 private:
  bool refuse(std::string why) {
    if (std::find(out_.reasons.begin(), out_.reasons.end(), why) == out_.reasons.end()) {
      out_.reasons.push_back(std::move(why));
    }
    return true;
  }

  // The variable would exist twice: in the original program, for launches that run unmodified, and in the rewritten
  // one.
  static bool is_the_programs(const clang::Decl* decl) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
    return variable != nullptr && variable->hasGlobalStorage() && !variable->getType().isConstQualified() &&
           variable->getType().getAddressSpace() == clang::LangAS::opencl_global;
  }

  static bool is_local(const clang::Decl* decl) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
    return variable != nullptr && !llvm::isa<clang::ParmVarDecl>(variable) &&
           variable->getType().getAddressSpace() == clang::LangAS::opencl_local;
  }

  bool note_call(const clang::CallExpr* call, std::size_t callee) {
    const auto name = text_.token(call->getCallee()->getExprLoc());
    const auto close = text_.offset(call->getRParenLoc());
    if (!name || !close) return refuse("calls a function in a macro of OpenCL's header");
    out_.calls.push_back({callee, *name, *close, call->getNumArgs() != 0});
    return true;
  }

  bool note_barrier(const clang::CallExpr* call) {
    const auto begin = text_.offset(call->getBeginLoc());
    const auto close = text_.offset(call->getRParenLoc());
    if (!begin || !close) return refuse("has a barrier in a macro of OpenCL's header");
    out_.barriers.push_back({*begin, *close + 1});
    return true;
  }

  bool note_query(const clang::CallExpr* call, Query query) {
    const auto name = text_.token(call->getCallee()->getExprLoc());
    const auto begin = text_.offset(call->getBeginLoc());
    const auto close = text_.offset(call->getRParenLoc());
    if (!name || !begin || !close) return refuse("asks for ids in a macro of OpenCL's header");
    QuerySite site{query, {*begin, *close + 1}, *name, *close, std::nullopt};
    if (call->getNumArgs() == 1) {
      clang::Expr::EvalResult value;
      if (call->getArg(0)->EvaluateAsInt(value, context_)) {
        site.dimension = static_cast<unsigned>(std::min<std::uint64_t>(value.Val.getInt().getZExtValue(), 3));
      }
    }
    out_.queries.push_back(site);
    return true;
  }

  // Names of types declared inside a function mean nothing where its local variables go.
  static bool declared_inside(clang::QualType type) {
    for (const clang::Type* t = type.getTypePtr();;) {
      if (const auto* alias = llvm::dyn_cast<clang::TypedefType>(t)) {
        if (alias->getDecl()->getDeclContext()->isFunctionOrMethod()) return true;
        t = alias->desugar().getTypePtr();
      } else if (const auto* tag = llvm::dyn_cast<clang::TagType>(t)) {
        return tag->getDecl()->getDeclContext()->isFunctionOrMethod();
      } else if (const auto* array = llvm::dyn_cast<clang::ArrayType>(t)) {
        t = array->getElementType().getTypePtr();
      } else if (const auto* pointer = llvm::dyn_cast<clang::PointerType>(t)) {
        t = pointer->getPointeeType().getTypePtr();
      } else {
        const clang::Type* plain = t->getLocallyUnqualifiedSingleStepDesugaredType().getTypePtr();
        if (plain == t) return false;
        t = plain;
      }
    }
  }

  void note_local(const clang::VarDecl* variable, Span statement) {
    clang::QualType type = variable->getType();
    if (declared_inside(type)) {
      refuse("has local memory of a type declared in the kernel ('" + variable->getName().str() + "')");
      return;
    }
    LocalVariable local;
    local.hoisted = "wm__local_" + out_.name + "_" + variable->getName().str();
    local.statement = statement;
    const clang::PrintingPolicy policy(context_.getLangOpts());
    local.declaration = local.hoisted;
    type.getAsStringInternal(local.declaration, policy);
    local.parameter = local.hoisted;
    context_.getPointerType(type).getAsStringInternal(local.parameter, policy);
    local.bytes = static_cast<std::uint64_t>(context_.getTypeSizeInChars(type).getQuantity());
    local.alignment = static_cast<std::uint64_t>(context_.getDeclAlign(variable).getQuantity());
    if (variable->hasAttr<clang::AlignedAttr>()) {
      local.declaration += " __attribute__((aligned(" + std::to_string(local.alignment) + ")))";
    }
    locals_.emplace(variable, out_.locals.size());
    out_.locals.push_back(std::move(local));
  }

  clang::ASTContext& context_;
  const Text& text_;
  const FunctionIndex& index_;
  Function& out_;
  std::map<const clang::Decl*, std::size_t> locals_;  // never iterated
};

std::optional<Declaration> declaration_of(const clang::FunctionDecl* function, const Text& text) {
  const clang::FunctionTypeLoc type = function->getFunctionTypeLoc();
  const auto begin = text.offset(function->getBeginLoc());
  const auto name = text.token(function->getLocation());
  if (!type || !begin || !name) return std::nullopt;
  const auto open = text.offset(type.getLParenLoc());
  const auto close = text.offset(type.getRParenLoc());
  if (!open || !close) return std::nullopt;
  Declaration out;
  out.name = *name;
  out.open = *open;
  out.close = *close;
  out.no_parameters = function->param_empty();
  out.definition = function->isThisDeclarationADefinition();
  out.extent.begin = text.begin_of(*begin);
  if (out.definition) {
    const auto body = text.offset(function->getBody()->getBeginLoc());
    const auto end = text.token(function->getBody()->getEndLoc());
    if (!body || !end) return std::nullopt;
    out.body = *body;
    out.extent.end = end->end;
  } else {
    out.body = text.after_next(*close, ";") - 1;
    out.extent.end = out.body + 1;
  }
  out.kernel_words = text.kernel_words(out.extent.begin, out.name.begin);
  const std::vector<Span> behind = text.kernel_words(out.close, out.body);
  out.kernel_words.insert(out.kernel_words.end(), behind.begin(), behind.end());
  return out;
}

}  // namespace

Facts survey(clang::ASTContext& context, const std::string& source) {
  const Text text(context.getSourceManager(), context.getLangOpts(), source);
  Facts facts;
  facts.text = source;
  FunctionIndex index;
  std::vector<const clang::FunctionDecl*> definitions;
  for (const clang::Decl* decl : context.getTranslationUnitDecl()->decls()) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
    if (function == nullptr || function->isImplicit()) continue;
    if (!context.getSourceManager().isInMainFile(context.getSourceManager().getExpansionLoc(function->getLocation())))
      continue;
    const auto [at, fresh] = index.emplace(function->getCanonicalDecl(), facts.functions.size());
    if (fresh) {
      facts.functions.emplace_back().name = function->getName().str();
      definitions.push_back(nullptr);
    }
    Function& out = facts.functions[at->second];
    if (const auto declaration = declaration_of(function, text)) {
      out.declarations.push_back(*declaration);
    } else {
      out.reasons.emplace_back("is declared in a macro of OpenCL's header");
    }
    out.kernel = out.kernel || function->hasAttr<clang::OpenCLKernelAttr>();
    out.internal = out.internal || function->getStorageClass() == clang::SC_Static;
    if (function->isThisDeclarationADefinition()) definitions[at->second] = function;
  }
  const WaitFinder waits(context);
  BarrierReach reach;
  unsigned next_word = 0;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (definitions[i] == nullptr) continue;
    Function& out = facts.functions[i];
    for (const clang::ParmVarDecl* parameter : definitions[i]->parameters()) {
      out.parameters.push_back(parameter->getName().str());
    }
    BodySurvey(context, text, index, out).TraverseStmt(definitions[i]->getBody());
    mark_branches(*definitions[i], text, reach, next_word, out);
    if (std::string why = waits.objection_to(*definitions[i]); !why.empty()) out.reasons.push_back(std::move(why));
    out.instructions = count_instructions(*definitions[i]);
    if (out.kernel) describe_kernel(*definitions[i], out);
  }
  return facts;
}

}  // namespace wm::rewrite

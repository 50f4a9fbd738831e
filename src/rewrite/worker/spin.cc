#include "rewrite/worker/spin.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>
#include <functional>
#include <set>
#include <vector>

namespace wm::rewrite {
namespace {

using Variables = std::set<const clang::VarDecl*>;  // membership only, never iterated for output

// Calls `visit` on a statement and everything below it; below a statement for which it says false it does not go.
void walk(const clang::Stmt* statement, const std::function<bool(const clang::Stmt*)>& visit) {
  if (statement == nullptr || !visit(statement)) return;
  for (const clang::Stmt* child : statement->children()) walk(child, visit);
}

bool any_below(const clang::Stmt* statement, const std::function<bool(const clang::Stmt*)>& test) {
  bool found = false;
  walk(statement, [&](const clang::Stmt* s) { return !(found = found || test(s)); });
  return found;
}

// Memory that another group can write.
bool shared_between_groups(clang::LangAS space) {
  return space == clang::LangAS::opencl_global || space == clang::LangAS::opencl_generic;
}

bool points_to_shared(const clang::Expr* pointer) {
  const clang::QualType type = pointer->IgnoreParenImpCasts()->getType();
  const clang::QualType pointee = type->isArrayType() ? type : type->getPointeeType();
  return pointee.isNull() || shared_between_groups(pointee.getAddressSpace());
}

// The load in `s`, of memory that another group can write.
const clang::Expr* shared_load(const clang::Stmt* s) {
  const auto* cast = llvm::dyn_cast<clang::CastExpr>(s);
  if (cast == nullptr || cast->getCastKind() != clang::CK_LValueToRValue) return nullptr;
  const clang::Expr* place = cast->getSubExpr();
  return shared_between_groups(place->getType().getAddressSpace()) ? place : nullptr;
}

const clang::VarDecl* variable_of(const clang::Stmt* s) {
  const auto* use = llvm::dyn_cast<clang::DeclRefExpr>(s);
  return use != nullptr ? llvm::dyn_cast<clang::VarDecl>(use->getDecl()) : nullptr;
}

// The private variable an assignment to `place` changes: x of x, x.f, x[i]; none of *x.
const clang::VarDecl* changed_by(const clang::Expr* place) {
  for (;;) {
    place = place->IgnoreParenCasts();
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(place); member != nullptr && !member->isArrow()) {
      place = member->getBase();
    } else if (const auto* swizzle = llvm::dyn_cast<clang::ExtVectorElementExpr>(place)) {
      place = swizzle->getBase();
    } else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(place);
               element != nullptr && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType()) {
      place = element->getBase();
    } else {
      return variable_of(place);
    }
  }
}

llvm::StringRef atomic_name(const clang::CallExpr* call) {
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (callee == nullptr || callee->hasBody() || call->getNumArgs() == 0) return {};
  const llvm::StringRef name = callee->getName();
  return name.starts_with("atomic_") || name.starts_with("atom_") ? name : llvm::StringRef{};
}

// The analysis of one loop.
class Loop {
 public:
  Loop(clang::ASTContext& context, const clang::Stmt* statement, const std::function<bool(const clang::Stmt*)>& foreign)
      : context_(context), statement_(statement), foreign_(foreign) {
    collect_exits();
    collect_changes();
    spread();
  }

  [[nodiscard]] bool waits() const {
    bool by_foreign = false;
    for (const clang::Stmt* exit : exits_) by_foreign = by_foreign || depends(exit, foreign_, tainted_);
    if (by_foreign) return !is_update();
    return polls();
  }

 private:
  struct Change {
    const clang::VarDecl* variable;
    const clang::Expr* value;  // null for ++ and the like
    bool compound;
    bool guarded;  // under an `if` whose condition depends on other groups
  };

  [[nodiscard]] static bool depends(const clang::Stmt* s, const std::function<bool(const clang::Stmt*)>& test,
                                    const Variables& variables) {
    return any_below(s, [&](const clang::Stmt* part) {
      const clang::VarDecl* variable = variable_of(part);
      return test(part) || (variable != nullptr && variables.contains(variable));
    });
  }

  void collect_exits() {
    if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(statement_)) exits_.push_back(loop->getCond());
    if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(statement_)) exits_.push_back(loop->getCond());
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement_); loop != nullptr && loop->getCond() != nullptr) {
      exits_.push_back(loop->getCond());
    }
    walk(statement_, [this](const clang::Stmt* s) {
      const clang::Expr* condition = nullptr;
      if (const auto* choice = llvm::dyn_cast<clang::IfStmt>(s)) condition = choice->getCond();
      if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(s)) condition = choice->getCond();
      if (condition == nullptr) return true;
      const bool leaves = any_below(s, [](const clang::Stmt* part) {
        return llvm::isa<clang::BreakStmt, clang::ReturnStmt, clang::GotoStmt>(part);
      });
      if (leaves) exits_.push_back(condition);
      if (any_below(s, [](const clang::Stmt* part) { return llvm::isa<clang::ContinueStmt>(part); })) {
        retries_.push_back(condition);
      }
      return true;
    });
  }

  void note_change(const clang::Expr* place, const clang::Expr* value, bool compound) {
    if (const clang::VarDecl* variable = changed_by(place)) changes_.push_back({variable, value, compound, false});
    if (shared_between_groups(place->getType().getAddressSpace())) stores_ = true;
  }

  void collect_changes() {
    walk(statement_, [this](const clang::Stmt* s) {
      if (const auto* assign = llvm::dyn_cast<clang::BinaryOperator>(s);
          assign != nullptr && assign->isAssignmentOp()) {
        note_change(assign->getLHS(), assign->getRHS(), assign->isCompoundAssignmentOp());
      } else if (const auto* step = llvm::dyn_cast<clang::UnaryOperator>(s)) {
        if (step->isIncrementDecrementOp()) note_change(step->getSubExpr(), nullptr, true);
      } else if (const auto* declares = llvm::dyn_cast<clang::DeclStmt>(s)) {
        for (const clang::Decl* decl : declares->decls()) {
          const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
          if (variable != nullptr) changes_.push_back({variable, variable->getInit(), false, false});
        }
      } else if (llvm::isa<clang::CallExpr, clang::AtomicExpr>(s)) {
        note_call(s);
      }
      return true;
    });
  }

  // A call may change every variable whose address it receives.
  void note_call(const clang::Stmt* call) {
    if (const auto* plain = llvm::dyn_cast<clang::CallExpr>(call)) {
      stores_ = stores_ || plain->getDirectCallee() == nullptr || plain->getDirectCallee()->hasBody();
    }
    for (const clang::Stmt* argument : call->children()) {
      const auto* address = llvm::dyn_cast_or_null<clang::Expr>(argument);
      if (address == nullptr) continue;
      const auto* taken = llvm::dyn_cast<clang::UnaryOperator>(address->IgnoreParenCasts());
      if (taken == nullptr || taken->getOpcode() != clang::UO_AddrOf) continue;
      if (const clang::VarDecl* variable = changed_by(taken->getSubExpr())) {
        changes_.push_back({variable, llvm::dyn_cast<clang::Expr>(call), true, false});
      }
    }
  }

  void spread() {
    const auto loads = [](const clang::Stmt* s) { return shared_load(s) != nullptr; };
    for (std::size_t before = ~std::size_t{0}; before != tainted_.size() + fresh_.size();) {
      before = tainted_.size() + fresh_.size();
      mark_guarded();
      for (const Change& change : changes_) {
        if (change.guarded || (change.value != nullptr && depends(change.value, foreign_, tainted_))) {
          tainted_.insert(change.variable);
        }
        if (change.value != nullptr && (depends(change.value, foreign_, fresh_) || any_below(change.value, loads))) {
          fresh_.insert(change.variable);
        }
      }
    }
  }

  // A variable assigned under a condition that depends on other groups depends on other groups too.
  void mark_guarded() {
    Variables guarded;
    walk(statement_, [&](const clang::Stmt* s) {
      const auto* choice = llvm::dyn_cast<clang::IfStmt>(s);
      if (choice == nullptr || !depends(choice->getCond(), foreign_, tainted_)) return true;
      for (const clang::Stmt* branch : {choice->getThen(), choice->getElse()}) {
        walk(branch, [&](const clang::Stmt* part) {
          if (const auto* assign = llvm::dyn_cast<clang::BinaryOperator>(part);
              assign != nullptr && assign->isAssignmentOp()) {
            if (const clang::VarDecl* variable = changed_by(assign->getLHS())) guarded.insert(variable);
          }
          return true;
        });
      }
      return true;
    });
    for (Change& change : changes_) change.guarded = change.guarded || guarded.contains(change.variable);
  }

  [[nodiscard]] bool constant(const clang::Expr* value) const {
    clang::Expr::EvalResult result;
    return value != nullptr && value->EvaluateAsRValue(result, context_);
  }

  // A compare-and-swap against what the loop itself has read.
  [[nodiscard]] bool swaps_what_was_read(const clang::Expr* expected) const {
    bool read = false;
    bool reset = false;
    walk(expected, [&](const clang::Stmt* s) {
      const clang::VarDecl* variable = variable_of(s);
      if (variable == nullptr) return true;
      read = read || fresh_.contains(variable);
      for (const Change& change : changes_) {
        reset = reset || (change.variable == variable && !change.compound && constant(change.value));
      }
      return true;
    });
    return read && !reset;
  }

  // Every atomic of the loop is such a swap, or a load, and no condition on them starts the loop over.
  [[nodiscard]] bool is_update() const {
    bool swap = false;
    bool other = false;
    walk(statement_, [&](const clang::Stmt* s) {
      if (const auto* atomic = llvm::dyn_cast<clang::AtomicExpr>(s)) {
        const llvm::StringRef name = atomic->getOp() == clang::AtomicExpr::AO__opencl_atomic_load ? "load" : "";
        if (atomic->isCmpXChg() && swaps_what_was_read(atomic->getVal1())) {
          swap = true;
        } else if (name.empty()) {
          other = true;
        }
      } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s); call != nullptr && foreign_(call)) {
        const llvm::StringRef name = atomic_name(call);
        if (name.contains("cmpxchg") && swaps_what_was_read(call->getArg(1))) {
          swap = true;
        } else if (name != "atomic_load" && name != "atomic_load_explicit") {
          other = true;
        }
      }
      return true;
    });
    for (const clang::Stmt* retry : retries_) other = other || depends(retry, foreign_, tainted_);
    return swap && !other;
  }

  // The exit condition is a load that returns the same value until another group writes.
  [[nodiscard]] bool polls() const {
    if (exits_.empty() || stores_) return false;
    Variables moving;
    for (const Change& change : changes_) {
      const bool steady = !change.compound && change.value != nullptr && !any_below(change.value, [&](const auto* s) {
        const clang::VarDecl* variable = variable_of(s);
        return variable != nullptr && is_changed(variable);
      });
      if (!steady) moving.insert(change.variable);
    }
    bool loads = false;
    for (const clang::Stmt* exit : exits_) {
      if (depends(
              exit, [](const clang::Stmt* s) { return llvm::isa<clang::CallExpr>(s); }, moving))
        return false;
      loads = loads || depends(
                           exit, [](const clang::Stmt* s) { return shared_load(s) != nullptr; }, fresh_);
    }
    return loads;
  }

  [[nodiscard]] bool is_changed(const clang::VarDecl* variable) const {
    for (const Change& change : changes_) {
      if (change.variable == variable) return true;
    }
    return false;
  }

  clang::ASTContext& context_;
  const clang::Stmt* statement_;
  const std::function<bool(const clang::Stmt*)>& foreign_;
  std::vector<const clang::Stmt*> exits_;    // conditions that decide whether the loop ends
  std::vector<const clang::Stmt*> retries_;  // conditions that start it over
  std::vector<Change> changes_;
  bool stores_ = false;  // it writes global memory, or calls what might
  Variables tainted_;    // depend on other groups
  Variables fresh_;      // were read from global memory in the loop
};

}  // namespace

std::string WaitFinder::objection_to(const clang::FunctionDecl& function) const {
  // True for an expression that can observe other groups: an atomic or a volatile load of shared memory, or a call of a
  // helper that contains one.
  std::set<const clang::FunctionDecl*> visiting;
  const std::function<bool(const clang::Stmt*)> foreign = [&](const clang::Stmt* s) -> bool {
    if (const auto* atomic = llvm::dyn_cast<clang::AtomicExpr>(s)) return points_to_shared(atomic->getPtr());
    if (const clang::Expr* place = shared_load(s)) return place->getType().isVolatileQualified();
    const auto* call = llvm::dyn_cast<clang::CallExpr>(s);
    if (call == nullptr || call->getDirectCallee() == nullptr) return false;
    if (!atomic_name(call).empty()) return points_to_shared(call->getArg(0));
    const clang::FunctionDecl* definition = nullptr;
    if (!call->getDirectCallee()->hasBody(definition) || !visiting.insert(definition).second) return false;
    const bool inside = any_below(definition->getBody(), foreign);
    visiting.erase(definition);
    return inside;
  };
  std::string why;
  bool jumps = false;
  walk(function.getBody(), [&](const clang::Stmt* s) {
    jumps = jumps || llvm::isa<clang::GotoStmt>(s);
    if (!why.empty() || !llvm::isa<clang::WhileStmt, clang::DoStmt, clang::ForStmt>(s)) return why.empty();
    if (Loop(context_, s, foreign).waits()) {
      const auto place = context_.getSourceManager().getPresumedLoc(s->getBeginLoc());
      why = "may wait for another group (the loop in line " + std::to_string(place.getLine()) + ")";
    }
    return true;
  });
  if (why.empty() && jumps && any_below(function.getBody(), foreign)) why = "jumps by goto around atomics";
  return why;
}

}  // namespace wm::rewrite

#include "rewrite/worker/marks.h"

#include <algorithm>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <fmt/format.h>
#include <vector>

#include "rewrite/worker/text.h"

namespace wm::rewrite {
namespace {

bool is_loop(const clang::Stmt* s) { return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt>(s); }

bool has_goto(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  return llvm::isa<clang::GotoStmt>(statement) ||
         std::any_of(statement->child_begin(), statement->child_end(), has_goto);
}

// Leaves a statement, or something around it, by another way than its end: `return`, and `break` and `continue` of a
// loop or switch outside.
bool leaves(const clang::Stmt* statement, bool own_break, bool own_continue) {
  if (statement == nullptr) return false;
  if (llvm::isa<clang::ReturnStmt>(statement)) return true;
  if (llvm::isa<clang::BreakStmt>(statement)) return !own_break;
  if (llvm::isa<clang::ContinueStmt>(statement)) return !own_continue;
  own_continue = own_continue || is_loop(statement);
  own_break = own_break || is_loop(statement) || llvm::isa<clang::SwitchStmt>(statement);
  return std::any_of(statement->child_begin(), statement->child_end(),
                     [&](const clang::Stmt* child) { return leaves(child, own_break, own_continue); });
}

// Does no statement behind this one in a list follow it?
bool ends_case(const clang::Stmt* s) {
  if (llvm::isa<clang::BreakStmt, clang::ReturnStmt, clang::ContinueStmt>(s)) return true;
  if (const auto* label = llvm::dyn_cast<clang::SwitchCase>(s)) return ends_case(label->getSubStmt());
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s);
  return block != nullptr && !block->body_empty() && ends_case(block->body_back());
}

bool has_label(const clang::Stmt* s) {
  if (s == nullptr || llvm::isa<clang::SwitchStmt>(s)) return false;
  return llvm::isa<clang::SwitchCase>(s) || std::any_of(s->child_begin(), s->child_end(), has_label);
}

// Does a case of the switch continue in the next one, or lie inside of another statement?
bool falls_through(const clang::SwitchStmt& choice) {
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(choice.getBody());
  if (body == nullptr) return true;
  bool open = false;  // a case has begun and not ended
  for (const clang::Stmt* s : body->body()) {
    const clang::Stmt* inner = s;
    const bool begins = llvm::isa<clang::SwitchCase>(s);
    if (begins && open) return true;
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(inner)) inner = label->getSubStmt();
    if (has_label(inner)) return true;
    open = !ends_case(s);
  }
  return false;
}

class BranchMarker {
 public:
  BranchMarker(const Text& text, BarrierReach& reach, unsigned& next_word, Function& out)
      : text_(text), reach_(reach), next_word_(next_word), out_(out) {}

  void mark(const clang::Stmt& body) {
    if (has_goto(&body)) {
      out_.reasons.emplace_back("has a goto beside barriers");
      return;
    }
    if (out_.kernel) insert(after_brace(body), " *wm__mark = 0u;");
    visit(&body);
    if (leaves(&body, false, false)) insert(text_.offset(body.getEndLoc()), word_store() + " ");
    if (macro_) out_.reasons.emplace_back("has a branch around a barrier in a macro of OpenCL's header");
    // PoCL lets the first item decide for all at a label that items also reach from a case that divides the group.
    if (falls_) out_.reasons.emplace_back("has a switch with barriers in which a case continues in the next one");
    if (partial_) out_.reasons.emplace_back("has a barrier in a part of an expression that may be skipped");
  }

 private:
  void visit(const clang::Stmt* s) {
    if (s == nullptr) return;
    if (const auto* expression = llvm::dyn_cast<clang::Expr>(s)) {
      check_expression(expression);
    } else if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(s)) {
      if (is_marked(s)) mark_if(*branch);
    } else if (is_loop(s) || llvm::isa<clang::SwitchStmt>(s)) {
      if (is_marked(s)) mark_repeated(s);
    } else if (const auto* label = llvm::dyn_cast<clang::SwitchCase>(s)) {
      const auto colon = text_.token(label->getColonLoc());
      insert(colon ? std::optional(colon->end) : std::nullopt, " " + word_store());
      visit(label->getSubStmt());
    } else if (llvm::isa<clang::ReturnStmt>(s)) {
      mark_exit(s, returns_);
    } else if (llvm::isa<clang::BreakStmt>(s)) {
      mark_exit(s, breaks_.back());
    } else if (llvm::isa<clang::ContinueStmt>(s)) {
      wrap(s, half_word_store());
    } else {
      for (const clang::Stmt* child : s->children()) visit(child);
    }
  }

  bool is_marked(const clang::Stmt* s) { return reach_.from(s) || leaves(s, false, false); }

  void mark_if(const clang::IfStmt& s) {
    branch(s.getThen(), word_store());
    if (s.getElse() != nullptr) {
      branch(s.getElse(), half_word_store());
    } else {
      insert(end_of(s.getThen()), " else { " + half_word_store() + " }");
    }
    insert(end_of(&s), " " + word_store());
  }

  // A loop or a switch.
  void mark_repeated(const clang::Stmt* s) {
    breaks_.push_back(0);
    const clang::Stmt* body = nullptr;
    if (const auto* counted = llvm::dyn_cast<clang::ForStmt>(s)) body = counted->getBody();
    if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(s)) body = loop->getBody();
    if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(s)) body = loop->getBody();
    if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(s)) {
      falls_ = falls_ || falls_through(*choice);
      branch(choice->getBody(), word_store());
    } else {
      branch(body, leaves(body, true, false) ? word_store() : std::string{});
    }
    breaks_.pop_back();
    insert(end_of(s), " " + word_store());
  }

  // A statement that is executed or not, with a store at its beginning and `last` at its end.
  void branch(const clang::Stmt* s, const std::string& last) {
    if (llvm::isa<clang::CompoundStmt>(s)) {
      insert(after_brace(*s), " " + word_store());
      visit(s);
      if (!last.empty()) insert(text_.offset(s->getEndLoc()), last + " ");
      return;
    }
    insert(begin_of(s), "{ " + word_store() + " ");
    visit(s);
    insert(end_of(s), " " + last + " }");
  }

  // Exits to one place have stores of both widths in turn.
  void mark_exit(const clang::Stmt* s, unsigned& count) {
    wrap(s, count++ % 2 == 0 ? half_word_store() : word_store());
  }

  void wrap(const clang::Stmt* s, const std::string& store) {
    insert(begin_of(s), "{ " + store + " ");
    insert(end_of(s), " }");
  }

  void check_expression(const clang::Expr* e) {
    const auto* logical = llvm::dyn_cast<clang::BinaryOperator>(e);
    const bool chooses =
        llvm::isa<clang::AbstractConditionalOperator>(e) || (logical != nullptr && logical->isLogicalOp());
    if (chooses && reach_.from(e)) partial_ = true;
    for (const clang::Stmt* child : e->children()) {
      if (const auto* operand = llvm::dyn_cast_or_null<clang::Expr>(child)) check_expression(operand);
    }
  }

  [[nodiscard]] std::optional<std::size_t> begin_of(const clang::Stmt* s) const {
    const auto first = text_.first_token(s->getBeginLoc());
    return first ? std::optional(first->begin) : std::nullopt;
  }

  // Behind a statement with its semicolon, which is not part of expressions in clang's tree.
  [[nodiscard]] std::optional<std::size_t> end_of(const clang::Stmt* s) const {
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(s))
      return end_of(branch->getElse() != nullptr ? branch->getElse() : branch->getThen());
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(s)) return end_of(loop->getBody());
    if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(s)) return end_of(loop->getBody());
    if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(s)) return end_of(choice->getBody());
    if (const auto* label = llvm::dyn_cast<clang::SwitchCase>(s)) return end_of(label->getSubStmt());
    if (const auto* label = llvm::dyn_cast<clang::LabelStmt>(s)) return end_of(label->getSubStmt());
    if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(s)) return end_of(attributed->getSubStmt());
    const auto last = text_.last_token(s->getEndLoc());
    if (!last) return std::nullopt;
    if (llvm::isa<clang::CompoundStmt>(s)) return last->end;
    return text_.after_next(last->begin, ";");
  }

  [[nodiscard]] std::optional<std::size_t> after_brace(const clang::Stmt& compound) const {
    const auto open = text_.token(compound.getBeginLoc());
    return open ? std::optional(open->end) : std::nullopt;
  }

  void insert(std::optional<std::size_t> at, std::string what) {
    if (!at) macro_ = true;
    if (at) out_.marks.push_back({*at, std::move(what)});
  }

  unsigned take_word() { return 1 + next_word_++ % (kMarkWords - 1); }
  std::string word_store() { return fmt::format("wm__mark[{}] = 0u;", take_word()); }
  std::string half_word_store() { return fmt::format("*(__local ushort*)(wm__mark + {}) = 0;", take_word()); }

  const Text& text_;
  BarrierReach& reach_;
  unsigned& next_word_;
  Function& out_;
  unsigned returns_ = 0;
  std::vector<unsigned> breaks_;  // exits so far of each loop or switch around
  bool macro_ = false;
  bool partial_ = false;
  bool falls_ = false;
};

}  // namespace

bool is_barrier_name(const std::string& name) {
  return name == "barrier" || name == "work_group_barrier" || name == "wait_group_events";
}

bool BarrierReach::from(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && (is_barrier_name(callee->getNameAsString()) || from_function(*callee))) return true;
  }
  return std::any_of(statement->child_begin(), statement->child_end(),
                     [this](const clang::Stmt* child) { return from(child); });
}

bool BarrierReach::from_function(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* definition = function.getDefinition();
  if (definition == nullptr) return false;
  const auto [at, fresh] = known_.emplace(definition, false);  // the answer for a cycle, which cannot run
  if (fresh) known_[definition] = from(definition->getBody());
  return known_[definition];
}

void mark_branches(const clang::FunctionDecl& function, const Text& text, BarrierReach& reach, unsigned& next_word,
                   Function& out) {
  if (reach.from(function.getBody())) BranchMarker(text, reach, next_word, out).mark(*function.getBody());
}

}  // namespace wm::rewrite

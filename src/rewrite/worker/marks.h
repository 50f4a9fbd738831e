// Stores to local memory that keep branches with barriers apart, so that PoCL 3.1 compiles a worker's body correctly.
//
// PoCL divides a kernel at its barriers into regions and repeats each region for all items. Two things break this where
// a barrier lies in a branch or a loop:
//
// LLVM merges equal code at the ends of two branches. Where one of the branches ends in an `if` or a loop that divides
// the group, some of its items reach the merged code, and the barrier in it, by a way of their own. PoCL takes that for
// a second region, and the first item decides for all which of the two is executed.
//
// PoCL adds a barrier to the first block of a branch with barriers (`ImplicitConditionalBarriers`). If that block holds
// nothing but an `if` that divides the group, the next search upwards ends in one of its halves, and PoCL adds a
// barrier there.
//
// A store at the beginning of every such branch and behind the statement keeps blocks from being empty. Stores at the
// ends of branches that meet differ in width, and LLVM does not merge stores of different widths. Stores
// take the words in turn, since LLVM removes a store that another one to the same word follows.
#pragma once

#include <map>

#include "rewrite/worker/facts.h"

namespace clang {
class FunctionDecl;
class Stmt;
}  // namespace clang

namespace wm::rewrite {

class Text;

// Which statements get to a barrier, in their own text or in a function that they call.
class BarrierReach {
 public:
  [[nodiscard]] bool from(const clang::Stmt* statement);

 private:
  bool from_function(const clang::FunctionDecl& function);

  std::map<const clang::FunctionDecl*, bool> known_;  // by definition; never iterated
};

// Is this the name of a built-in function at which all items of a group wait?
bool is_barrier_name(const std::string& name);

// Adds to `out` the stores of a function, numbered from `next_word`, or a reason why its kernel is not rewritten.
void mark_branches(const clang::FunctionDecl& function, const Text& text, BarrierReach& reach, unsigned& next_word,
                   Function& out);

}  // namespace wm::rewrite

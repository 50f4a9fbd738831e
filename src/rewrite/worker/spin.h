// Finds loops that wait for another group.
//
// Workers take virtual groups in order and one at a time, so a group that waits for a later one waits for ever. A loop
// is taken for such a wait when its way out depends on memory that other groups write: on the answer of an atomic, on a
// volatile load from global memory, or on a plain load from an address that the loop does not change. The update by
// compare-and-swap (read, compute, swap, try again when someone came between) ends by itself and is let through; a
// lock, which swaps against a constant, is not.
#pragma once

#include <string>

namespace clang {
class ASTContext;
class FunctionDecl;
}  // namespace clang

namespace wm::rewrite {

class WaitFinder {
 public:
  explicit WaitFinder(clang::ASTContext& context) : context_(context) {}

  // Why the function may wait for another group; empty when it does not.
  [[nodiscard]] std::string objection_to(const clang::FunctionDecl& function) const;

 private:
  clang::ASTContext& context_;
};

}  // namespace wm::rewrite

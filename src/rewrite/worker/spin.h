// Finds loops that wait for another group.
//
// Workers take virtual groups in order and one at a time, so a group that waits for a later one waits for ever. A loop
// is treated as such a wait when its exit depends on memory that other groups write: on the result of an atomic, on a
// volatile load from global memory, or on a plain load from an address that the loop does not change. The update by
// compare-and-swap (read, compute, swap, retry after a concurrent change) terminates and is accepted; a
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

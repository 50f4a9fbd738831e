// Reads a program's facts off clang's syntax tree.
#pragma once

#include "rewrite/worker/facts.h"

namespace clang {
class ASTContext;
}

namespace wm::rewrite {

// `text` is what the tree was parsed from.
Facts survey(clang::ASTContext& context, const std::string& text);

}  // namespace wm::rewrite

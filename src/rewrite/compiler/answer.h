// The way of one request through the compiler.
#pragma once

#include "rewrite/compile_request.h"

namespace wm::rewrite {

CompileReply answer(const CompileRequest& request);

}  // namespace wm::rewrite

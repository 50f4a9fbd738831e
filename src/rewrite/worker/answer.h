// Rewrites one program: from a request to its reply.
#pragma once

#include "rewrite/program.h"
#include "rewrite/worker/frontend.h"

namespace wm::rewrite {

Reply answer(Frontend& frontend, const Request& request);

}  // namespace wm::rewrite

// The worker program the build made, kept over a test program's tests.
#pragma once

#include "rewrite/rewriter.h"

namespace wm::rewrite {

inline Rewriter& worker_here() {
  static Rewriter rewriter({.worker = WM_REWRITE_PROGRAM, .cache_folder = {}});
  return rewriter;
}

}  // namespace wm::rewrite

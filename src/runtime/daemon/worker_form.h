// A program in its second form: kernels as persistent workers, built beside the original.
#pragma once

#include "rewrite/rewriter.h"
#include "runtime/daemon/objects.h"

namespace wm::runtime {

class WorkerForms {
 public:
  // Nothing is rewritten where `rewriter` is null.
  WorkerForms(const Native& native, Census& census, rewrite::Rewriter* rewriter)
      : native_(native), census_(census), rewriter_(rewriter) {}

  // After the original was built from its source: rewrites and builds, and notes why where it does not.
  void add(Program& program) const;
  // The kernel's workers, where the program has them.
  void add(Kernel& kernel) const;

 private:
  const Native& native_;
  Census& census_;
  rewrite::Rewriter* rewriter_;
};

}  // namespace wm::runtime

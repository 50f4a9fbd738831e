// A program in its second form: kernels as persistent workers, built beside the original.
#pragma once

#include <functional>

#include "rewrite/rewriter.h"
#include "runtime/program/compilers.h"
#include "runtime/program/device_macros.h"
#include "runtime/sandbox/sandbox.h"
#include "runtime/session/objects.h"

namespace wm::runtime {

class WorkerPrograms {
 public:
  // Nothing is rewritten where `rewriter` is null.
  WorkerPrograms(const Native& native, ObjectCounts& census, Compilers& compilers, rewrite::Rewriter* rewriter,
                 sandbox::Sandbox& sandbox)
      : native_(native),
        census_(census),
        compilers_(compilers),
        rewriter_(rewriter),
        sandbox_(sandbox),
        macros_(native) {}

  // Rewrites a source; then, when the original was `built` without error, builds the result. Notes why where it does
  // not.
  [[nodiscard]] std::shared_ptr<const ProgramForm> make(const std::string& source, const std::string& options,
                                                        const std::shared_future<cl_int>& built,
                                                        const std::function<bool()>& unwanted) const;
  // How the form was built, of a program that has one.
  [[nodiscard]] std::optional<sandbox::Request> building(const Program& program) const;
  // The kernel's form, once its program's is there; waits for that.
  [[nodiscard]] std::shared_ptr<const KernelForm> of(Kernel& kernel) const;
  // From now on it runs as it is.
  [[nodiscard]] static std::shared_ptr<const KernelForm> without_workers(Kernel& kernel, std::string why);

 private:
  // With the macros that the device's compiler has.
  [[nodiscard]] Result<rewrite::Reply> rewritten(const std::string& source, const std::string& options,
                                                 const std::function<bool()>& original_builds) const;
  [[nodiscard]] std::shared_ptr<const KernelForm> make(const Kernel& kernel) const;
  [[nodiscard]] std::string options_of(const rewrite::Reply& reply) const;

  const Native& native_;
  ObjectCounts& census_;
  Compilers& compilers_;
  rewrite::Rewriter* rewriter_;
  sandbox::Sandbox& sandbox_;
  mutable DeviceMacros macros_;
};

// What NVIDIA's compiler tells under -cl-nv-verbose: registers of an item, by kernel.
std::map<std::string, std::uint32_t> registers_told(const std::string& log);

}  // namespace wm::runtime

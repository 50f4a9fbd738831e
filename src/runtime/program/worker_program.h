// Rewrites programs so that their kernels run as persistent workers, and builds the result beside the original.
#pragma once

#include <functional>

#include "rewrite/rewriter.h"
#include "runtime/device/object_counts.h"
#include "runtime/program/compilers.h"
#include "runtime/program/device_macros.h"
#include "runtime/program/program.h"
#include "runtime/sandbox/sandbox.h"

namespace wm::runtime {

class WorkerPrograms {
 public:
  // Programs are not rewritten where `rewriter` is null.
  // `by_compiler`: the device's compiler makes the workers (KernelInfo), and no source is rewritten.
  WorkerPrograms(Backend& backend, ObjectCounts& counts, Compilers& compilers, rewrite::Rewriter* rewriter,
                 sandbox::Sandbox& sandbox, bool by_compiler = false)
      : backend_(backend),
        counts_(counts),
        compilers_(compilers),
        rewriter_(rewriter),
        sandbox_(sandbox),
        by_compiler_(by_compiler),
        macros_(backend.compilation()) {}

  // The text that a program's workers are made from, and the files it included where a binary was made from it.
  struct Original {
    std::string source, options;
    std::optional<std::vector<rewrite::Dependency>> dependencies;
  };
  [[nodiscard]] static Original original_of(const Program& program);
  // Rewrites a source, and builds the result once the original has been `built` without error. The form says why where
  // there are no workers.
  [[nodiscard]] std::shared_ptr<const ProgramForm> make(const Original& original,
                                                        const std::shared_future<Status>& built,
                                                        const CompilingClient& client) const;
  // The sandbox request that builds the workers of a program which has some.
  [[nodiscard]] std::optional<sandbox::Request> build_request(const Program& program) const;
  // The form of a kernel; waits for the form of its program.
  [[nodiscard]] std::shared_ptr<const KernelForm> of(Kernel& kernel) const;
  // The kernel runs unmodified from now on.
  [[nodiscard]] static std::shared_ptr<const KernelForm> without_workers(Kernel& kernel, std::string reason);

  [[nodiscard]] bool rewrites_source() const { return !by_compiler_; }

 private:
  // Rewrites with the macros that the device's compiler defines.
  [[nodiscard]] Result<rewrite::Reply> rewrite_source(const std::string& source, const std::string& options,
                                                      const std::function<bool()>& original_builds) const;
  [[nodiscard]] std::shared_ptr<const KernelForm> make(const Kernel& kernel) const;
  [[nodiscard]] std::shared_ptr<const KernelForm> made_by_compiler(const Kernel& kernel) const;
  [[nodiscard]] std::string build_options(const rewrite::Reply& reply) const;

  Backend& backend_;
  ObjectCounts& counts_;
  Compilers& compilers_;
  rewrite::Rewriter* rewriter_;
  sandbox::Sandbox& sandbox_;
  const bool by_compiler_;
  mutable DeviceMacros macros_;
};

// The registers of a work-item, by kernel, in the log of NVIDIA's compiler under -cl-nv-verbose.
std::map<std::string, std::uint32_t> registers_in_log(const std::string& log);

}  // namespace wm::runtime

// Compiles OpenCL C to PTX in processes wm-compile, which are kept for the next request. A program that crashes the
// compiler ends one such process, and only its own build fails.
//
// Any thread may call; each call uses a process of its own.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "rewrite/compile_request.h"
#include "rewrite/worker_process.h"

namespace wm::rewrite {

struct PtxCompilerOptions {
  std::string program;  // the path of wm-compile
  std::string library;  // libclc's bitcode
  std::string target = "sm_70";
  std::chrono::milliseconds limit{120'000};
};

class PtxCompiler {
 public:
  explicit PtxCompiler(PtxCompilerOptions options) : options_(std::move(options)) {}

  // Fills in library and target. A compiler that crashed or took too long has a failed reply that says so.
  CompileReply compile(CompileRequest request);
  [[nodiscard]] const PtxCompilerOptions& options() const { return options_; }

 private:
  struct KeptProcess {
    WorkerProcess process;
    unsigned requests = 0;  // answered so far
  };
  Result<CompileReply> exchange(KeptProcess& kept, const std::string& request) const;

  const PtxCompilerOptions options_;
  std::mutex mutex_;
  std::vector<KeptProcess> idle_;
};

// $WM_COMPILE, or wm-compile beside the running program; empty where there is none.
std::string find_compiler();
// $WARPMUX_LIBCLC, or the file of Debian's package libclc-19; empty where there is none.
std::string find_builtin_library();

}  // namespace wm::rewrite

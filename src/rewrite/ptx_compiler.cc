#include "rewrite/ptx_compiler.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

namespace wm::rewrite {
namespace {

constexpr std::size_t kMaxIdleProcesses = 4;
// LLVM does not free all that it allocates.
constexpr unsigned kMaxRequests = 200;

CompileReply failed(std::string log) {
  CompileReply reply;
  reply.log = std::move(log);
  return reply;
}

}  // namespace

Result<CompileReply> PtxCompiler::exchange(KeptProcess& kept, const std::string& request) const {
  const auto deadline = std::chrono::steady_clock::now() + options_.limit;
  const auto bytes = kept.process.exchange(request, options_.limit);
  if (bytes) return decode_compile_reply(*bytes);
  if (std::chrono::steady_clock::now() >= deadline) return bytes.error();
  const int signal = kept.process.ended_by().value_or(0);
  if (signal == 0) return Error{"the OpenCL compiler ended its process"};
  return Error{std::string("the OpenCL compiler crashed: ") + ::strsignal(signal)};
}

CompileReply PtxCompiler::compile(CompileRequest request) {
  request.library = options_.library;
  request.target = options_.target;
  const std::string bytes = encode(request);
  std::optional<KeptProcess> kept;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      kept = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  // A process that was kept may have ended since; the second attempt is a new one.
  for (bool is_new = false;;) {
    is_new = !kept;
    if (is_new) {
      auto started = WorkerProcess::start(options_.program, "the OpenCL compiler");
      if (!started) return failed(started.error().what);
      kept = KeptProcess{*std::move(started)};
    }
    auto reply = exchange(*kept, bytes);
    if (!reply) kept.reset();
    if (!reply && !is_new) continue;
    if (!reply) return failed("warpmux: " + reply.error().what);
    const std::lock_guard lock(mutex_);
    if (++kept->requests < kMaxRequests && idle_.size() < kMaxIdleProcesses) idle_.push_back(*std::move(kept));
    return *std::move(reply);
  }
}

std::string find_compiler() { return find_program("WM_COMPILE", "wm-compile"); }

std::string find_builtin_library() {
  if (const char* file = std::getenv("WARPMUX_LIBCLC"); file != nullptr && *file != '\0') return file;
  std::error_code failed;
  for (const char* folder : {"/usr/lib/clc", "/usr/share/clc", "/usr/lib/llvm-19/share/clc"}) {
    const auto file = std::filesystem::path(folder) / "nvptx64--nvidiacl.bc";
    if (std::filesystem::exists(file, failed)) return file.string();
  }
  return {};
}

}  // namespace wm::rewrite

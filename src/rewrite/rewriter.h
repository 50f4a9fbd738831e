// Rewrites programs: from the cache where the reply is known, by the worker process where it is not.
//
//   Rewriter rewriter({.worker = find_worker(), .cache_folder = default_cache_folder()});
//   const auto reply = rewriter.rewrite({.source = text, .options = "-DN=64"});
//
// Any thread may call it; one worker process serves the requests in turn and is started at the first.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "rewrite/cache.h"
#include "rewrite/program.h"
#include "rewrite/worker_process.h"

namespace wm::rewrite {

struct RewriterOptions {
  std::string worker;        // the program; if empty, only the cache is used
  std::string cache_folder;  // empty: nothing is kept
  std::chrono::milliseconds limit{30000};
};

class Rewriter {
 public:
  explicit Rewriter(RewriterOptions options) : options_(std::move(options)) {}

  // An error means that there is no reply: no worker process and no cached reply, or a worker process that died on this
  // program. A program that cannot be rewritten has a reply, with the reason in it.
  Result<Reply> rewrite(const Request& request);

  // Starts the worker and lets it load what every program needs, so that the first one does not wait for that.
  void warm_up();

  // Counts of replies from the cache and from the worker process.
  [[nodiscard]] std::uint64_t cached() const;
  [[nodiscard]] std::uint64_t asked() const;

 private:
  Result<Reply> ask(const Request& request);  // the mutex is held

  RewriterOptions options_;
  mutable std::mutex mutex_;
  std::optional<WorkerProcess> worker_;
  std::uint64_t cached_ = 0;
  std::uint64_t asked_ = 0;
};

// $WM_REWRITE, or wm-rewrite beside the running program; empty where there is none.
std::string find_worker();

}  // namespace wm::rewrite

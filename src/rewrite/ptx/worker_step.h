// A launch of an application as persistent workers, for tools and tests without a daemon: the words of the launch are
// buffers of the application.
#pragma once

#include "gpu/application.h"
#include "rewrite/ptx/persistent.h"

namespace wm::rewrite {

// The first buffer that add_workers makes.
struct LaunchWords {
  PersistentQueue queue, before;
  std::uint32_t complete = 0;
};

struct WorkerStep {
  std::uint32_t workers = 1, chunk = 1;
  PersistentControl control = {};  // the second buffer
  PersistentQueue before = {};     // words of the launch before it, which had `before_total` virtual blocks
  std::uint32_t before_total = 0;
  std::uint32_t beside = 0;       // 0 or kBesideStream
  bool completes_itself = false;  // the last worker completes the launch
};

// Adds two buffers and the launch of a rewritten kernel.
void add_workers(gpu::Application& application, gpu::Launch launch, const WorkerStep& step);

}  // namespace wm::rewrite

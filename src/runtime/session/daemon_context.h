// The parts of the daemon that all sessions use.
#pragma once

#include <chrono>

#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/device/object_counts.h"
#include "runtime/program/compilers.h"
#include "runtime/program/precompilation.h"
#include "runtime/program/verification.h"
#include "runtime/program/worker_program.h"
#include "runtime/protocol/futex.h"
#include "runtime/sandbox/sandbox.h"
#include "runtime/schedule/scheduler.h"

namespace wm::runtime {

struct DaemonContext {
  Backend& backend;
  ObjectCounts& counts;
  MemoryLimits& limits;
  Scheduler& scheduler;
  const WorkerPrograms& worker_programs;
  const Precompilation& precompilation;
  const Verification& verification;
  Compilers& compilers;
  sandbox::Sandbox& sandbox;
  std::chrono::nanoseconds max_awake = kDefaultMaxAwake;  // the longest time for which an idle thread stays awake
};

}  // namespace wm::runtime

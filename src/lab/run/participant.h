// A kernel of a co-run together with everything that is needed to run and to verify it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"
#include "lab/run/run_spec.h"
#include "ptx/ir.h"
#include "sim/cycle/machine.h"

namespace wm::lab {

// The specification says how the kernel takes part; the rest is the program that its name stands for.
struct Participant : KernelSpec {
  std::shared_ptr<const ptx::Module> module;
  std::string ptx;  // the text from which the module was parsed
  std::string ptx_file;
  std::shared_ptr<const gpu::Application> application;
  std::string entry;  // the one kernel that is timed; empty: all kernels of the application
  // Checks the buffers at the end of the application; empty where the result cannot be checked.
  std::function<Result<void>(const std::vector<std::vector<std::byte>>&)> verify;
};

// The participant as the machine takes it. `goal` and `isolated_ipc` are in thread instructions per cycle.
sim::ClientSpec client_spec(const Participant& participant, double goal, double isolated_ipc);

// Blocks of all launches that take time; 0 for an application that repeats to the end of the run.
std::uint64_t blocks_of(const Participant& participant);

}  // namespace wm::lab

// wm serve --cuda: CUDA programs on the machine's own driver, arbitrated through shared memory.
#pragma once

#include "base/result.h"
#include "cli/commands/command.h"
#include "runtime/arbiter/options.h"

namespace wm::cli {

struct ServeCudaOptions {
  bool chosen = false;
  std::string sharing = "isolated";
  std::string admission = "refuse";
  std::uint32_t sms_of_group = 8;
  bool workers = false;
  double max_loss = 0;  // 0: the default of the kind of sharing
  runtime::ArbiterOptions arbiter;
};

void add_serve_cuda_options(const Command& command, ServeCudaOptions& options);

// The socket, its mode and the headroom are already in the options.
Result<int> serve_cuda(ServeCudaOptions options);

}  // namespace wm::cli

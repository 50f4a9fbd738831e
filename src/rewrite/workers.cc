#include "rewrite/workers.h"

#include <algorithm>

namespace wm::rewrite {

Range range_of(const gpu::Launch& launch, std::uint32_t chunk) {
  return {.groups = {launch.grid.x, launch.grid.y, launch.grid.z}, .chunk = chunk, .offset = {}, .dimensions = 3};
}

Result<gpu::Application> with_workers(const gpu::Application& application, const Reply& reply, std::uint32_t workers) {
  gpu::Application out = application;
  const gpu::BufferId queue = out.add_uninitialized("wm.queue", 4);
  const gpu::BufferId control = out.add_uninitialized("wm.control", 4);
  out.steps.clear();
  out.fill(control, std::byte{0xff});
  for (const gpu::Step& step : application.steps) {
    const auto* launch = std::get_if<gpu::Launch>(&step);
    const auto kernel = std::find_if(reply.kernels.begin(), reply.kernels.end(), [launch](const KernelReply& k) {
      return launch != nullptr && k.name == launch->kernel && k.rewritten;
    });
    if (kernel == reply.kernels.end()) {
      out.steps.push_back(step);
      continue;
    }
    if (launch->grid.count() > 0x7fffffffU) return Error{"'" + launch->kernel + "' has too many groups for a queue"};
    gpu::Launch made = *launch;
    made.grid = {workers, 1, 1};
    made.arguments.push_back(gpu::buffer(queue));
    made.arguments.push_back(gpu::buffer(control));
    made.arguments.push_back(gpu::scalar(range_of(*launch, kernel->chunk)));
    out.fill(queue, std::byte{0});
    out.launch(std::move(made));
  }
  return out;
}

}  // namespace wm::rewrite

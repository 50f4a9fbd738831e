// An application whose launches are executed by persistent workers: its buffers are the same for any number of
// workers.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "gpu/application.h"
#include "rewrite/program.h"

namespace wm::rewrite {

// Every launch of a rewritten kernel becomes a launch of `workers` groups over its virtual groups; launches of kernels
// that were not rewritten stay. Two buffers (queue, control) are added behind the application's own.
Result<gpu::Application> with_workers(const gpu::Application& application, const Reply& reply, std::uint32_t workers);

// The virtual range of a launch, offset apart.
Range range_of(const gpu::Launch& launch, std::uint32_t chunk);

}  // namespace wm::rewrite

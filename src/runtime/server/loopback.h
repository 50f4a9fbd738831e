// Metrics for whoever asks on this machine: HTTP on a loopback port, one page, as Prometheus reads it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

Result<Descriptor> listen_on_loopback(std::uint32_t port);
// NativeResults the one who is waiting and hangs up.
void serve_metrics(const Descriptor& listener, const std::string& page);

}  // namespace wm::runtime

// The metrics page over HTTP on a loopback port, as Prometheus reads it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

Result<Descriptor> listen_on_loopback(std::uint32_t port);
// Answers one waiting request and closes the connection.
void serve_metrics(const Descriptor& listener, const std::string& page);

}  // namespace wm::runtime

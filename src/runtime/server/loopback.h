// Pages over HTTP on a loopback port, as Prometheus reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

Result<Descriptor> listen_on_loopback(std::uint32_t port);
// Answers one waiting GET or HEAD request with the page of its path, or 404, and closes the connection.
void serve_http(const Descriptor& listener, const std::function<std::optional<std::string>(const std::string&)>& page);
// The path of a request; "/metrics" for an empty one, empty for anything else than GET and HEAD.
[[nodiscard]] std::string path_of(std::string_view request);

}  // namespace wm::runtime

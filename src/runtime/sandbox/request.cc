#include "runtime/sandbox/request.h"

#include "runtime/sandbox/packing.h"

namespace wm::runtime::sandbox {
namespace {

// The version of the encoding: wm-sandbox may be replaced while a daemon runs.
constexpr std::uint32_t kFormat = 3;

void put(Packer& to, const SandboxLaunch& launch) {
  to.text(launch.kernel).number(launch.dimensions).number(launch.offset ? 1 : 0);
  for (std::size_t i = 0; i < 3; ++i) to.large(launch.global[i]).large(launch.local[i]);
  to.number(static_cast<std::uint32_t>(launch.arguments.size()));
  for (const auto& [kind, size] : launch.arguments) to.number(static_cast<std::uint32_t>(kind)).number(size);
}

SandboxLaunch take_launch(Unpacker& from) {
  SandboxLaunch launch;
  launch.kernel = from.text();
  launch.dimensions = from.number();
  launch.offset = from.number() != 0;
  for (std::size_t i = 0; i < 3; ++i) {
    launch.global[i] = from.large();
    launch.local[i] = from.large();
  }
  const std::uint32_t count = from.number();
  for (std::uint32_t i = 0; i < count && from.ok(); ++i) {
    const auto kind = static_cast<SandboxLaunch::Argument>(from.number());
    launch.arguments.emplace_back(kind, from.number());
  }
  return launch;
}

}  // namespace

Request build_of(const std::string& source, const std::string& options) {
  Request request;
  request.programs.push_back({false, source, options, {}});
  return request;
}

std::string encode(const Request& request) {
  Packer to;
  to.number(kFormat).number(static_cast<std::uint32_t>(request.kind)).number(request.call);
  to.text(request.device).text(request.options).number(static_cast<std::uint32_t>(request.programs.size()));
  for (const Program& p : request.programs) {
    to.number(p.binary ? 1 : 0).text(p.text).text(p.options).number(static_cast<std::uint32_t>(p.headers.size()));
    for (const Header& h : p.headers) to.text(h.name).text(h.text);
  }
  to.number(request.launch ? 1 : 0);
  if (request.launch) put(to, *request.launch);
  to.number(request.binary ? 1 : 0).number(request.comparison ? 1 : 0);
  if (request.comparison) put(to, *request.comparison);
  return to.take();
}

Result<Request> decode(std::string_view bytes) {
  Unpacker from(bytes);
  Request request;
  if (from.number() != kFormat) return Error{"a request of another version"};
  request.kind = static_cast<Request::Kind>(from.number());
  request.call = from.number();
  request.device = from.text();
  request.options = from.text();
  const std::uint32_t programs = from.number();
  for (std::uint32_t i = 0; i < programs && from.ok(); ++i) {
    Program p;
    p.binary = from.number() != 0;
    p.text = from.text();
    p.options = from.text();
    const std::uint32_t headers = from.number();
    for (std::uint32_t h = 0; h < headers && from.ok(); ++h) {
      Header header;
      header.name = from.text();
      header.text = from.text();
      p.headers.push_back(std::move(header));
    }
    request.programs.push_back(std::move(p));
  }
  if (from.number() != 0) request.launch = take_launch(from);
  request.binary = from.number() != 0;
  if (from.number() != 0) request.comparison = take_comparison(from);
  if (!from.ok() || request.kind > Request::Kind::comparison) return Error{"an incomplete request"};
  return request;
}

}  // namespace wm::runtime::sandbox

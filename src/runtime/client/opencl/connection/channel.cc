#include "runtime/client/opencl/connection/channel.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace wm::runtime::client {
namespace {

constexpr int kWelcomeTimeout = 60'000;  // milliseconds; a daemon on a busy host was seen to answer after 19 s
constexpr int kRegionTimeout = 30'000;

template <Plain T>
std::span<const std::byte> view_of(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

Hello hello_from_environment() {
  Hello hello;
  if (const char* priority = std::getenv("WARPMUX_PRIORITY")) hello.priority = std::atoi(priority);
  if (const char* share = std::getenv("WARPMUX_SHARE")) {
    const double value = std::atof(share);
    // The comparison is false for NaN, whose conversion to an integer differs between architectures.
    hello.share = value >= 0.001 ? static_cast<std::uint32_t>(std::min(value, 1000.0) * 1000) : 1;
  }
  if (const char* goal = std::getenv("WARPMUX_GOAL")) {
    hello.goal_microseconds = static_cast<std::uint32_t>(std::strtoul(goal, nullptr, 10));
  }
  if (const char* part = std::getenv("WARPMUX_GOAL_PART")) {
    const double value = std::atof(part);
    if (value > 0 && value <= 1) hello.goal_part = static_cast<std::uint32_t>(std::max(value * 1000 + 0.5, 1.0));
  }
  std::snprintf(hello.name, sizeof hello.name, "%s", program_invocation_short_name);
  return hello;
}

}  // namespace

Channel::Channel(Descriptor socket, SharedArea area, const Welcome& welcome)
    : socket_(std::move(socket)),
      area_(std::move(area)),
      device_uses_host_memory_(welcome.host_memory != 0),
      native_results_(welcome.native_results),
      ring_(&area_.header().ring, area_.ring()) {}

Result<std::unique_ptr<Channel>> Channel::connect(const std::string& path) {
  auto socket = connect_to(path);
  if (!socket) return socket.error();
  if (!send_packet(*socket, view_of(hello_from_environment()))) {
    return Error{path + ": the daemon closed the connection"};
  }
  auto answer = receive_packet(*socket, kWelcomeTimeout);
  if (!answer) {
    return Error{path + ": no answer from the daemon within " + std::to_string(kWelcomeTimeout / 1000) + " s"};
  }
  if (answer->bytes.size() != sizeof(Welcome)) return Error{path + ": the answer is not that of a warpmux daemon"};
  Welcome welcome;
  std::memcpy(&welcome, answer->bytes.data(), sizeof welcome);
  if (welcome.magic != kMagic || welcome.version != kVersion) {
    return Error{path + ": the daemon has another protocol version"};
  }
  welcome.reason[sizeof welcome.reason - 1] = 0;
  if (welcome.accepted == 0) return Error{path + ": " + welcome.reason};
  auto area = SharedArea::attach(answer->file);
  if (!area) return area.error();
  return std::unique_ptr<Channel>(new Channel(std::move(*socket), std::move(*area), welcome));
}

bool Channel::lost() {
  if (known_lost()) return true;
  if (!peer_closed(socket_)) return false;
  if (!lost_.exchange(true)) {
    std::fputs("warpmux: the connection to the daemon is lost; OpenCL calls fail from now on\n", stderr);
  }
  return true;
}

bool Channel::post(Writer& message) {
  const auto bytes = message.finish();
  if (bytes.size() > kMaxMessageBytes) return false;
  const std::lock_guard lock(ring_mutex_);
  while (!known_lost()) {
    if (ring_.try_write(bytes)) return true;
    ring_.wait_for_room(kLostCheckInterval);
    if (lost()) return false;
  }
  return false;
}

std::uint32_t Channel::request_region(std::uint64_t bytes, Mapping& map) {
  const std::lock_guard lock(request_mutex_);
  if (!send_packet(socket_, view_of(RegionRequest{bytes}))) return 0;
  const auto packet = receive_packet(socket_, kRegionTimeout);
  RegionAnswer answer;
  if (!packet || packet->bytes.size() != sizeof answer) return 0;
  std::memcpy(&answer, packet->bytes.data(), sizeof answer);
  if (answer.region == 0) return 0;
  auto made = Mapping::of(packet->file, bytes);
  if (!made) return 0;
  map = std::move(*made);
  return answer.region;
}

}  // namespace wm::runtime::client

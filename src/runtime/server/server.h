// The daemon's sockets: accepts clients, answers their region requests, and serves status and metrics.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runtime/server/client_list.h"
#include "runtime/server/control.h"
#include "runtime/server/daemon.h"
#include "runtime/server/device_monitor.h"
#include "runtime/server/metrics.h"
#include "runtime/server/serve_options.h"
#include "runtime/server/status.h"

namespace wm::runtime {

class Server {
 public:
  static Result<std::unique_ptr<Server>> open(const ServeOptions& options);
  // Over a device that the caller opens, once the socket is there.
  using OpenDevice = std::function<Result<std::unique_ptr<Backend>>()>;
  static Result<std::unique_ptr<Server>> open(const ServeOptions& options, const OpenDevice& open_device);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves until `stop` is readable (a signalfd or an eventfd). False: the device has failed, and the process must end.
  bool run(int stop);
  // Closes all clients. False: a kernel still runs after `seconds`, and would keep the process from ending.
  bool drain(double seconds);
  // The document of `wm status`.
  [[nodiscard]] std::string status() { return status_document(source()); }
  // The metrics that Prometheus reads.
  [[nodiscard]] std::string metrics() { return metrics_page(source(), gone_); }
  // "Portable Computing Language: pthread-…, policy accelos", and a line for each admission rule.
  [[nodiscard]] std::string about();

 private:
  Server(ServeOptions options, std::unique_ptr<Backend> backend, std::unique_ptr<policy::Policy> policy,
         std::string policy_name);
  void greet(ClientConnection& connection);
  // Handles a packet or the end of a connection. True: the connection is to be closed.
  bool handle_socket(ClientConnection& connection);
  bool handle_region_request(ClientConnection& connection);
  // The page of a path of the metrics port; nothing where there is none.
  [[nodiscard]] std::optional<std::string> page(const std::string& path);
  // Answers a request of `wm set`, `wm policy` or `wm end`.
  void control(const Descriptor& socket, const Peer& peer);
  // The client leaves: its counts go into the totals of its user.
  void note_leaving(const Session& session);
  // Prints once per client that its kernel runs on although the client has gone.
  void report_orphaned_kernels();
  [[nodiscard]] StatusSource source();

  const ServeOptions options_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  Daemon daemon_;
  DeviceMonitor device_monitor_;
  Descriptor listener_, metrics_listener_;
  ClientList clients_;
  Control control_;
  TotalsByUser gone_;
  std::set<std::uint64_t> reported_;  // clients whose orphaned kernels were reported
};

}  // namespace wm::runtime

// The daemon: one device, one socket, any number of clients.
#pragma once

#include <atomic>
#include <deque>
#include <future>
#include <list>
#include <memory>
#include <set>
#include <string>

#include "runtime/session/session.h"

namespace wm::runtime {

struct ServeOptions {
  std::string socket;
  unsigned mode = 0600;
  std::string device;                 // part of its name; empty: the first
  std::string policy = "accelos";     // or "fifo": what the device does by itself
  std::uint64_t memory = 0;           // for all clients; 0: what the device has
  std::uint64_t client_memory = 0;    // for each; 0: no limit of its own
  bool wait_for_memory = false;       // instead of failing, where others hold it
  bool rewrite = true;                // kernels as workers, where that can be
  std::uint32_t short_launch = 100;   // microseconds: what takes less is not divided; alone three times as much
  std::string cache;                  // of rewritten programs; empty: the user's
  std::uint32_t metrics_port = 0;     // on the loopback; 0: none
  std::uint32_t trial_seconds = 120;  // that a program may take to compile, in a process of its own; 0: none is tried
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> open(const ServeOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves until `stop` becomes readable (a signalfd, an eventfd). False: until the device has failed for good, and
  // nothing is left but to end the process.
  bool run(int stop);
  // Lets go of all clients. False: the device still runs something after `seconds`, and would keep us.
  bool drain(double seconds);
  // What `wm status` prints: see docs/design/runtime.md.
  [[nodiscard]] std::string status();
  // The same statistics as Prometheus reads them.
  [[nodiscard]] std::string metrics();
  // "PoCL: pthread-…, policy accelos"
  [[nodiscard]] std::string about() const;

 private:
  struct Connection {
    Descriptor socket;
    std::shared_ptr<Session> session;  // none: it has not said hello
  };
  Server(ServeOptions options, std::unique_ptr<Native> native);
  void try_driver();
  void greet(Connection& connection);
  // True: it is to be let go of.
  bool hear(Connection& connection);
  void let_go(Connection& connection);
  // Says once that a kernel runs on whose client has gone.
  void report_orphaned_kernels();
  // Looks again where something has failed. True: the device does nothing any more.
  bool device_failed();
  void answer_metrics();

  const ServeOptions options_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::unique_ptr<Native> native_;
  ObjectCounts census_;
  std::string policy_;
  std::unique_ptr<MemoryLimits> limits_;
  std::unique_ptr<rewrite::Rewriter> rewriter_;
  std::future<void> warming_;  // its worker
  Compilers compilers_;
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  std::future<NativeResults> asking_;
  NativeResults answers_;  // the device's driver's
  std::unique_ptr<WorkerPrograms> forms_;
  std::unique_ptr<Precompilation> precompilation_;
  std::unique_ptr<Scheduler> scheduler_;
  Descriptor listener_, metrics_listener_;
  std::future<bool> pulse_;  // under way: whether the device lives
  std::list<Connection> connections_;
  std::list<std::future<void>> leaving_;
  std::uint64_t clients_ = 0, cut_off_ = 0;
  struct CutOff {
    Session::Who who;
    std::string why;
  };
  std::deque<CutOff> cut_offs_;       // the latest
  std::set<std::uint64_t> reported_;  // clients whose kernels were
};

}  // namespace wm::runtime

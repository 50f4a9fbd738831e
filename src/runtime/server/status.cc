// What a daemon says about itself: a document for `wm status`, and the same as Prometheus's text.
#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "runtime/server/server.h"

namespace wm::runtime {
namespace {

// Turnaround against time on the device: what sharing costs, as far as it can be known without running alone.
double slowdown(const ClientStatistics& f) {
  if (f.device_nanoseconds == 0) return 1;
  return 1 + static_cast<double>(f.waited_nanoseconds) / static_cast<double>(f.device_nanoseconds);
}

nlohmann::ordered_json alive(const ObjectCounts& c) {
  return {{"memories", c.memories.load()}, {"samplers", c.samplers.load()}, {"queues", c.queues.load()},
          {"programs", c.programs.load()}, {"kernels", c.kernels.load()},   {"events", c.events.load()},
          {"commands", c.commands.load()}};
}

nlohmann::ordered_json of_client(const Session& session, const ClientStatistics& f) {
  const Session::Counts counts = session.counts();
  return {{"client", session.who().number},
          {"name", session.who().name},
          {"pid", session.who().peer.pid},
          {"uid", session.who().peer.uid},
          {"seconds", counts.seconds},
          {"priority", f.priority},
          {"share", f.share},
          {"kernel", f.kernel},
          {"workers", f.workers},
          {"running_seconds", static_cast<double>(f.running_nanoseconds) * 1e-9},
          {"queued", f.outstanding},
          {"commands", f.commands},
          {"launches", f.launches},
          {"as_workers", f.as_workers},
          {"device_seconds", static_cast<double>(f.device_nanoseconds) * 1e-9},
          {"waited_seconds", static_cast<double>(f.waited_nanoseconds) * 1e-9},
          {"slowdown", slowdown(f)},
          {"memory_bytes", counts.bytes},
          {"memories", counts.memories},
          {"programs", counts.programs},
          {"kernels", counts.kernels},
          {"queues", counts.queues},
          {"whole_kernels", counts.whole}};
}

}  // namespace

std::string Server::status() {
  auto cut_off = nlohmann::ordered_json::array(), left_behind = cut_off;
  for (const CutOff& c : cut_offs_) {
    cut_off.push_back({{"client", c.who.number}, {"name", c.who.name}, {"pid", c.who.peer.pid}, {"reason", c.why}});
  }
  for (const auto& l : scheduler_->orphaned_kernels()) {
    const Session::Who& who = l.client->who();
    left_behind.push_back({{"client", who.number},
                           {"name", who.name},
                           {"pid", who.peer.pid},
                           {"kernel", l.kernel},
                           {"seconds", static_cast<double>(l.nanoseconds) * 1e-9}});
  }
  const sandbox::Sandbox::Counts sandbox = sandbox_->counts(), launches = sandbox_->launch_counts();
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - since_;
  nlohmann::ordered_json document{{"schema", 1},
                                  {"pid", ::getpid()},
                                  {"socket", options_.socket},
                                  {"seconds", age.count()},
                                  {"platform", native_->platform_name()},
                                  {"device", native_->text(CL_DEVICE_NAME)},
                                  {"policy", policy_},
                                  {"clients_seen", clients_},
                                  {"clients_cut_off", cut_off_},
                                  {"clients_leaving", leaving_.size()},
                                  {"cut_off", cut_off},
                                  {"left_behind", left_behind},
                                  {"programs_tried", sandbox.tried},
                                  {"programs_known", sandbox.known},
                                  {"programs_refused", sandbox.refused},
                                  {"launches_rehearsed", launches.tried},
                                  {"launches_refused", launches.refused},
                                  {"alive", alive(census_)}};
  auto clients = nlohmann::ordered_json::array();
  for (const Connection& c : connections_) {
    if (c.session) clients.push_back(of_client(*c.session, scheduler_->statistics(*c.session)));
  }
  document["clients"] = clients;
  // Names are what clients say they are: bytes that are no text are replaced.
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string Server::metrics() {
  std::string page;
  const auto one = [&page](const char* name, const char* type, const char* help, auto value) {
    page += fmt::format("# HELP warpmux_{0} {2}\n# TYPE warpmux_{0} {1}\nwarpmux_{0} {3}\n", name, type, help, value);
  };
  one("clients_total", "counter", "Clients that have connected.", clients_);
  one("clients_cut_off_total", "counter", "Clients cut off for breaking the protocol.", cut_off_);
  one("memory_objects", "gauge", "Memory objects alive on the device.", census_.memories.load());
  one("commands_open", "gauge", "Commands that have not ended.", census_.commands.load());
  const auto each = [&](const char* name, const char* type, const char* help, auto value) {
    page += fmt::format("# HELP warpmux_client_{0} {2}\n# TYPE warpmux_client_{0} {1}\n", name, type, help);
    for (const Connection& c : connections_) {
      if (!c.session) continue;
      const auto& who = c.session->who();
      std::string program;  // as a label: quotes and backslashes escaped, other controls left out
      for (const char ch : who.name) {
        if (ch == '"' || ch == '\\') program += '\\';
        if (static_cast<unsigned char>(ch) >= ' ') program += ch;
      }
      page += fmt::format("warpmux_client_{}{{client=\"{}\",program=\"{}\"}} {}\n", name, who.number, program,
                          value(*c.session, scheduler_->statistics(*c.session)));
    }
  };
  each("launches_total", "counter", "Kernels started.",
       [](const Session&, const ClientStatistics& f) { return f.launches; });
  each("device_seconds_total", "counter", "Time its kernels ran.",
       [](const Session&, const ClientStatistics& f) { return static_cast<double>(f.device_nanoseconds) * 1e-9; });
  each("waited_seconds_total", "counter", "Time its kernels were ready and did not run.",
       [](const Session&, const ClientStatistics& f) { return static_cast<double>(f.waited_nanoseconds) * 1e-9; });
  each("queued", "gauge", "Commands that have not ended.",
       [](const Session&, const ClientStatistics& f) { return f.outstanding; });
  each("memory_bytes", "gauge", "Device memory held.",
       [](const Session& s, const ClientStatistics&) { return s.counts().bytes; });
  return page;
}

}  // namespace wm::runtime

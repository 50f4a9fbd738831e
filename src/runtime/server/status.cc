#include "runtime/server/status.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"

namespace wm::runtime {
namespace {

// Turnaround time of the completed launches relative to their isolated time; nothing before the first has completed.
nlohmann::ordered_json slowdown(const ClientStatistics& f) {
  if (f.isolated_nanoseconds <= 0) return nullptr;
  return f.turnaround_nanoseconds / f.isolated_nanoseconds;
}

// How the isolated time was obtained.
const char* slowdown_basis(const ClientStatistics& f) {
  if (f.estimated_launches == 0) return "measured";
  return f.estimated_launches * 2 < f.launches ? "mostly measured" : "estimated";
}

nlohmann::ordered_json object_counts(const ObjectCounts& c) {
  return {{"memories", c.memories.load()}, {"samplers", c.samplers.load()}, {"queues", c.queues.load()},
          {"programs", c.programs.load()}, {"kernels", c.kernels.load()},   {"events", c.events.load()},
          {"commands", c.commands.load()}};
}

nlohmann::ordered_json client_entry(const Session& session, const ClientStatistics& f) {
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
          {"turnaround_seconds", f.turnaround_nanoseconds * 1e-9},
          {"isolated_seconds", f.isolated_nanoseconds * 1e-9},
          {"slowdown", slowdown(f)},
          {"slowdown_basis", slowdown_basis(f)},
          {"launches_estimated", f.estimated_launches},
          {"memory_bytes", counts.bytes},
          {"memories", counts.memories},
          {"programs", counts.programs},
          {"kernels", counts.kernels},
          {"queues", counts.queues},
          {"unmodified_kernels", counts.unmodified_kernels},
          {"whole_kernels", counts.unmodified_kernels}};  // the former name
}

// The program's name as a label: quotes and backslashes are escaped, control characters are left out.
std::string label(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) >= ' ') text += c;
  }
  return text;
}

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

std::string status_document(const StatusSource& source) {
  Daemon& daemon = source.daemon;
  ClientList& clients = source.clients;
  auto cut_off = nlohmann::ordered_json::array(), orphaned = cut_off, connected = cut_off;
  for (const ClientList::CutOff& c : clients.cut_offs()) {
    cut_off.push_back({{"client", c.who.number}, {"name", c.who.name}, {"pid", c.who.peer.pid}, {"reason", c.reason}});
  }
  for (const auto& k : daemon.scheduler().orphaned_kernels()) {
    const Client::Identity client = k.client->identity();
    orphaned.push_back({{"client", client.number},
                        {"name", client.name},
                        {"pid", client.pid},
                        {"kernel", k.kernel},
                        {"seconds", seconds(k.nanoseconds)}});
  }
  for (const auto& session : clients.sessions()) {
    connected.push_back(client_entry(*session, daemon.scheduler().statistics(*session)));
  }
  const sandbox::Sandbox::Counts programs = daemon.sandbox().counts(), launches = daemon.sandbox().launch_counts();
  const nlohmann::ordered_json document{{"schema", 1},
                                        {"pid", ::getpid()},
                                        {"socket", source.socket},
                                        {"seconds", source.seconds},
                                        {"platform", daemon.backend().platform_name()},
                                        {"device", daemon.backend().device_name()},
                                        {"policy", daemon.policy_name()},
                                        {"clients_seen", clients.seen()},
                                        {"clients_cut_off", clients.cut_off_count()},
                                        {"clients_leaving", clients.closing()},
                                        {"cut_off", cut_off},
                                        {"orphaned_kernels", orphaned},
                                        {"left_behind", orphaned},  // the former name
                                        {"programs_tried", programs.tried},
                                        {"programs_known", programs.known},
                                        {"programs_refused", programs.refused},
                                        {"launches_precompiled", launches.tried},
                                        {"launches_rehearsed", launches.tried},  // the former name
                                        {"launches_refused", launches.refused},
                                        {"alive", object_counts(daemon.counts())},
                                        {"clients", connected}};
  // Clients choose their names, so bytes that are not UTF-8 are replaced.
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string metrics_page(const StatusSource& source) {
  const ObjectCounts& counts = source.daemon.counts();
  const auto sessions = source.clients.sessions();
  std::string page;
  const auto add = [&page](const char* name, const char* type, const char* help, auto value) {
    page += fmt::format("# HELP warpmux_{0} {2}\n# TYPE warpmux_{0} {1}\nwarpmux_{0} {3}\n", name, type, help, value);
  };
  add("clients_total", "counter", "Clients that have connected.", source.clients.seen());
  add("clients_cut_off_total", "counter", "Clients cut off for breaking the protocol.", source.clients.cut_off_count());
  add("memory_objects", "gauge", "Memory objects alive on the device.", counts.memories.load());
  add("commands_open", "gauge", "Commands that have not ended.", counts.commands.load());
  const auto add_per_client = [&](const char* name, const char* type, const char* help, auto value) {
    page += fmt::format("# HELP warpmux_client_{0} {2}\n# TYPE warpmux_client_{0} {1}\n", name, type, help);
    for (const auto& session : sessions) {
      page += fmt::format("warpmux_client_{}{{client=\"{}\",program=\"{}\"}} {}\n", name, session->who().number,
                          label(session->who().name), value(*session, source.daemon.scheduler().statistics(*session)));
    }
  };
  using Statistics = ClientStatistics;
  add_per_client("launches_total", "counter", "Kernels started.",
                 [](const Session&, const Statistics& s) { return s.launches; });
  add_per_client("device_seconds_total", "counter", "Time its kernels ran.",
                 [](const Session&, const Statistics& s) { return seconds(s.device_nanoseconds); });
  add_per_client("waited_seconds_total", "counter", "Time its kernels were ready and did not run.",
                 [](const Session&, const Statistics& s) { return seconds(s.waited_nanoseconds); });
  add_per_client("queued", "gauge", "Commands that have not ended.",
                 [](const Session&, const Statistics& s) { return s.outstanding; });
  add_per_client("memory_bytes", "gauge", "Device memory held.",
                 [](const Session& session, const Statistics&) { return session.counts().bytes; });
  return page;
}

}  // namespace wm::runtime

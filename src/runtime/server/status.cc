#include "runtime/server/status.h"

#include <unistd.h>

#include "base/json.h"
#include "runtime/server/control.h"

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
  return {{"client", session.info().number},
          {"name", session.info().name},
          {"pid", session.info().peer.pid},
          {"uid", session.info().peer.uid},
          {"user", user_name(session.info().peer.uid)},
          {"seconds", counts.seconds},
          {"priority", f.priority},
          {"share", f.share},
          {"goal_seconds", f.goal_nanoseconds > 0 ? nlohmann::ordered_json(f.goal_nanoseconds * 1e-9) : nullptr},
          {"goal_part", f.goal_part > 0 ? nlohmann::ordered_json(f.goal_part) : nullptr},
          {"kernel", f.kernel},
          {"workers", f.workers},
          {"running_seconds", static_cast<double>(f.running_nanoseconds) * 1e-9},
          {"queued", f.outstanding},
          {"commands", f.commands},
          {"launches", f.launches},
          {"as_workers", f.as_workers},
          {"unmodified_short", f.unmodified_short},
          {"unmodified_capped", f.unmodified_capped},
          {"queued_workers", f.queued_workers},
          {"repeated_workers", f.repeated_workers},
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

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

std::string status_document(const StatusSource& source) {
  Daemon& daemon = source.daemon;
  ClientList& clients = source.clients;
  auto cut_off = nlohmann::ordered_json::array(), orphaned = cut_off, connected = cut_off;
  for (const ClientList::CutOff& c : clients.cut_offs()) {
    cut_off.push_back(
        {{"client", c.info.number}, {"name", c.info.name}, {"pid", c.info.peer.pid}, {"reason", c.reason}});
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
                                        {"compiler", daemon.backend().compiler_name()},
                                        {"policy", daemon.policy_name()},
                                        {"admission_rules", daemon.scheduler().admission_rules()},
                                        {"clients_seen", clients.seen()},
                                        {"clients_cut_off", clients.cut_off_count()},
                                        {"clients_leaving", clients.closing()},
                                        {"cut_off", cut_off},
                                        {"orphaned_kernels", orphaned},
                                        {"left_behind", orphaned},  // the former name
                                        {"programs_tried", programs.tried},
                                        {"programs_known", programs.known},
                                        {"programs_refused", programs.refused},
                                        {"kernel_faults", daemon.backend().kernel_fault_count()},
                                        {"launches_precompiled", launches.tried},
                                        {"launches_rehearsed", launches.tried},  // the former name
                                        {"launches_refused", launches.refused},
                                        {"alive", object_counts(daemon.counts())},
                                        {"clients", connected}};
  // Clients choose their names, so bytes that are not UTF-8 are replaced.
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace wm::runtime

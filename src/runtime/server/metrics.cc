#include "runtime/server/metrics.h"

#include <fmt/format.h>

#include "runtime/server/control.h"

namespace wm::runtime {
namespace {

double seconds(double nanoseconds) { return nanoseconds * 1e-9; }

// A text as the value of a label: quotes and backslashes are escaped, control characters are left out.
std::string label(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) >= ' ') text += c;
  }
  return text;
}

class Page {
 public:
  void begin(const char* name, const char* type, const char* help) {
    name_ = name;
    text += fmt::format("# HELP warpmux_{0} {2}\n# TYPE warpmux_{0} {1}\n", name, type, help);
  }
  template <typename T>
  void value(const std::string& labels, T number) {
    text += fmt::format("warpmux_{}{} {}\n", name_, labels, number);
  }
  template <typename T>
  void single(const char* name, const char* type, const char* help, T number) {
    begin(name, type, help);
    value("", number);
  }

  std::string text;

 private:
  const char* name_ = "";
};

struct ClientRow {
  std::string labels;
  ClientStatistics statistics;
  std::uint64_t bytes = 0;
};

void add_clients(Page& page, const std::vector<ClientRow>& rows) {
  const auto all = [&](const char* name, const char* type, const char* help, auto value) {
    page.begin(name, type, help);
    for (const ClientRow& row : rows) page.value(row.labels, value(row));
  };
  all("client_launches_total", "counter", "Kernels started.", [](const auto& r) { return r.statistics.launches; });
  all("client_device_seconds_total", "counter", "Device time; time that kernels shared is divided among them.",
      [](const auto& r) { return seconds(static_cast<double>(r.statistics.device_nanoseconds)); });
  all("client_waited_seconds_total", "counter", "Time its kernels were ready and did not run.",
      [](const auto& r) { return seconds(static_cast<double>(r.statistics.waited_nanoseconds)); });
  all("client_queued", "gauge", "Commands that have not ended.",
      [](const auto& r) { return r.statistics.outstanding; });
  all("client_memory_bytes", "gauge", "Device memory held.", [](const auto& r) { return r.bytes; });
  all("client_workers", "gauge", "Groups of its running kernel that may run at once.",
      [](const auto& r) { return r.statistics.workers; });
  all("client_share", "gauge", "Its weight.", [](const auto& r) { return r.statistics.share; });
  all("client_priority", "gauge", "Its priority.", [](const auto& r) { return r.statistics.priority; });
  page.begin("client_slowdown", "gauge", "Turnaround time of its launches relative to isolated execution.");
  for (const ClientRow& row : rows) {
    const ClientStatistics& s = row.statistics;
    if (s.isolated_nanoseconds > 0) page.value(row.labels, s.turnaround_nanoseconds / s.isolated_nanoseconds);
  }
}

void add_users(Page& page, const TotalsByUser& users) {
  const auto all = [&](const char* name, const char* help, auto value) {
    page.begin(name, "counter", help);
    for (const auto& [user, totals] : users) page.value(fmt::format("{{user=\"{}\"}}", label(user)), value(totals));
  };
  all("user_launches_total", "Kernels started by all clients of a user, those that have gone included.",
      [](const Totals& t) { return t.launches; });
  all("user_device_seconds_total", "Device time of all clients of a user.",
      [](const Totals& t) { return seconds(static_cast<double>(t.device_nanoseconds)); });
  all("user_turnaround_seconds_total", "Turnaround time of launches of a user.",
      [](const Totals& t) { return seconds(t.turnaround_nanoseconds); });
  all("user_isolated_seconds_total", "Isolated time of the same launches.",
      [](const Totals& t) { return seconds(t.isolated_nanoseconds); });
}

}  // namespace

std::string metrics_page(const StatusSource& source, TotalsByUser users) {
  std::vector<ClientRow> rows;
  for (const auto& session : source.clients.sessions()) {
    const std::string user = user_name(session->info().peer.uid);
    rows.push_back({fmt::format("{{client=\"{}\",program=\"{}\",user=\"{}\"}}", session->info().number,
                                label(session->info().name), label(user)),
                    source.daemon.scheduler().statistics(*session), session->counts().bytes});
    users[user].add(rows.back().statistics);
  }
  Totals device;
  for (const auto& [user, t] : users) {
    device.launches += t.launches;
    device.as_workers += t.as_workers;
    device.device_nanoseconds += t.device_nanoseconds;
  }
  const ObjectCounts& counts = source.daemon.counts();
  const auto programs = source.daemon.sandbox().counts(), launches = source.daemon.sandbox().launch_counts();
  Page page;
  page.single("uptime_seconds", "gauge", "Time since the daemon started.", source.seconds);
  page.single("clients", "gauge", "Clients that are connected.", rows.size());
  page.single("clients_total", "counter", "Clients that have connected.", source.clients.seen());
  page.single("clients_cut_off_total", "counter", "Clients that the daemon ended.", source.clients.cut_off_count());
  page.single("launches_total", "counter", "Kernels started by all clients.", device.launches);
  page.single("launches_as_workers_total", "counter", "Launches that ran divided.", device.as_workers);
  page.single("device_seconds_total", "counter", "Device time of all clients.",
              seconds(static_cast<double>(device.device_nanoseconds)));
  page.single("kernel_faults_total", "counter", "Kernels that ended with a fault in the daemon's process.",
              source.daemon.backend().kernel_fault_count());
  page.single("programs_refused_total", "counter", "Programs that failed in the sandbox.", programs.refused);
  page.single("launches_refused_total", "counter", "Launches that failed in the sandbox.", launches.refused);
  page.single("memory_objects", "gauge", "Memory objects alive on the device.", counts.memories.load());
  page.single("commands_open", "gauge", "Commands that have not ended.", counts.commands.load());
  add_users(page, users);
  add_clients(page, rows);
  return page.text;
}

}  // namespace wm::runtime

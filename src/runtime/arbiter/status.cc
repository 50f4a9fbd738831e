#include "runtime/arbiter/status.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "runtime/arbiter/goal_admission.h"

namespace wm::runtime {

namespace {

using Document = nlohmann::ordered_json;

Document or_null(const auto& value) { return value ? Document(*value) : Document(nullptr); }

std::string reached_text(const ArbitratedProgram& program) {
  const auto reached = program.reached();
  if (!reached) return "";
  if (program.state.goal.kind == ProgramGoal::Kind::p99_nanoseconds)
    return fmt::format("p99={:.1f}us", *reached / 1000);
  if (program.state.goal.kind == ProgramGoal::Kind::part_of_isolated_rate) return fmt::format("{:.2f}", *reached);
  return fmt::format("rate={:.0f}/s", *reached);
}

// The mechanisms in force, and which of them the program could not apply.
std::string mechanism_text(const ArbitratedProgram& program) {
  const ProgramDecision& d = program.decision();
  const ProgramCounters& c = program.counters();
  std::string text = d.mechanism();
  if (d.slice_microseconds != 0 && c.sliced_groups == 0) text += " (not applied: no channel group takes it)";
  if ((d.modes & kLimitBlocks) != 0 && c.limited_launches == 0 && c.unlimited_launches != 0)
    text += " (not applied: no launch can be padded)";
  if ((d.modes & kPlace) != 0 && c.placed_launches == 0 && c.unplaced_launches != 0)
    text +=
        fmt::format(" (not applied: no launch can be placed; at most {}% of the blocks per SM)", d.occupancy_percent);
  if ((d.modes & kWorkers) != 0 && c.placed_launches == 0 && c.unplaced_launches != 0)
    text += fmt::format(" (not applied: no launch can be workers; at most {}% of the blocks per SM)",
                        d.occupancy_percent == 0 ? 100 : d.occupancy_percent);
  if ((d.modes & kGate) != 0 && program.gates().gated_launches == 0 && program.gates().ungated_launches != 0)
    text += " (not applied: no kernel has gates)";
  return text;
}

Document kernel_entries(const ArbitratedProgram& p, const ArbiterOptions& options) {
  Document kernels = Document::array();
  const bool are_workers = options.sm_groups.workers != WorkerUse::none;
  for (const ArbitratedProgram::KernelForm& k : p.kernels()) {
    kernels.push_back({{"name", k.kernel},
                       {"gates", k.is_made && !are_workers},
                       {"workers", k.is_made && are_workers},
                       {"reason", k.reason}});
  }
  return kernels;
}

// SMs of its workers: those of the program, of which it has all while nothing limits it, and others that they have not
// left.
std::uint32_t used_sms(const ArbitratedProgram& p, const ArbiterOptions& options) {
  const auto sms = WorkerSms::of(p.workers().sms.load(std::memory_order_relaxed));
  return sms ? std::min(sms->own + sms->leaving, options.sm_groups.all()) : 0;
}

Document program_entry(const ArbitratedProgram& p, const ArbiterOptions& options) {
  const ProgramCounters& c = p.counters();
  const GateCounters& g = p.gates();
  const auto value = [](const auto& counter) { return counter.load(std::memory_order_relaxed); };
  const std::uint64_t requests = value(c.requests);
  const double mean =
      requests == 0 ? 0 : static_cast<double>(value(c.request_nanoseconds)) / 1e3 / static_cast<double>(requests);
  const Document counts{{"graph_launches", value(c.graph_launches)},
                        {"limited_launches", value(c.limited_launches)},
                        {"unlimited_launches", value(c.unlimited_launches)},
                        {"placed_launches", value(c.placed_launches)},
                        {"unplaced_launches", value(c.unplaced_launches)},
                        {"added_worker_launches", value(p.workers().added_launches)},
                        {"used_sms", used_sms(p, options)},
                        {"gated_launches", value(g.gated_launches)},
                        {"ungated_launches", value(g.ungated_launches)},
                        {"gate_closings", value(g.closings)},
                        {"gates_closed_seconds", static_cast<double>(value(g.closed_nanoseconds)) * 1e-9},
                        {"waits", value(c.waits)},
                        {"waited_seconds", static_cast<double>(value(c.waited_nanoseconds)) * 1e-9},
                        {"requests", requests},
                        {"mean_request_us", mean},
                        {"window_p99_us", p.last_window().p99_nanoseconds / 1e3},
                        {"channel_groups", value(c.channel_groups)},
                        {"sliced_groups", value(c.sliced_groups)},
                        {"applied_slice_us", value(c.applied_slice)},
                        {"slice_failures", value(c.slice_failures)}};
  return {{"client", p.identity.number},
          {"name", p.identity.name},
          {"pid", p.identity.peer.pid},
          {"user", user_name(p.identity.peer.uid)},
          {"share", p.share},
          {"priority", p.state.priority},
          {"seconds", p.seconds()},
          {"state", p.state.is_active ? "active" : "idle"},
          {"launches", value(c.launches)},
          {"goal", goal_text(p.state.goal)},
          {"reached", reached_text(p)},
          {"mechanism", mechanism_text(p)},
          {"fault", value(c.fault)},
          {"counters", counts},
          {"kernels", kernel_entries(p, options)},
          // The keys of the daemons that execute launches themselves.
          {"kernel", ""},
          {"workers", 0},
          {"queued", 0},
          {"device_seconds", 0.0},
          {"slowdown", nullptr},
          {"slowdown_basis", nullptr},
          {"memory_bytes", value(c.memory_bytes)},
          {"memory_limit_bytes", value(c.memory_limit)},
          {"memories", 0},
          {"programs", 0}};
}

}  // namespace

std::string arbiter_status(const ArbiterStatus& status) {
  Document clients = Document::array();
  for (const ArbitratedProgram* program : status.programs) clients.push_back(program_entry(*program, status.options));
  const Document alive{{"memories", 0}, {"programs", 0}, {"kernels", 0}, {"queues", 0}, {"commands", 0}};
  const bool is_mps = status.options.sharing == Sharing::mps;
  const Document document{{"schema", 1},
                          {"pid", ::getpid()},
                          {"socket", status.options.socket},
                          {"seconds", status.seconds},
                          {"platform", "CUDA"},
                          {"device", status.device},
                          {"policy", status.policy},
                          {"clients_seen", status.seen},
                          {"clients_cut_off", 0},
                          {"clients_leaving", 0},
                          {"cut_off", Document::array()},
                          {"orphaned_kernels", Document::array()},
                          {"alive", alive},
                          {"arbiter",
                           {{"sharing", is_mps ? "mps" : "isolated"},
                            {"mps_pipe_folder", status.options.pipe_folder},
                            {"headroom_percent", or_null(status.options.headroom_percent)},
                            {"max_loss", or_null(status.options.max_loss)},
                            {"client_memory_bytes", status.options.client_memory},
                            {"gates", status.options.gates != Gates::none},
                            {"workers", status.options.sm_groups.workers != WorkerUse::none},
                            {"slice_us", status.options.slice_microseconds},
                            {"goals_exhausted", status.goals_exhausted}}},
                          {"clients", clients}};
  // Programs choose their names, so bytes that are not UTF-8 are replaced.
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

std::string control_arbitrated(const std::string& request, const std::vector<ArbitratedProgram*>& programs) {
  const auto text_of = [](const Document& answer) {
    return answer.dump(-1, ' ', false, Document::error_handler_t::replace);
  };
  const auto error = [&text_of](const std::string& text) { return text_of({{"error", text}}); };
  const Document document = Document::parse(request, nullptr, false);
  if (!document.is_object()) return error("the request is no JSON object");
  try {
    if (document.value("op", "") != "set") return error("this daemon can only change a client's priority");
    const std::string who = document.value("client", "");
    for (ArbitratedProgram* p : programs) {
      if (std::to_string(p->identity.number) != who && std::to_string(p->identity.peer.pid) != who &&
          p->identity.name != who)
        continue;
      const int priority = document.value("priority", p->state.priority);
      if (priority < 0 || priority > 100) return error("priority must be from 0 to 100");
      p->state.priority = priority;
      return text_of({{"done", fmt::format("client {} ({}, pid {}): priority {}", p->identity.number, p->identity.name,
                                           p->identity.peer.pid, priority)}});
    }
    return error("no client '" + who + "'; wm status lists them");
  } catch (const Document::exception&) {  // a value of another type than expected
    return error("the request has a value of a wrong type");
  }
}

}  // namespace wm::runtime

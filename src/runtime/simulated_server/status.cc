#include "runtime/simulated_server/status.h"

#include <unistd.h>

#include "base/json.h"

namespace wm::runtime {

namespace {

using Document = nlohmann::ordered_json;

Document program_entry(ServedProgram& program, double simulated_seconds, double seconds_per_cycle) {
  const ProgramCounts& c = program.counts;
  const bool is_compared = c.isolated_cycles > 0;
  Document slowdown;  // null: no launch has an isolated rate
  if (is_compared) slowdown = static_cast<double>(c.compared_cycles) / c.isolated_cycles;
  const std::string kernel = program.running.empty() ? "" : program.running.begin()->second.kernel;
  return {{"client", program.identity.number},
          {"name", program.identity.name},
          {"pid", program.identity.peer.pid},
          {"user", user_name(program.identity.peer.uid)},
          {"share", program.terms.share},
          {"priority", program.terms.priority},
          {"seconds", simulated_seconds},
          {"state", program.is_waiting() ? "waits" : "runs on the host"},
          {"kernel", kernel},
          {"workers", 0},
          {"queued", program.running.size()},
          {"launches", c.launches},
          {"device_seconds", static_cast<double>(c.cycles) * seconds_per_cycle},
          {"slowdown", slowdown},
          {"slowdown_basis", is_compared ? Document("measured") : Document()},
          {"memory_bytes", program.memory().device_bytes()},
          {"memories", program.memory().allocations()},
          {"programs", program.modules()}};
}

}  // namespace

std::string simulated_status(const SimulatedStatus& status) {
  const double seconds_per_cycle = 1e-6 / static_cast<double>(status.config.sm.clock_mhz);
  const double seconds = static_cast<double>(status.now.count) * seconds_per_cycle;
  Document clients = Document::array();
  std::size_t memories = 0, modules = 0, commands = 0;
  for (ServedProgram* program : status.programs) {
    clients.push_back(program_entry(*program, seconds, seconds_per_cycle));
    memories += program->memory().allocations();
    modules += program->modules();
    commands += program->running.size();
  }
  const Document alive{
      {"memories", memories}, {"programs", modules}, {"kernels", 0}, {"queues", 0}, {"commands", commands}};
  const Document document{{"schema", 1},
                          {"pid", ::getpid()},
                          {"socket", status.options.socket},
                          {"seconds", seconds},
                          {"platform", "warpmux"},
                          {"device", status.config.name + " (simulated)"},
                          {"policy", status.options.policy},
                          {"clients_seen", status.seen},
                          {"clients_cut_off", 0},
                          {"clients_leaving", 0},
                          {"cut_off", Document::array()},
                          {"orphaned_kernels", Document::array()},
                          {"alive", alive},
                          {"simulated",
                           {{"gpu", status.options.gpu},
                            {"timing", status.options.on_block_machine ? "block" : "cycle"},
                            {"cycles", status.now.count},
                            {"host_time", status.options.host_time}}},
                          {"clients", clients}};
  // Programs choose their names, so bytes that are not UTF-8 are replaced.
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

}  // namespace wm::runtime

#include "runtime/simulated/served_runner.h"

#include "runtime/protocol/wire.h"

namespace wm::runtime {

namespace {

KernelResult failed(std::string what) {
  KernelResult result;
  result.fault.emplace();
  result.fault->kind = exec::Fault::Kind::trap;
  result.fault->what = std::move(what);
  return result;
}

}  // namespace

KernelResult ServedRunner::run(const exec::Grid& grid, const LoadedKernel& kernel, const StreamTerms& terms) {
  ServedLaunch launch{.module = kernel.module,
                      .grid_id = grid.id,
                      .workspace = grid.workspace,
                      .stream = terms.stream,
                      .blocks = {grid.blocks.x, grid.blocks.y, grid.blocks.z},
                      .threads = {grid.threads.x, grid.threads.y, grid.threads.z},
                      .dynamic_shared = grid.dynamic_shared_bytes,
                      .parameter_bytes = static_cast<std::uint32_t>(grid.parameters.size()),
                      .priority = terms.priority};
  Payload payload;
  payload.put(launch).text(kernel.name).raw(grid.parameters.data(), grid.parameters.size());
  const auto answer = connection_.call(ServedOp::launch, payload);
  if (!answer) return failed(connection_.why_gone());
  Reader reader(answer->payload);
  const auto over = reader.take<ServedLaunchOver>();
  const std::string fault(reader.zero_terminated());
  const auto printed = reader.bytes(reader.left());
  if (!reader.ok()) return failed("the daemon of the simulated GPU has sent a wrong answer");
  if (grid.print && !printed.empty()) {
    grid.print({reinterpret_cast<const char*>(printed.data()), printed.size()});
  }
  KernelResult result;
  result.cycles = over.cycles;
  result.nanoseconds = over.nanoseconds;
  result.statistics.warp_instructions = over.warp_instructions;
  if (over.fault != 0) {
    result.fault.emplace();
    result.fault->kind = static_cast<exec::Fault::Kind>(over.fault - 1);
    result.fault->what = fault;
  }
  return result;
}

void ServedRunner::set_goal(const std::string& kernel, double ipc) {
  connection_.post(ServedOp::goal, Payload().text(kernel).put(ipc));
}

Result<void> ServedRunner::module_loaded(const LoadedModule& module, std::string_view ptx) {
  const auto& variables = module.module().variables;
  Payload payload;
  payload.put(ServedLoadModule{.number = module.code().number(),
                               .ptx_bytes = ptx.size(),
                               .variables = static_cast<std::uint32_t>(variables.size())});
  payload.text(ptx);
  for (std::uint32_t i = 0; i < variables.size(); ++i) payload.put(module.code().image().address(i));
  const auto answer = connection_.call(ServedOp::load_module, payload);
  if (!answer) return Error{connection_.why_gone()};
  Reader reader(answer->payload);
  if (reader.take<std::uint32_t>() == 0) return {};
  return Error{std::string(reader.zero_terminated())};
}

void ServedRunner::module_unloaded(const LoadedModule& module) {
  connection_.post(ServedOp::unload_module, Payload().put(module.code().number()));
}

}  // namespace wm::runtime

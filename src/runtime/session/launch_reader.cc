#include "runtime/session/launch_reader.h"

#include <cstring>

#include "runtime/session/kernel_calls.h"

namespace wm::runtime {
namespace {

bool fits(ParameterKind parameter, ArgumentKind argument) {
  switch (parameter) {
    case ParameterKind::memory:
    case ParameterKind::image:
      return argument == ArgumentKind::memory || argument == ArgumentKind::no_memory;
    case ParameterKind::sampler:
      return argument == ArgumentKind::sampler;
    case ParameterKind::local:
      return argument == ArgumentKind::local;
    case ParameterKind::value:
      return argument == ArgumentKind::value;
    default:
      return true;  // a binary whose parameter types are unknown
  }
}

// Local sizes are given in all dimensions or in none: drivers divide by them.
bool has_valid_local_size(const LaunchMessage& m) {
  const bool given = m.local[0] != 0;
  for (std::uint32_t i = 0; i < m.dimensions; ++i) {
    if ((m.local[i] != 0) != given) return false;
  }
  return true;
}

}  // namespace

bool LaunchReader::read_range(const LaunchMessage& m, LaunchPlan& plan) const {
  plan.dimensions = m.dimensions;
  for (std::uint32_t i = 0; i < m.dimensions; ++i) {
    if (m.global[i] == 0) return false;
    plan.offset[i] = m.offset[i];
    plan.global[i] = m.global[i];
    plan.local[i] = m.local[i];
  }
  plan.local_given = m.local[0] != 0;
  return true;
}

bool LaunchReader::read_arguments(const LaunchMessage& m, Reader& reader, LaunchPlan& plan, bool& valid) const {
  for (std::uint32_t i = 0; i < m.arguments; ++i) {
    LaunchPlan::Value value;
    if (!read_argument(reader, value)) return false;
    if (value.kind == ArgumentKind::memory || value.kind == ArgumentKind::sampler) {
      std::uint64_t id = 0;
      if (value.bytes.size() != sizeof id) return false;
      std::memcpy(&id, value.bytes.data(), sizeof id);
      if (value.kind == ArgumentKind::memory) value.memory = state_.objects.memories.find(id);
      if (value.kind == ArgumentKind::sampler) value.sampler = state_.objects.samplers.find(id);
      valid &= value.memory != nullptr || value.sampler != nullptr;
    }
    valid = valid && fits(plan.kernel->parameters[i], value.kind);
    if (value.kind == ArgumentKind::local) plan.local_bytes += static_cast<std::uint32_t>(value.size);
    plan.arguments.push_back(std::move(value));
  }
  return true;
}

bool LaunchReader::read(Command& command, Reader& reader) {
  const auto m = reader.take<LaunchMessage>();
  if (m.dimensions < 1 || m.dimensions > 3 || m.arguments > kMaxArguments) return false;
  auto plan = std::make_unique<LaunchPlan>();
  plan->kernel = state_.objects.kernels.find(m.kernel);
  if (!read_range(m, *plan)) return false;
  // All arguments must be given, each of its kind: an argument that is left out would be that of an earlier launch, and
  // bytes in place of an object would be used as a pointer.
  bool valid = plan->kernel != nullptr && m.arguments == plan->kernel->parameters.size();
  plan->local_bytes = valid ? plan->kernel->local_bytes : 0;
  if (!read_arguments(m, reader, *plan, valid)) return false;
  if (!has_valid_local_size(m)) return command.refuse(status::kInvalidWorkGroupSize), true;
  if (!valid) return command.refuse(status::kInvalidKernelArguments), true;
  if (plan->kernel->program->uses_printf) {
    plan->prints = true;
    auto output = state_.shared.find(m.printf_output);
    plan->printed = output.bytes;
    plan->printed_region = std::move(output.region);
  }
  plan->form = state_.daemon.worker_programs.of(*plan->kernel);
  if (!precompile(*plan, *command.client)) return command.refuse(status::kOutOfResources), true;
  command.launch = std::move(plan);
  return true;
}

bool LaunchReader::precompile(LaunchPlan& plan, const Client& client) {
  const Precompilation& precompilation = state_.daemon.precompilation;
  if (!precompilation.useful()) return true;
  Kernel& kernel = *plan.kernel;
  auto workers = worker_local_size(plan);
  const LaunchShape shape = Precompilation::shape(plan, workers);
  const bool known = kernel.precompiled && kernel.precompiled->shape == shape;
  if (known && kernel.precompiled->may_run_unmodified) return true;
  const CompilingClient compiling = state_.compiling_client();
  if (workers && !known) {
    auto reason = precompilation.refusal(Precompilation::as_workers(plan, *workers), compiling);
    if (!reason) {
      reason = state_.daemon.verification.refusal(plan, *workers, compiling, [&] {
        return !precompilation.refusal(Precompilation::compared(plan, *workers), compiling);
      });
    }
    if (reason) {
      plan.form = WorkerPrograms::without_workers(kernel, *reason);
      workers.reset();
    }
  }
  // A launch that can run as workers is precompiled unmodified too, once it turns out to be short.
  const bool unmodified = !workers || state_.daemon.scheduler.prefers_unmodified(client, plan);
  plan.may_run_unmodified = unmodified && !precompilation.refusal(Precompilation::unmodified(plan), compiling);
  kernel.precompiled = {shape, plan.may_run_unmodified};
  return workers || plan.may_run_unmodified;
}

}  // namespace wm::runtime

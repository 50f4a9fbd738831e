// A client's launches.
#include <cstring>

#include "runtime/session/session.h"

namespace wm::runtime {
namespace {

constexpr std::uint32_t kMostArguments = 4096;

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
      return true;  // of a binary that does not tell
  }
}

}  // namespace

bool Session::read_argument(Reader& reader, LaunchPlan::Value& value) {
  const auto head = reader.take<Argument>();
  value.kind = head.kind;
  value.size = head.size;
  if (head.kind > ArgumentKind::local) return false;
  if (head.kind == ArgumentKind::local || head.kind == ArgumentKind::no_memory) return reader.ok();
  const auto bytes = reader.bytes(head.size);
  value.bytes.assign(bytes.begin(), bytes.end());
  return reader.ok();
}

bool Session::launch(Command& command, Reader& reader) {
  const auto m = reader.take<LaunchMessage>();
  if (m.dimensions < 1 || m.dimensions > 3 || m.arguments > kMostArguments) return false;
  auto plan = std::make_unique<LaunchPlan>();
  plan->kernel = find(kernels_, m.kernel);
  plan->dimensions = m.dimensions;
  for (std::uint32_t i = 0; i < m.dimensions; ++i) {
    plan->offset[i] = m.offset[i];
    plan->global[i] = m.global[i];
    plan->local[i] = m.local[i];
    if (m.global[i] == 0) return false;
  }
  plan->local_given = m.local[0] != 0;
  // All of them or none: drivers divide by what they are given.
  bool shaped = true;
  for (std::uint32_t i = 0; i < m.dimensions; ++i) shaped &= (m.local[i] != 0) == plan->local_given;
  // All of its arguments, each of its kind: one that is left out would be an earlier launch's, and bytes in the place
  // of an object would be taken for a pointer.
  bool known = plan->kernel != nullptr && m.arguments == plan->kernel->parameters.size();
  plan->local_bytes = known ? plan->kernel->local_bytes : 0;
  for (std::uint32_t i = 0; i < m.arguments; ++i) {
    LaunchPlan::Value value;
    if (!read_argument(reader, value)) return false;
    if (value.kind == ArgumentKind::memory || value.kind == ArgumentKind::sampler) {
      std::uint64_t name = 0;
      if (value.bytes.size() != sizeof name) return false;
      std::memcpy(&name, value.bytes.data(), sizeof name);
      if (value.kind == ArgumentKind::memory) value.memory = find(memories_, name);
      if (value.kind == ArgumentKind::sampler) value.sampler = find(samplers_, name);
      known &= value.memory != nullptr || value.sampler != nullptr;
    }
    known &= known && fits(plan->kernel->parameters[i], value.kind);
    if (value.kind == ArgumentKind::local) plan->local_bytes += static_cast<std::uint32_t>(value.size);
    plan->arguments.push_back(std::move(value));
  }
  if (known && plan->kernel->program->prints) {
    plan->prints = true;
    const auto room = bytes_of(m.printf_output);
    plan->printed = room.bytes;
    plan->printed_region = room.region;
  }
  if (!shaped) {
    command.refuse(CL_INVALID_WORK_GROUP_SIZE);
  } else if (known) {
    command.followed = launch_ahead_ && find(queues_, *launch_ahead_) == command.queue;
    plan->form = daemon_.forms.of(*plan->kernel);
    if (precompile(*plan)) {
      command.launch = std::move(plan);
    } else {
      command.refuse(CL_OUT_OF_RESOURCES);
    }
  } else {
    command.refuse(CL_INVALID_KERNEL_ARGS);
  }
  return true;
}

bool Session::precompile(LaunchPlan& plan) {
  if (!daemon_.precompilation.useful()) return true;
  Kernel& kernel = *plan.kernel;
  auto workers = daemon_.scheduler.local_of_workers(plan);
  const LaunchShape shape = Precompilation::shape(plan, workers);
  const bool known = kernel.precompiled == shape;
  if (known && kernel.precompiled_unmodified) return true;
  const auto gone = [this] { return closed(); };
  if (workers && !known) {
    if (const auto why = daemon_.precompilation.refusal(Precompilation::as_workers(plan, *workers), gone)) {
      plan.form = daemon_.forms.without_workers(kernel, *why);
      workers.reset();
    }
  }
  // What runs as workers is compiled as it is too when it turns out to be short.
  const bool whole = !workers || daemon_.scheduler.prefers_unmodified(*this, plan);
  plan.may_run_unmodified = whole && !daemon_.precompilation.refusal(Precompilation::whole(plan), gone);
  kernel.precompiled = shape;
  kernel.precompiled_unmodified = plan.may_run_unmodified;
  return workers || plan.may_run_unmodified;
}

}  // namespace wm::runtime

// A client's launches.
#include <cstring>

#include "runtime/daemon/session.h"

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

bool Session::launch(Node& node, Reader& reader) {
  const auto m = reader.take<Launch>();
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
    const auto room = bytes_of(m.printed);
    plan->printed = room.bytes;
    plan->printed_region = room.region;
  }
  if (!shaped) {
    node.refuse(CL_INVALID_WORK_GROUP_SIZE);
  } else if (known) {
    node.followed = launch_ahead_ && find(queues_, *launch_ahead_) == node.queue;
    plan->form = ground_.forms.of(*plan->kernel);
    if (rehearse(*plan)) {
      node.launch = std::move(plan);
    } else {
      node.refuse(CL_OUT_OF_RESOURCES);
    }
  } else {
    node.refuse(CL_INVALID_KERNEL_ARGS);
  }
  return true;
}

bool Session::rehearse(LaunchPlan& plan) {
  if (!ground_.rehearsals.useful()) return true;
  Kernel& kernel = *plan.kernel;
  auto workers = ground_.scheduler.local_of_workers(plan);
  const LaunchShape shape = Rehearsals::shape(plan, workers);
  const bool known = kernel.rehearsed == shape;
  if (known && kernel.rehearsed_whole) return true;
  const auto gone = [this] { return closed(); };
  if (workers && !known) {
    if (const auto why = ground_.rehearsals.refusal(Rehearsals::as_workers(plan, *workers), gone)) {
      plan.form = ground_.forms.without_workers(kernel, *why);
      workers.reset();
    }
  }
  // What runs as workers is compiled as it is too when it turns out to be short.
  const bool whole = !workers || ground_.scheduler.rather_whole(*this, plan);
  plan.may_be_whole = whole && !ground_.rehearsals.refusal(Rehearsals::whole(plan), gone);
  kernel.rehearsed = shape;
  kernel.rehearsed_whole = plan.may_be_whole;
  return workers || plan.may_be_whole;
}

}  // namespace wm::runtime

#include "runtime/program/precompilation.h"

#include <algorithm>

namespace wm::runtime {
namespace {

// PoCL generates different code for launches of at least this width.
constexpr std::size_t kWide = 65'535;
// The size of local arguments does not matter for the code.
constexpr std::uint32_t kLocalBytes = 64;

bool is_wide(const LaunchPlan& plan) { return std::max(plan.global[0], plan.global[1]) >= kWide; }

bool has_offset(const LaunchPlan& plan) {
  return std::any_of(plan.offset.begin(), plan.offset.end(), [](std::size_t n) { return n != 0; });
}

std::vector<std::pair<sandbox::SandboxLaunch::Argument, std::uint32_t>> arguments_of(const LaunchPlan& plan) {
  using Argument = sandbox::SandboxLaunch::Argument;
  std::vector<std::pair<Argument, std::uint32_t>> arguments;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    const LaunchPlan::Value& value = plan.arguments[i];
    if (value.kind == ArgumentKind::local) {
      arguments.emplace_back(Argument::local, kLocalBytes);
    } else if (value.kind == ArgumentKind::sampler) {
      arguments.emplace_back(Argument::sampler, 0);
    } else if (value.kind == ArgumentKind::value) {
      arguments.emplace_back(Argument::bytes, static_cast<std::uint32_t>(value.size));
    } else {
      const bool image = plan.kernel->parameters[i] == ParameterKind::image;
      arguments.emplace_back(image ? Argument::image : Argument::buffer, 0);
    }
  }
  return arguments;
}

}  // namespace

Precompilation::Precompilation(const Capabilities& device, const WorkerPrograms& worker_programs, Compilers& compilers,
                               sandbox::Sandbox& sandbox)
    : worker_programs_(worker_programs),
      compilers_(compilers),
      sandbox_(sandbox),
      useful_(sandbox.possible() && device.compiles_at_launch) {}

std::string Precompilation::Task::name() const {
  sandbox::Request request;
  request.launch = launch;
  return (workers ? "workers " : "unmodified ") + sandbox::encode(request);
}

LaunchShape Precompilation::shape(const LaunchPlan& plan, const std::optional<Size3>& workers) {
  LaunchShape shape;
  shape.workers = workers.has_value();
  shape.local = workers ? *workers : plan.local;
  if (!plan.local_given) shape.global = plan.global;
  shape.wide = is_wide(plan);
  shape.offset = has_offset(plan);
  return shape;
}

Precompilation::Task Precompilation::unmodified(const LaunchPlan& plan) {
  Task precompiled;
  precompiled.program = plan.kernel->program;
  precompiled.built_from = built_from(precompiled.program);
  if (precompiled.program->inputs) precompiled.link_options = precompiled.program->options;
  sandbox::SandboxLaunch& launch = precompiled.launch;
  launch.kernel = plan.kernel->name;
  launch.dimensions = plan.dimensions;
  launch.offset = has_offset(plan);
  launch.arguments = arguments_of(plan);
  std::copy(plan.global.begin(), plan.global.end(), launch.global.begin());
  if (!plan.local_given) return precompiled;
  // One group is enough, in a launch of the same width class.
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) launch.global[i] = launch.local[i] = plan.local[i];
  if (is_wide(plan)) launch.global[0] = (kWide / plan.local[0] + 1) * plan.local[0];
  return precompiled;
}

Precompilation::Task Precompilation::as_workers(const LaunchPlan& plan, const Size3& local) {
  using Argument = sandbox::SandboxLaunch::Argument;
  Task precompiled;
  precompiled.program = plan.kernel->program;
  precompiled.workers = true;
  precompiled.launch.kernel = plan.kernel->name;
  precompiled.launch.dimensions = 3;
  precompiled.launch.arguments = arguments_of(plan);
  // The additional arguments of workers: the queue of groups, their control word, and the range.
  precompiled.launch.arguments.insert(precompiled.launch.arguments.end(),
                                      {{Argument::buffer, 0},
                                       {Argument::buffer, 0},
                                       {Argument::bytes, static_cast<std::uint32_t>(sizeof(rewrite::Range))}});
  std::copy(local.begin(), local.end(), precompiled.launch.local.begin());
  precompiled.launch.global = precompiled.launch.local;
  return precompiled;
}

Precompilation::Task Precompilation::compared(const LaunchPlan& plan, const Size3& local) {
  Task precompiled = unmodified(plan);
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) precompiled.launch.global[i] = local[i];
  std::copy_n(precompiled.launch.global.begin(), plan.dimensions, precompiled.launch.local.begin());
  return precompiled;
}

std::optional<sandbox::Request> Precompilation::request(const Task& launch) const {
  if (launch.workers) return worker_programs_.build_request(*launch.program);
  return request_of(build_kind(*launch.program), launch.link_options, launch.built_from);
}

std::optional<std::string> Precompilation::refusal(const Task& launch, const CompilingClient& client) const {
  PrecompiledLaunches& precompiled = launch.program->precompiled;
  const std::string name = launch.name();
  if (const auto known = precompiled.find(name)) return known->empty() ? std::nullopt : known;
  std::optional<std::string> reason;
  compilers_.run(client, [&] {
    if (auto sandboxed = request(launch)) {
      sandboxed->launch = launch.launch;
      reason = sandbox_.refusal(*std::move(sandboxed));
    }
    return status::kSuccess;
  });
  precompiled.add(name, reason.value_or(""));
  return reason;
}

}  // namespace wm::runtime

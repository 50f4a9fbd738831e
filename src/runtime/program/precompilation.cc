#include "runtime/program/precompilation.h"

#include <algorithm>

namespace wm::runtime {
namespace {

// PoCL makes a difference between launches that are at least so wide and those that are not.
constexpr std::size_t kWide = 65'535;
constexpr std::uint32_t kLocalBytes = 64;  // of a local argument: whatever it is

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

Precompilation::Precompilation(const Native& native, const WorkerPrograms& forms, Compilers& compilers,
                               sandbox::Sandbox& sandbox)
    : forms_(forms),
      compilers_(compilers),
      sandbox_(sandbox),
      useful_(sandbox.possible() && native.platform_name() == "Portable Computing Language" &&
              (native.fact<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0) {}

std::string Precompilation::Part::name() const {
  sandbox::Request request;
  request.launch = launch;
  return (workers ? "workers " : "whole ") + sandbox::encode(request);
}

LaunchShape Precompilation::shape(const LaunchPlan& plan, const std::optional<Local>& workers) {
  LaunchShape shape;
  shape.workers = workers.has_value();
  shape.local = workers ? *workers : plan.local;
  if (!plan.local_given) shape.global = plan.global;
  shape.wide = is_wide(plan);
  shape.offset = has_offset(plan);
  return shape;
}

Precompilation::Part Precompilation::whole(const LaunchPlan& plan) {
  Part part;
  part.program = plan.kernel->program;
  part.made_of = what_made(part.program);
  if (part.program->inputs) part.linked_with = part.program->options;
  sandbox::SandboxLaunch& launch = part.launch;
  launch.kernel = plan.kernel->name;
  launch.dimensions = plan.dimensions;
  launch.offset = has_offset(plan);
  launch.arguments = arguments_of(plan);
  std::copy(plan.global.begin(), plan.global.end(), launch.global.begin());
  if (!plan.local_given) return part;
  // One group of each kind will do, in a row as wide where that matters.
  for (cl_uint i = 0; i < plan.dimensions; ++i) launch.global[i] = launch.local[i] = plan.local[i];
  if (is_wide(plan)) launch.global[0] = (kWide / plan.local[0] + 1) * plan.local[0];
  return part;
}

Precompilation::Part Precompilation::as_workers(const LaunchPlan& plan, const Local& local) {
  using Argument = sandbox::SandboxLaunch::Argument;
  Part part;
  part.program = plan.kernel->program;
  part.workers = true;
  part.launch.kernel = plan.kernel->name;
  part.launch.dimensions = 3;
  part.launch.arguments = arguments_of(plan);
  // What workers take besides: the queue of groups, their control word, and the range.
  part.launch.arguments.insert(part.launch.arguments.end(),
                               {{Argument::buffer, 0},
                                {Argument::buffer, 0},
                                {Argument::bytes, static_cast<std::uint32_t>(sizeof(rewrite::Range))}});
  std::copy(local.begin(), local.end(), part.launch.local.begin());
  part.launch.global = part.launch.local;
  return part;
}

std::optional<sandbox::Request> Precompilation::request(const Part& part) const {
  if (part.workers) return forms_.building(*part.program);
  return request_of(how_made(*part.program), part.linked_with, part.made_of);
}

std::optional<std::string> Precompilation::refusal(const Part& part, const std::function<bool()>& unwanted) const {
  PrecompiledLaunches& precompiled = part.program->precompiled;
  const std::string name = part.name();
  if (const auto known = precompiled.find(name)) return known->empty() ? std::nullopt : known;
  std::optional<std::string> why;
  compilers_.run(unwanted, [&] {
    if (auto tried = request(part)) {
      tried->launch = part.launch;
      why = sandbox_.refusal(*std::move(tried));
    }
    return CL_SUCCESS;
  });
  precompiled.note(name, why.value_or(""));
  return why;
}

}  // namespace wm::runtime

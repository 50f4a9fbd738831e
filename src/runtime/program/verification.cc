#include "runtime/program/verification.h"

#include <algorithm>
#include <array>

#include "runtime/program/sandbox_program.h"

namespace wm::runtime {
namespace {

// With this many groups a worker takes groups several times, and groups that divide into branches by their data follow
// each other in all orders: four did not show what PoCL makes of barriers in such branches.
constexpr std::uint64_t kMaxGroups = 16;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 30;  // in all buffers of a comparison

struct Number {
  const char* name;
  bool floating;
  std::uint32_t width;
};
constexpr std::array<Number, 11> kNumbers{{{"float", true, 4},
                                           {"double", true, 8},
                                           {"half", true, 2},
                                           {"uchar", false, 1},
                                           {"char", false, 1},
                                           {"ushort", false, 2},
                                           {"short", false, 2},
                                           {"ulong", false, 8},
                                           {"long", false, 8},
                                           {"size_t", false, 8},
                                           {"bool", false, 1}}};

// A buffer of this type ("float4*") holds these numbers; other types are taken for integers of four bytes.
void describe(const std::string& type, sandbox::ComparedArgument& argument) {
  for (const Number& number : kNumbers) {
    if (type.rfind(number.name, 0) != 0) continue;
    argument.floating = number.floating;
    argument.width = number.width;
    return;
  }
}

// Reduces the largest dimension until few groups are left.
void reduce(std::array<std::uint64_t, 3>& groups) {
  while (groups[0] * groups[1] * groups[2] > kMaxGroups) {
    std::uint64_t& largest = *std::max_element(groups.begin(), groups.end());
    largest = (largest + 1) / 2;
  }
}

}  // namespace

std::optional<sandbox::Comparison> Verification::comparison_of(const LaunchPlan& plan, const Size3& local,
                                                               const rewrite::KernelReply& kernel) {
  using Kind = sandbox::ComparedArgument::Kind;
  sandbox::Comparison comparison;
  comparison.kernel = kernel.name;
  comparison.dimensions = plan.dimensions;
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) {
    comparison.local[i] = local[i];
    comparison.groups[i] = plan.global[i] / local[i];
    comparison.offset[i] = plan.offset[i];
  }
  reduce(comparison.groups);
  if (kernel.arguments.size() != plan.arguments.size()) return std::nullopt;
  std::vector<const Memory*> buffers;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    const LaunchPlan::Value& value = plan.arguments[i];
    sandbox::ComparedArgument argument;
    argument.size = value.size;
    if (plan.kernel->parameters[i] == ParameterKind::image || value.kind == ArgumentKind::sampler) return std::nullopt;
    if (value.kind == ArgumentKind::value) {
      argument.bytes.assign(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
    } else if (value.kind == ArgumentKind::local) {
      argument.kind = Kind::local;
    } else if (value.kind == ArgumentKind::memory && value.memory) {
      argument.kind = Kind::buffer;
      const auto known = std::find(buffers.begin(), buffers.end(), value.memory.get());
      argument.buffer = static_cast<std::uint32_t>(known - buffers.begin());
      argument.size = value.memory->extent;
      if (argument.buffer == buffers.size()) {
        buffers.push_back(value.memory.get());
        bytes += argument.size;
      }
      describe(kernel.arguments[i].type, argument);
    } else {
      argument.kind = Kind::no_buffer;
    }
    comparison.arguments.push_back(std::move(argument));
  }
  return bytes <= kMaxBufferBytes ? std::optional(std::move(comparison)) : std::nullopt;
}

std::optional<std::string> Verification::refusal(const LaunchPlan& plan, const Size3& local,
                                                 const CompilingClient& client,
                                                 const std::function<bool()>& compile_unmodified) const {
  if (!useful_ || !plan.kernel->program->form.valid()) return std::nullopt;
  const auto form = plan.kernel->program->form.get();
  const auto kernel = std::find_if(form->kernels.begin(), form->kernels.end(),
                                   [&](const rewrite::KernelReply& k) { return k.name == plan.kernel->name; });
  if (kernel == form->kernels.end()) return std::nullopt;
  auto comparison = comparison_of(plan, local, *kernel);
  auto workers = worker_programs_.build_request(*plan.kernel->program);
  if (!comparison || !workers || !compile_unmodified()) return std::nullopt;
  sandbox::Request request;
  request.kind = sandbox::Request::Kind::comparison;
  request.programs = {built_from(plan.kernel->program).front().text(), std::move(workers->programs.front())};
  request.comparison = std::move(comparison);
  sandbox::ComparisonResult result;
  compilers_.run(client, [&] {
    result = comparisons_.result(std::move(request));
    return status::kSuccess;
  });
  return result.verdict == sandbox::ComparisonResult::Verdict::different ? std::optional(result.reason) : std::nullopt;
}

}  // namespace wm::runtime

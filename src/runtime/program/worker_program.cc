#include "runtime/program/worker_program.h"

#include <algorithm>
#include <sstream>

#include "rewrite/build_options.h"

namespace wm::runtime {
namespace {

std::shared_ptr<const ProgramForm> not_rewritten(std::string reason) {
  auto form = std::make_shared<ProgramForm>();
  form->not_rewritten_reason = std::move(reason);
  return form;
}

}  // namespace

std::map<std::string, std::uint32_t> registers_in_log(const std::string& log) {
  std::map<std::string, std::uint32_t> registers;
  std::istringstream lines(log);
  std::string kernel;
  constexpr std::string_view kEntry = "entry function '", kUsed = "Used ", kUnit = " registers";
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find(kEntry); at != std::string::npos) {
      const auto from = at + kEntry.size();
      kernel = line.substr(from, line.find('\'', from) - from);
    }
    const auto used = line.find(kUsed);
    if (used == std::string::npos || line.find(kUnit, used) == std::string::npos || kernel.empty()) continue;
    registers[kernel] = static_cast<std::uint32_t>(std::strtoul(line.c_str() + used + kUsed.size(), nullptr, 10));
  }
  return registers;
}

WorkerPrograms::Original WorkerPrograms::original_of(const Program& program) {
  if (!program.attached) return {program.source, program.options, std::nullopt};
  return {program.attached->source, program.attached->options, program.attached->dependencies};
}

std::shared_ptr<const ProgramForm> WorkerPrograms::make(const Original& original,
                                                        const std::shared_future<Status>& built,
                                                        const CompilingClient& client) const {
  if (rewriter_ == nullptr) return not_rewritten("rewriting is off");
  if (client.has_gone()) return not_rewritten("its client has gone");
  const auto reply =
      rewrite_source(original.source, original.options, [&built] { return built.get() == status::kSuccess; });
  if (!reply) return not_rewritten(reply.error().what);
  if (original.dependencies && *original.dependencies != reply->dependencies) {
    return not_rewritten("files that its source includes have changed since its binary was made");
  }
  auto form = std::make_shared<ProgramForm>();
  form->not_rewritten_reason = reply->refusal;
  form->dependencies = reply->dependencies;
  form->kernels = reply->kernels;
  if (reply->source.empty()) return form;
  Compilation& compilation = backend_.compilation();
  auto program = compilation.program_from_source(reply->source);
  if (!program.object) return not_rewritten("the device takes no second program");
  auto workers = counted(std::move(program.object), counts_.programs);
  const std::string with = build_options(*reply);
  const auto status = compilers_.run(client, [&] {
    if (sandbox_.refusal(sandbox::build_of(reply->source, with))) return status::kBuildProgramFailure;
    return compilation.build(*workers, with);
  });
  if (status != status::kSuccess) {
    form->not_rewritten_reason = "the device does not build the rewritten program";
    return form;
  }
  if (backend_.capabilities().reports_registers) {
    form->registers = registers_in_log(compilation.build_log(*workers));
  }
  form->workers = std::move(workers);
  return form;
}

Result<rewrite::Reply> WorkerPrograms::rewrite_source(const std::string& source, const std::string& options,
                                                      const std::function<bool()>& original_builds) const {
  const std::string other_options = rewrite::parse_build_options(options).rest;
  rewrite::Request request{.source = source, .options = options};
  constexpr int kMaxRounds = 8;  // a corrected macro may lead the program to test another one
  for (int round = 0; round < kMaxRounds; ++round) {
    auto reply = rewriter_->rewrite(request);
    if (!reply) return reply;
    // The original is built first, because its client waits for it, and because the sandbox has tried its options.
    if (!original_builds()) return Error{"the original does not build"};
    const auto corrected = macros_.correct(request.device, other_options, reply->assumptions);
    if (!corrected) break;
    if (*corrected == 0) return reply;
  }
  return Error{"it depends on what the device's compiler defines, which cannot be told"};
}

std::string WorkerPrograms::build_options(const rewrite::Reply& reply) const {
  return reply.options + (backend_.capabilities().reports_registers ? " -cl-nv-verbose" : "");
}

// The rewriter has kept its reply, so this does not rewrite again.
std::optional<sandbox::Request> WorkerPrograms::build_request(const Program& program) const {
  if (rewriter_ == nullptr) return std::nullopt;
  const Original original = original_of(program);
  const auto reply = rewrite_source(original.source, original.options, [] { return true; });
  if (!reply || reply->source.empty()) return std::nullopt;
  return sandbox::build_of(reply->source, build_options(*reply));
}

std::shared_ptr<const KernelForm> WorkerPrograms::of(Kernel& kernel) const {
  const std::lock_guard lock(kernel.mutex);
  if (!kernel.form) kernel.form = make(kernel);
  return kernel.form;
}

std::shared_ptr<const KernelForm> WorkerPrograms::without_workers(Kernel& kernel, std::string reason) {
  auto form = std::make_shared<KernelForm>();
  form->not_rewritten_reason = std::move(reason);
  const std::lock_guard lock(kernel.mutex);
  kernel.form = form;
  return form;
}

// The kernel's own object launches its workers.
std::shared_ptr<const KernelForm> WorkerPrograms::made_by_compiler(const Kernel& kernel) const {
  auto form = std::make_shared<KernelForm>();
  const KernelInfo info = backend_.compilation().properties(*kernel.handle);
  form->undivided_registers = info.registers;
  if (rewriter_ == nullptr) {
    form->not_rewritten_reason = "rewriting is off";
  } else if (kernel.program->uses_printf) {
    form->not_rewritten_reason = "its program prints";
  } else if (!info.workers || !info.workers->refusal.empty()) {
    form->not_rewritten_reason = info.workers ? info.workers->refusal : "the compiler makes no workers";
  } else {
    form->workers = kernel.handle;
    form->chunk = info.workers->chunk;
    form->max_chunk = std::max(form->chunk, info.workers->max_chunk);
    form->registers = info.workers->registers;
    form->max_items = info.workers->max_items;
    form->extra_local_bytes = info.workers->local_bytes - std::min(info.workers->local_bytes, info.local_bytes);
  }
  return form;
}

std::shared_ptr<const KernelForm> WorkerPrograms::make(const Kernel& kernel) const {
  if (by_compiler_) return made_by_compiler(kernel);
  auto form = std::make_shared<KernelForm>();
  const Program& original = *kernel.program;
  form->not_rewritten_reason = original.uses_printf ? "its program prints" : original.not_rewritten_reason;
  if (original.uses_printf || !original.form.valid()) return form;
  const auto program = original.form.get();
  form->not_rewritten_reason = program->not_rewritten_reason;
  const auto reply = std::find_if(program->kernels.begin(), program->kernels.end(),
                                  [&](const rewrite::KernelReply& k) { return k.name == kernel.name; });
  if (form->not_rewritten_reason.empty()) form->not_rewritten_reason = "the rewriter has no workers for it";
  if (reply == program->kernels.end()) return form;
  if (!reply->reason.empty()) form->not_rewritten_reason = reply->reason;
  if (!program->workers || !reply->rewritten) return form;
  auto workers = backend_.compilation().create_kernel(*program->workers, kernel.name);
  if (!workers.object) {
    form->not_rewritten_reason = "the device does not take its workers";
    return form;
  }
  form->max_items = backend_.compilation().properties(*workers.object).max_items;
  form->workers = counted(std::move(workers.object), counts_.kernels);
  form->chunk = form->max_chunk = reply->chunk;
  form->extra_local_bytes = static_cast<std::uint32_t>(reply->extra_local_bytes);
  if (const auto it = program->registers.find(kernel.name); it != program->registers.end()) {
    form->registers = it->second;
  }
  form->not_rewritten_reason.clear();
  return form;
}

}  // namespace wm::runtime

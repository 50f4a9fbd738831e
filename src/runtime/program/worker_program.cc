#include "runtime/program/worker_program.h"

#include <algorithm>
#include <sstream>

#include "rewrite/build_options.h"

namespace wm::runtime {
namespace {

std::string build_log(const Native& native, cl_program program) {
  std::vector<std::byte> bytes;
  info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return native.cl.GetProgramBuildInfo(program, native.device, CL_PROGRAM_BUILD_LOG, room, value, size);
      },
      bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<const ProgramForm> none(std::string why) {
  auto form = std::make_shared<ProgramForm>();
  form->not_rewritten_reason = std::move(why);
  return form;
}

bool tells_registers(const Native& native) { return native.platform_name().starts_with("NVIDIA"); }

}  // namespace

std::map<std::string, std::uint32_t> registers_told(const std::string& log) {
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

std::shared_ptr<const ProgramForm> WorkerPrograms::make(const std::string& source, const std::string& options,
                                                        const std::shared_future<cl_int>& built,
                                                        const std::function<bool()>& unwanted) const {
  if (rewriter_ == nullptr) return none("rewriting is off");
  if (unwanted()) return none("its client has gone");
  const auto reply = rewritten(source, options, [&built] { return built.get() == CL_SUCCESS; });
  if (!reply) return none(reply.error().what);
  auto form = std::make_shared<ProgramForm>();
  form->not_rewritten_reason = reply->refusal;
  form->kernels = reply->kernels;
  if (reply->source.empty()) return form;
  const char* text = reply->source.c_str();
  const std::size_t length = reply->source.size();
  const cl_program made = native_.cl.CreateProgramWithSource(native_.context, 1, &text, &length, nullptr);
  if (made == nullptr) return none("the device takes no second program");
  auto workers = own(made, native_.cl.ReleaseProgram, census_.programs);
  const std::string with = options_of(*reply);
  const auto status = compilers_.run(unwanted, [&] {
    if (sandbox_.refusal(sandbox::build_of(reply->source, with))) return CL_BUILD_PROGRAM_FAILURE;
    return native_.cl.BuildProgram(made, 1, &native_.device, with.c_str(), nullptr, nullptr);
  });
  if (status != CL_SUCCESS) {
    form->not_rewritten_reason = "the device does not build the rewritten program";
    return form;
  }
  if (tells_registers(native_)) form->registers = registers_told(build_log(native_, made));
  form->workers = std::move(workers);
  return form;
}

Result<rewrite::Reply> WorkerPrograms::rewritten(const std::string& source, const std::string& options,
                                                 const std::function<bool()>& original_builds) const {
  const std::string others = rewrite::parse_build_options(options).rest;
  rewrite::Request request{.source = source, .options = options};
  constexpr int kMost = 8;  // what is told otherwise may make it ask something else
  for (int round = 0; round < kMost; ++round) {
    auto reply = rewriter_->rewrite(request);
    if (!reply) return reply;
    // The client waits for the original, which goes first; and what it was built with has been tried.
    if (!original_builds()) return Error{"the original does not build"};
    const auto corrected = macros_.correct(request.device, others, reply->assumptions);
    if (!corrected) break;
    if (*corrected == 0) return reply;
  }
  return Error{"it depends on what the device's compiler defines, which cannot be told"};
}

std::string WorkerPrograms::options_of(const rewrite::Reply& reply) const {
  return reply.options + (tells_registers(native_) ? " -cl-nv-verbose" : "");
}

// The rewriter remembers what it was asked before.
std::optional<sandbox::Request> WorkerPrograms::building(const Program& program) const {
  if (rewriter_ == nullptr) return std::nullopt;
  const auto reply = rewritten(program.source, program.options, [] { return true; });
  if (!reply || reply->source.empty()) return std::nullopt;
  return sandbox::build_of(reply->source, options_of(*reply));
}

std::shared_ptr<const KernelForm> WorkerPrograms::of(Kernel& kernel) const {
  const std::lock_guard lock(kernel.mutex);
  if (!kernel.form) kernel.form = make(kernel);
  return kernel.form;
}

std::shared_ptr<const KernelForm> WorkerPrograms::without_workers(Kernel& kernel, std::string why) {
  auto form = std::make_shared<KernelForm>();
  form->not_rewritten_reason = std::move(why);
  const std::lock_guard lock(kernel.mutex);
  kernel.form = form;
  return form;
}

std::shared_ptr<const KernelForm> WorkerPrograms::make(const Kernel& kernel) const {
  auto form = std::make_shared<KernelForm>();
  form->not_rewritten_reason = kernel.program->prints ? "its program prints" : kernel.program->not_rewritten_reason;
  if (kernel.program->prints) return form;
  if (!kernel.program->form.valid()) return form;
  const auto program = kernel.program->form.get();
  form->not_rewritten_reason = program->not_rewritten_reason;
  const auto reply = std::find_if(program->kernels.begin(), program->kernels.end(),
                                  [&](const rewrite::KernelReply& k) { return k.name == kernel.name; });
  if (reply == program->kernels.end()) return form;
  if (!reply->reason.empty()) form->not_rewritten_reason = reply->reason;
  if (!program->workers || !reply->rewritten) return form;
  const cl_kernel made = native_.cl.CreateKernel(program->workers.get(), kernel.name.c_str(), nullptr);
  if (made == nullptr) return form;
  form->workers = own(made, native_.cl.ReleaseKernel, census_.kernels);
  form->chunk = reply->chunk;
  form->extra_local_bytes = static_cast<std::uint32_t>(reply->extra_local_bytes);
  if (const auto it = program->registers.find(kernel.name); it != program->registers.end()) {
    form->registers = it->second;
  }
  std::size_t most = 0;
  native_.cl.GetKernelWorkGroupInfo(made, native_.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
  form->most_items = most;
  form->not_rewritten_reason.clear();
  return form;
}

}  // namespace wm::runtime

#include "runtime/device/cuda/compilation.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "ptx/parse.h"
#include "ptx/print.h"
#include "rewrite/ptx/gates.h"
#include "rewrite/ptx/loops.h"
#include "rewrite/ptx/persistent.h"
#include "runtime/device/cuda/info_answer.h"

namespace wm::runtime::cuda {
namespace {

constexpr std::size_t kLogBytes = 16 << 10;
// Options of cuModuleLoadDataEx: the driver's log of errors, and its size.
constexpr int kErrorLog = 5, kErrorLogBytes = 6;
// Queries of clGetProgramBuildInfo and clGetKernelWorkGroupInfo, and the status of a build that failed.
constexpr PropertyName kBuildStatus = 0x1181, kBuildLog = 0x1183, kWorkGroupSize = 0x11b0, kLocalMemorySize = 0x11b2,
                       kPrivateMemorySize = 0x11b4;
constexpr std::int32_t kBuildError = -2;

// A program's objects are changed only by the call that builds it.
CudaProgram& changed(const ProgramObject& program) { return const_cast<CudaProgram&>(of(program)); }

std::string refusals(const LoadedModule& loaded) {
  std::string lines;
  for (const rewrite::RefusedKernel& k : loaded.refused) {
    lines += fmt::format("warpmux: kernel '{}' cannot run on the CUDA driver: {}\n", k.name, k.reason);
  }
  return lines;
}

}  // namespace

std::string gated_name(const std::string& kernel) { return "wm_gated_" + kernel; }

std::vector<std::string> add_gated_kernels(ptx::Module& module) {
  std::vector<std::string> gated;
  std::vector<ptx::Function> copies;
  for (const ptx::Function& f : module.functions) {
    if (!f.entry) continue;
    copies.push_back(f);
    copies.back().name = gated_name(f.name);
  }
  for (ptx::Function& copy : copies) {
    std::string name = copy.name;
    module.functions.push_back(std::move(copy));
    const auto result = rewrite::add_gates(module, name);
    if (result && result->gates != 0) {
      gated.push_back(std::move(name));
    } else {
      module.functions.pop_back();
    }
  }
  return gated;
}

std::string worker_name(const std::string& kernel) { return "wm_workers_" + kernel; }

std::vector<WorkerKernel> add_worker_kernels(ptx::Module& module, std::span<const rewrite::AdaptedKernel> kernels) {
  std::vector<WorkerKernel> made;
  for (const rewrite::AdaptedKernel& k : kernels) {
    const auto original = std::find_if(module.functions.begin(), module.functions.end(),
                                       [&](const ptx::Function& f) { return f.entry && f.name == k.name; });
    if (original == module.functions.end()) continue;
    WorkerKernel worker{k.name, "", rewrite::min_chunk(*original)};
    ptx::Function copy = *original;
    copy.name = worker_name(k.name);
    module.functions.push_back(std::move(copy));
    if (const auto result = rewrite::make_persistent(module, worker_name(k.name)); !result) {
      worker.refusal = result.error().what;
      module.functions.pop_back();
    }
    made.push_back(std::move(worker));
  }
  return made;
}

Made<ProgramHandle> CudaCompilation::wrapped(Made<ProgramHandle> made) {
  if (!made.object) return made;
  auto program = std::make_shared<CudaProgram>();
  program->compiled = std::move(made.object);
  return {made.status, std::move(program)};
}

Made<ProgramHandle> CudaCompilation::program_from_source(std::string_view source) {
  return wrapped(compiler_.program_from_source(source));
}

Made<ProgramHandle> CudaCompilation::program_from_binary(std::string_view binary) {
  return wrapped(compiler_.program_from_binary(binary));
}

Status CudaCompilation::build(const ProgramObject& program, const std::string& options) {
  CudaProgram& p = changed(program);
  const Status status = compiler_.build(*p.compiled, options);
  if (status != status::kSuccess) return status;
  if (compiler_.binary_type(*p.compiled) != BinaryType::executable) return status;
  load(p);
  return p.loaded ? status::kSuccess : status::kBuildProgramFailure;
}

Status CudaCompilation::compile(const ProgramObject& program, const std::string& options,
                                std::span<const Header> headers) {
  std::vector<Header> inner;
  for (const Header& h : headers) inner.push_back({h.name, of(*h.program).compiled});
  return compiler_.compile(*of(program).compiled, options, inner);
}

Made<ProgramHandle> CudaCompilation::link(std::span<const ProgramHandle> inputs, const std::string& options) {
  std::vector<ProgramHandle> inner;
  for (const ProgramHandle& p : inputs) inner.push_back(of(*p).compiled);
  Made<ProgramHandle> made = wrapped(compiler_.link(inner, options));
  if (!made.object || made.status != status::kSuccess) return made;
  CudaProgram& program = changed(*made.object);
  if (compiler_.binary_type(*program.compiled) != BinaryType::executable) return made;
  load(program);
  if (!program.loaded) made.status = status::kLinkProgramFailure;
  return made;
}

void CudaCompilation::load(CudaProgram& program) const {
  program.loaded.reset();
  std::string text;
  if (compiler_.binary(*program.compiled, text) != status::kSuccess) {
    program.load_log = "the compiler gives no PTX";
    return;
  }
  auto loaded = load_ptx(std::move(text));
  if (loaded) {
    program.loaded = std::move(*loaded);
    program.load_log = refusals(*program.loaded);
  } else {
    program.load_log = "warpmux: the program cannot be loaded with the CUDA driver: " + loaded.error().what;
  }
}

Result<std::shared_ptr<LoadedModule>> CudaCompilation::load_ptx(std::string text) const {
  text.resize(std::min(text.size(), text.find('\0')));
  auto module = ptx::parse(text, "program", ptx::OnUnsupported::refuse_function);
  if (!module) return module.error();
  auto adapted = rewrite::adapt_opencl(*std::move(module));
  if (!adapted) return adapted.error();
  auto loaded = std::make_shared<LoadedModule>(device_);
  ptx::Module forms = adapted->module;
  loaded->gated = add_gated_kernels(forms);
  if (makes_workers_) loaded->workers = add_worker_kernels(forms, adapted->kernels);
  loaded->kernels = std::move(adapted->kernels);
  loaded->refused = std::move(adapted->refused);
  const auto with_forms = load_code(*loaded, ptx::print(forms));
  if (with_forms) return loaded;
  // Whatever the driver has against other forms, the kernels themselves run.
  loaded->gated.clear();
  for (WorkerKernel& worker : loaded->workers) worker.refusal = "the driver refuses it: " + with_forms.error().what;
  if (const auto plain = load_code(*loaded, ptx::print(adapted->module)); !plain) return plain.error();
  return loaded;
}

Result<void> CudaCompilation::load_code(LoadedModule& loaded, const std::string& text) const {
  device_.make_current();
  std::string log(kLogBytes, '\0');
  std::array<int, 2> options{kErrorLog, kErrorLogBytes};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes the size so
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  const Code code = device_.with_unused_memory([&] {
    return device_.cuda.load_module(&loaded.module, text.c_str(), static_cast<unsigned>(options.size()), options.data(),
                                    values.data());
  });
  if (code != kSuccess) return Error{fmt::format("CUDA error {}: {}", code, log.c_str())};
  return {};
}

bool CudaCompilation::build_failed(const ProgramObject& program) const {
  return (!of(program).loaded && !of(program).load_log.empty()) || compiler_.build_failed(*of(program).compiled);
}

BinaryType CudaCompilation::binary_type(const ProgramObject& program) const {
  return compiler_.binary_type(*of(program).compiled);
}

Status CudaCompilation::binary(const ProgramObject& program, std::string& answer) const {
  return compiler_.binary(*of(program).compiled, answer);
}

std::string CudaCompilation::build_log(const ProgramObject& program) const {
  const std::string log = compiler_.build_log(*of(program).compiled);
  return of(program).load_log.empty() ? log : log.substr(0, log.find('\0')) + of(program).load_log + '\0';
}

std::optional<std::string> CudaCompilation::kernel_names(const ProgramObject& program) const {
  return compiler_.kernel_names(*of(program).compiled);
}

Status CudaCompilation::program_info(const ProgramObject& program, std::uint32_t name,
                                     std::vector<std::byte>& answer) const {
  return compiler_.program_info(*of(program).compiled, name, answer);
}

Status CudaCompilation::build_info(const ProgramObject& program, std::uint32_t name,
                                   std::vector<std::byte>& answer) const {
  const Status status = compiler_.build_info(*of(program).compiled, name, answer);
  // The compiler knows nothing of what the driver says about its PTX.
  if (status != status::kSuccess || of(program).load_log.empty()) return status;
  if (name == kBuildLog) {
    const std::string log = build_log(program);
    return put_text(answer, log.substr(0, log.find('\0')));
  }
  if (name == kBuildStatus && build_failed(program)) return put_value(answer, kBuildError);
  return status;
}

Made<KernelHandle> CudaCompilation::create_kernel(const ProgramObject& program, const std::string& name) {
  const CudaProgram& p = of(program);
  Made<KernelHandle> compiled = compiler_.create_kernel(*p.compiled, name);
  if (!compiled.object) return compiled;
  if (!p.loaded) return {status::kInvalidProgram, nullptr};
  const auto layout = std::find_if(p.loaded->kernels.begin(), p.loaded->kernels.end(),
                                   [&](const rewrite::AdaptedKernel& k) { return k.name == name; });
  if (layout == p.loaded->kernels.end()) return {status::kOutOfResources, nullptr};
  auto kernel = std::make_shared<CudaKernel>();
  kernel->compiled = std::move(compiled.object);
  kernel->loaded = p.loaded;
  kernel->layout = *layout;
  device_.make_current();
  const DriverCalls& cuda = device_.cuda;
  if (const Code code = cuda.get_function(&kernel->function, p.loaded->module, name.c_str()); code != kSuccess) {
    return {status_of(code), nullptr};
  }
  const std::string gated = gated_name(name);
  if (std::find(p.loaded->gated.begin(), p.loaded->gated.end(), gated) != p.loaded->gated.end()) {
    cuda.get_function(&kernel->gated, p.loaded->module, gated.c_str());
  }
  const auto workers = std::find_if(p.loaded->workers.begin(), p.loaded->workers.end(),
                                    [&](const WorkerKernel& w) { return w.kernel == name; });
  if (workers != p.loaded->workers.end() && workers->refusal.empty()) {
    cuda.get_function(&kernel->workers, p.loaded->module, worker_name(name).c_str());
  }
  cuda.get_function_attribute(&kernel->max_threads, function_attribute::kMaxThreads, kernel->function);
  cuda.get_function_attribute(&kernel->static_shared, function_attribute::kSharedBytes, kernel->function);
  cuda.get_function_attribute(&kernel->registers, function_attribute::kRegisters, kernel->function);
  const int max_dynamic = device_.facts().shared_per_block_optin - kernel->static_shared;
  for (Function f : {kernel->function, kernel->gated, kernel->workers}) {
    if (f != nullptr && max_dynamic > 0)
      cuda.set_function_attribute(f, function_attribute::kMaxDynamicShared, max_dynamic);
  }
  return {status::kSuccess, std::move(kernel)};
}

KernelInfo::Workers CudaCompilation::worker_info(const CudaKernel& kernel) const {
  KernelInfo::Workers info;
  const auto& all = kernel.loaded->workers;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const WorkerKernel& w) { return w.kernel == kernel.layout.name; });
  info.refusal = found == all.end() ? "the rewriter has no workers for it" : found->refusal;
  if (kernel.workers == nullptr) return info;
  info.chunk = found->chunk;
  info.max_chunk = rewrite::kMaxChunk;
  device_.make_current();
  const auto attribute = [&](int which) {
    int value = 0;
    device_.cuda.get_function_attribute(&value, which, kernel.workers);
    return static_cast<std::uint32_t>(std::max(value, 0));
  };
  info.registers = attribute(function_attribute::kRegisters);
  info.local_bytes = attribute(function_attribute::kSharedBytes);
  info.max_items = attribute(function_attribute::kMaxThreads);
  return info;
}

KernelInfo CudaCompilation::properties(const KernelObject& kernel) const {
  const CudaKernel& k = of(kernel);
  KernelInfo info = compiler_.properties(*k.compiled);
  // NVIDIA's compiler tells 256 of most kernels, and its driver takes larger groups too.
  info.accepted_items = static_cast<std::uint64_t>(std::max(k.max_threads, 0));
  info.max_items = std::min(info.max_items, info.accepted_items);
  info.local_bytes = static_cast<std::uint32_t>(k.static_shared);
  info.registers = static_cast<std::uint32_t>(std::max(k.registers, 0));
  for (std::size_t i = 0; i < info.parameters.size() && i < k.layout.parameters.size(); ++i) {
    const rewrite::AdaptedParameter& p = k.layout.parameters[i];
    if (info.parameters[i] == ParameterKind::unknown) info.parameters[i] = ParameterKind::value;
    if (p.pointer) info.parameters[i] = ParameterKind::memory;
    if (p.local_memory) info.parameters[i] = ParameterKind::local;
    using Image = rewrite::KernelImages::Parameter::Kind;
    if (p.image.kind == Image::sampler) info.parameters[i] = ParameterKind::sampler;
    if (p.image.kind == Image::read_image || p.image.kind == Image::written_image) {
      info.parameters[i] = ParameterKind::image;
    }
  }
  info.workers = worker_info(k);
  return info;
}

Status CudaCompilation::kernel_info(const KernelObject& kernel, std::uint32_t name,
                                    std::vector<std::byte>& answer) const {
  return compiler_.kernel_info(*of(kernel).compiled, name, answer);
}

Status CudaCompilation::argument_info(const KernelObject& kernel, std::uint32_t index, std::uint32_t name,
                                      std::vector<std::byte>& answer) const {
  return compiler_.argument_info(*of(kernel).compiled, index, name, answer);
}

Status CudaCompilation::group_info(const KernelObject& kernel, std::uint32_t name,
                                   std::vector<std::byte>& answer) const {
  const CudaKernel& k = of(kernel);
  const Status status = compiler_.group_info(*k.compiled, name, answer);
  if (status != status::kInvalidValue) return status;
  switch (name) {  // the driver's answers, where the compiler has none
    case kWorkGroupSize:
      return put_value(answer, static_cast<std::size_t>(k.max_threads));
    case kLocalMemorySize:
      return put_value(answer, static_cast<std::uint64_t>(k.static_shared));
    case kPrivateMemorySize: {
      int bytes = 0;
      device_.make_current();
      device_.cuda.get_function_attribute(&bytes, function_attribute::kLocalBytes, k.function);
      return put_value(answer, static_cast<std::uint64_t>(bytes));
    }
    default:
      return status;
  }
}

}  // namespace wm::runtime::cuda

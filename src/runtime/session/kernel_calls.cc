#include "runtime/session/kernel_calls.h"

#include <algorithm>
#include <cstring>

namespace wm::runtime {
namespace {

// Queries of OpenCL whose answers are pointers of the daemon's process.
constexpr std::uint64_t kKernelContext = 0x1193, kKernelProgram = 0x1194;
constexpr std::size_t kObjectSize = sizeof(void*);  // size of a memory object or sampler as an argument

}  // namespace

bool read_argument(Reader& reader, LaunchPlan::Value& value) {
  const auto head = reader.take<Argument>();
  value.kind = head.kind;
  value.size = head.size;
  if (head.kind > ArgumentKind::local) return false;
  if (head.kind == ArgumentKind::local || head.kind == ArgumentKind::no_memory) return reader.ok();
  const auto bytes = reader.bytes(head.size);
  value.bytes.assign(bytes.begin(), bytes.end());
  return reader.ok();
}

bool KernelCalls::create(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<CreateKernel>();
  const std::string name(reader.zero_terminated());
  if (!reader.ok()) return false;
  const auto program = state_.objects.programs.find(m.program);
  Made<KernelHandle> made{status::kInvalidProgram, nullptr};
  Compilation& compilation = state_.daemon.backend.compilation();
  if (program) made = compilation.create_kernel(*program->handle, name);
  if (!made.object) {
    state_.answer(header, made.status);
    return true;
  }
  const auto info = compilation.properties(*made.object);
  auto kernel = std::make_shared<Kernel>();
  kernel->handle = counted(std::move(made.object), state_.daemon.counts.kernels);
  kernel->program = program;
  kernel->name = name;
  kernel->function = static_cast<std::uint32_t>(std::hash<std::string>{}(name) ^ m.program);
  kernel->max_items = info.max_items;
  kernel->local_bytes = info.local_bytes;
  kernel->compiled_local = info.compiled_local;
  kernel->parameters = info.parameters;
  KernelProperties properties;
  properties.accepted_work_group_size = std::max(info.max_items, info.accepted_items);
  std::copy_n(info.compiled_local.begin(), 3, properties.required_local_size);
  properties.parameters = static_cast<std::uint32_t>(info.parameters.size());
  properties.uses_printf = program->uses_printf ? 1 : 0;
  std::vector<std::byte> bytes(sizeof properties + info.parameters.size() * sizeof(ParameterKind));
  std::memcpy(bytes.data(), &properties, sizeof properties);
  if (!info.parameters.empty()) {
    std::memcpy(bytes.data() + sizeof properties, info.parameters.data(), bytes.size() - sizeof properties);
  }
  const bool added = state_.objects.kernels.add(m.id, std::move(kernel));
  state_.answer(header, added ? status::kSuccess : status::kInvalidValue, bytes);
  return true;
}

bool KernelCalls::check_argument(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<CheckArgument>();
  LaunchPlan::Value value;
  if (!read_argument(reader, value)) return false;
  const auto kernel = state_.objects.kernels.find(m.kernel);
  const bool plain = value.kind == ArgumentKind::value || value.kind == ArgumentKind::local;
  if (!kernel || !plain) {
    state_.answer(header, status::kInvalidKernel);
    return true;
  }
  // Bytes of a client must never be used as a pointer to an object.
  const bool expects_object = m.index < kernel->parameters.size() && takes_object(kernel->parameters[m.index]);
  if (value.kind == ArgumentKind::value && expects_object) {
    state_.answer(header, value.size == kObjectSize ? status::kInvalidMemoryObject : status::kInvalidArgumentSize);
    return true;
  }
  state_.answer(header, state_.daemon.scheduler.check_argument(*kernel, m.index, value));
  return true;
}

void KernelCalls::info(const MessageHeader& header, const Query& m) {
  const auto kernel = state_.objects.kernels.find(m.object);
  if (!kernel) return state_.answer(header, status::kInvalidKernel);
  if (m.name == kKernelContext || m.name == kKernelProgram) return state_.answer(header, status::kInvalidValue);
  std::vector<std::byte> bytes;
  const Status status =
      state_.daemon.backend.compilation().kernel_info(*kernel->handle, static_cast<std::uint32_t>(m.name), bytes);
  state_.answer(header, status, bytes);
}

void KernelCalls::argument_info(const MessageHeader& header, const KernelQuery& m) {
  const auto kernel = state_.objects.kernels.find(m.kernel);
  if (!kernel) return state_.answer(header, status::kInvalidKernel);
  const Program& program = *kernel->program;
  const bool requested = program.source.empty() || program.options.find("-cl-kernel-arg-info") != std::string::npos;
  const bool exists = m.index < kernel->parameters.size();
  if (exists && !requested && !state_.daemon.backend.capabilities().always_argument_info) {
    return state_.answer(header, status::kArgumentInfoNotAvailable);
  }
  std::vector<std::byte> bytes;
  const Status status = state_.daemon.backend.compilation().argument_info(*kernel->handle, m.index, m.name, bytes);
  state_.answer(header, status, bytes);
}

void KernelCalls::group_info(const MessageHeader& header, const KernelQuery& m) {
  const auto kernel = state_.objects.kernels.find(m.kernel);
  if (!kernel) return state_.answer(header, status::kInvalidKernel);
  std::vector<std::byte> bytes;
  const Status status = state_.daemon.backend.compilation().group_info(*kernel->handle, m.name, bytes);
  state_.answer(header, status, bytes);
}

}  // namespace wm::runtime

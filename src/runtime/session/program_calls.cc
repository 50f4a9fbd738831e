#include "runtime/session/program_calls.h"

#include <algorithm>
#include <cstring>

#include "runtime/device/kernel_output.h"

namespace wm::runtime {
namespace {

constexpr std::uint32_t kMaxInputs = 4096;
constexpr std::uint64_t kMaxProgramText = 1 << 30;  // limit of one client

// The numbers of OpenCL's queries and build status that are handled here.
constexpr std::uint64_t kProgramContext = 0x1161, kProgramDevices = 0x1163, kProgramBinarySizes = 0x1165,
                        kProgramBinaries = 0x1166, kBuildStatus = 0x1181, kBuildLog = 0x1183;
constexpr std::int32_t kBuildError = -2;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The binary of a compiled program. Drivers that compile kernels for a binary do so for executables only.
std::shared_ptr<const std::string> object_of(const Compilation& compilation, const ProgramObject& program) {
  if (compilation.binary_type(program) != BinaryType::object) return nullptr;
  auto object = std::make_shared<std::string>();
  return compilation.binary(program, *object) == status::kSuccess && !object->empty() ? object : nullptr;
}

// The source that the binary of a program is given to its client with; null where it has none, or where the files that
// it includes are not known.
std::shared_ptr<const AttachedSource> source_to_attach(const Program& program) {
  if (program.attached || !program.form.valid()) return program.attached;
  AttachedSource source{program.source, program.options, {}};
  if (program.source.find("include") != std::string::npos || program.options.find("include") != std::string::npos) {
    const auto& files = program.form.get()->dependencies;
    if (!files) return nullptr;
    source.dependencies = *files;
  }
  return std::make_shared<const AttachedSource>(std::move(source));
}

// `sizes`: the answer of the device for the sizes of binaries, of which there is one.
void add_attached_size(const Program& program, std::span<std::byte> sizes) {
  std::size_t size = 0;
  if (sizes.size() != sizeof size) return;
  std::memcpy(&size, sizes.data(), sizeof size);
  if (const auto source = source_to_attach(program); source && size != 0) size += attached_size(*source);
  std::memcpy(sizes.data(), &size, sizeof size);
}

}  // namespace

struct ProgramCalls::Build {
  std::shared_ptr<Program> program;
  bool compile_only = false;
  std::string options;
  std::vector<Compilation::Header> headers;
  SandboxProgram sandboxed;
};

std::shared_ptr<Program> ProgramCalls::own(ProgramHandle handle) const {
  auto program = std::make_shared<Program>();
  program->handle = counted(std::move(handle), state_.daemon.counts.programs);
  return program;
}

void ProgramCalls::create(const MessageHeader& header, const CreateProgram& m) {
  const bool from_binary = m.origin == ProgramOrigin::binary;
  const auto [bytes, region] = state_.shared.find(m.text);
  if (bytes.empty()) return state_.answer(header, from_binary ? status::kInvalidBinary : status::kInvalidValue);
  if (state_.share->program_text + bytes.size() > kMaxProgramText) {
    return state_.answer(header, status::kOutOfHostMemory);
  }
  if (!from_binary && m.origin != ProgramOrigin::source) return state_.answer(header, status::kInvalidValue);
  std::string content = text_of(bytes);
  std::shared_ptr<const AttachedSource> attached;
  if (from_binary) {
    auto [native, source] = split_binary(content);
    if (source) attached = std::make_shared<const AttachedSource>(*std::move(source));
    content.resize(native.size());
    auto given = std::make_shared<Program>();
    given->binary = content;
    if (state_.daemon.sandbox.refusal(request_of(sandbox::Request::Kind::load, "", {{given, ""}}))) {
      return state_.answer(header, status::kInvalidBinary);
    }
  }
  Compilation& compilation = state_.daemon.backend.compilation();
  auto made = from_binary ? compilation.program_from_binary(content) : compilation.program_from_source(content);
  if (made.status != status::kSuccess) return state_.answer(header, made.status);
  auto program = own(std::move(made.object));
  (from_binary ? program->binary : program->source) = content;
  program->attached = std::move(attached);
  program->uses_printf = calls_printf(content) || (program->attached && calls_printf(program->attached->source));
  state_.share->program_text += bytes.size();
  program->text_account = {
      nullptr, [share = state_.share, size = bytes.size()](std::nullptr_t) { share->program_text -= size; }};
  state_.answer(header,
                state_.objects.programs.add(m.id, std::move(program)) ? status::kSuccess : status::kInvalidValue);
}

bool ProgramCalls::build(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<BuildProgram>();
  if (m.inputs > kMaxInputs) return false;
  std::vector<std::shared_ptr<Program>> headers;
  bool valid = true;
  for (std::uint32_t i = 0; i < m.inputs; ++i) {
    headers.push_back(state_.objects.programs.find(reader.take<std::uint64_t>()));
    valid &= headers.back() != nullptr && !headers.back()->source.empty();  // PoCL crashes with headers without source
  }
  const std::string options(reader.zero_terminated());
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < m.inputs; ++i) names.emplace_back(reader.zero_terminated());
  const auto program = state_.objects.programs.find(m.program);
  if (!reader.ok()) return false;
  if (!program || !valid) {
    state_.answer(header, status::kInvalidProgram);
    return true;
  }
  // The standard does not allow building a linked program. PoCL does it, but crashes after a query for the binary.
  if (program->inputs && program->binary_requested) {
    state_.answer(header, status::kInvalidOperation);
    return true;
  }
  program->begin_build(options);
  program->not_rewritten_reason =
      program->binary.empty() ? "compiled apart from what it is linked with" : "its binary came without its source";
  program->uses_printf |= calls_printf(options);
  program->headers.clear();
  std::vector<Compilation::Header> compile_headers;
  for (std::uint32_t i = 0; i < m.inputs; ++i) {
    program->headers.emplace_back(names[i], headers[i]);
    program->uses_printf |= headers[i]->uses_printf;
    compile_headers.push_back({names[i], headers[i]->handle});
  }
  auto built = std::make_shared<std::promise<Status>>();
  if (state_.daemon.worker_programs.rewrites_source() && m.compile_only == 0 &&
      (!program->source.empty() || program->attached))
    make_form(*program, built->get_future().share());
  const std::string built_with = options + kArgumentInfo;
  // Compilers take long, and other threads of the client need not wait for them.
  state_.run_later([this, header, built,
                    build = Build{program, m.compile_only != 0, built_with, std::move(compile_headers),
                                  SandboxProgram(program, built_with)}] {
    const Status status = state_.daemon.compilers.run(state_.compiling_client(), [&] { return compile(build); })
                              .value_or(status::kBuildProgramFailure);
    built->set_value(status);
    state_.answer(header, status);
  });
  return true;
}

void ProgramCalls::make_form(Program& program, const std::shared_future<Status>& built) {
  auto made = std::make_shared<std::promise<std::shared_ptr<const ProgramForm>>>();
  program.form = made->get_future().share();
  state_.run_later([this, made, built, original = WorkerPrograms::original_of(program)] {
    made->set_value(state_.daemon.worker_programs.make(original, built, state_.compiling_client()));
  });
}

Status ProgramCalls::compile(const Build& build) {
  using Kind = sandbox::Request::Kind;
  Program& program = *build.program;
  const Kind kind = build.compile_only ? Kind::compile : program.binary.empty() ? Kind::build : Kind::load;
  if (const auto reason = state_.daemon.sandbox.refusal(request_of(kind, "", {build.sandboxed}))) {
    program.refuse("warpmux: " + *reason + "\n");
    return build.compile_only ? status::kCompileProgramFailure : status::kBuildProgramFailure;
  }
  Compilation& compilation = state_.daemon.backend.compilation();
  const Status status = build.compile_only ? compilation.compile(*program.handle, build.options, build.headers)
                                           : compilation.build(*program.handle, build.options);
  const bool succeeded = status == status::kSuccess;
  program.end_build(succeeded, succeeded && build.compile_only ? object_of(compilation, *program.handle) : nullptr);
  return status;
}

bool ProgramCalls::link(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<LinkProgram>();
  if (m.inputs > kMaxInputs) return false;
  std::vector<std::shared_ptr<Program>> inputs;
  bool valid = true;
  for (std::uint32_t i = 0; i < m.inputs; ++i) {
    inputs.push_back(state_.objects.programs.find(reader.take<std::uint64_t>()));
    valid &= inputs.back() != nullptr;
  }
  const std::string options(reader.zero_terminated());
  if (!reader.ok()) return false;
  if (!valid) {
    state_.answer(header, status::kInvalidProgram);
    return true;
  }
  std::vector<SandboxProgram> sandboxed;
  for (const auto& p : inputs) {
    // A library is given as the programs that it was linked from: a query for its binary would crash PoCL later.
    if (p->inputs) {
      sandboxed.insert(sandboxed.end(), p->inputs->begin(), p->inputs->end());
    } else {
      sandboxed.emplace_back(p, p->options + kArgumentInfo);
    }
  }
  state_.run_later(
      [this, header, id = m.id, inputs, options, sandboxed] { link_now(header, id, inputs, options, sandboxed); });
  return true;
}

void ProgramCalls::link_now(const MessageHeader& header, std::uint64_t id,
                            const std::vector<std::shared_ptr<Program>>& inputs, const std::string& options,
                            const std::vector<SandboxProgram>& sandboxed) {
  Compilation& compilation = state_.daemon.backend.compilation();
  std::vector<ProgramHandle> handles;
  for (const auto& p : inputs) handles.push_back(p->handle);
  // PoCL crashes if it is given a program that failed to compile.
  for (const ProgramHandle& h : handles) {
    if (compilation.build_failed(*h)) return state_.answer(header, status::kInvalidOperation);
  }
  if (state_.daemon.sandbox.refusal(request_of(sandbox::Request::Kind::link, options, sandboxed))) {
    return state_.answer(header, status::kLinkProgramFailure);
  }
  auto made = compilation.link(handles, options);
  if (!made.object) return state_.answer(header, made.status);
  auto program = own(std::move(made.object));
  program->options = options;
  program->not_rewritten_reason = "linked from programs that were compiled apart";
  program->inputs = std::make_shared<const std::vector<SandboxProgram>>(sandboxed);
  program->uses_printf = std::any_of(inputs.begin(), inputs.end(), [](const auto& p) { return p->uses_printf; });
  if (made.status != status::kSuccess) return state_.answer(header, made.status);
  state_.answer(header, state_.objects.programs.add(id, std::move(program)) ? status::kSuccess : status::kInvalidValue);
}

bool ProgramCalls::precompile_for_binary(const std::shared_ptr<Program>& program) {
  const Compilation& compilation = state_.daemon.backend.compilation();
  if (!state_.daemon.precompilation.useful() || compilation.binary_type(*program->handle) != BinaryType::executable) {
    return true;
  }
  auto request = request_of(build_kind(*program), program->inputs ? program->options : "", built_from(program));
  request.binary = true;
  return !state_.daemon.sandbox.refusal(std::move(request));
}

void ProgramCalls::binary(const MessageHeader& header, const Program& program) {
  std::string binary;
  const Status status = state_.daemon.backend.compilation().binary(*program.handle, binary);
  if (const auto source = source_to_attach(program); source && status == status::kSuccess && !binary.empty()) {
    binary = attach_source(std::move(binary), *source);
  }
  state_.answer(header, status, std::as_bytes(std::span(binary)));
}

void ProgramCalls::info(const MessageHeader& header, const Query& m) {
  const auto program = state_.objects.programs.find(m.object);
  if (!program) return state_.answer(header, status::kInvalidProgram);
  // Pointers of the daemon's process mean nothing to a client.
  if (m.name == kProgramContext || m.name == kProgramDevices) return state_.answer(header, status::kInvalidValue);
  if (m.name == kProgramBinaries || m.name == kProgramBinarySizes) {
    program->binary_requested = true;
    if (!precompile_for_binary(program)) return state_.answer(header, status::kOutOfResources);
  }
  if (m.name == kProgramBinaries) return binary(header, *program);
  const Compilation& compilation = state_.daemon.backend.compilation();
  std::vector<std::byte> bytes;
  const Status status = compilation.program_info(*program->handle, static_cast<std::uint32_t>(m.name), bytes);
  if (m.name == kProgramBinarySizes && status == status::kSuccess) add_attached_size(*program, bytes);
  state_.answer(header, status, bytes);
}

void ProgramCalls::build_info(const MessageHeader& header, const Query& m) {
  const auto program = state_.objects.programs.find(m.object);
  if (!program) return state_.answer(header, status::kInvalidProgram);
  // The device knows nothing of a program that the sandbox refused.
  const std::string refusal = program->refusal();
  if (!refusal.empty() && m.name == kBuildLog) {
    return state_.answer(header, status::kSuccess, std::as_bytes(std::span(refusal.c_str(), refusal.size() + 1)));
  }
  if (!refusal.empty() && m.name == kBuildStatus) {
    return state_.answer(header, status::kSuccess, std::as_bytes(std::span(&kBuildError, 1)));
  }
  std::vector<std::byte> bytes;
  const Status status =
      state_.daemon.backend.compilation().build_info(*program->handle, static_cast<std::uint32_t>(m.name), bytes);
  state_.answer(header, status, bytes);
}

}  // namespace wm::runtime

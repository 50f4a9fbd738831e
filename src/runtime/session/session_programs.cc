// A client's programs and kernels.
#include <algorithm>
#include <cstring>

#include "runtime/session/session.h"

namespace wm::runtime {
namespace {

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<Program> own_program(const DaemonContext& ground, cl_program native) {
  auto program = std::make_shared<Program>();
  program->native = own(native, ground.native.cl.ReleaseProgram, ground.census.programs);
  return program;
}

cl_program_binary_type binary_type(const Native& native, cl_program program) {
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  native.cl.GetProgramBuildInfo(program, native.device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, nullptr);
  return type;
}

cl_int read_binary(const Native& native, cl_program program, std::string& binary) {
  std::size_t size = 0;
  const cl_int status = native.cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
  binary.resize(size);
  auto* to = reinterpret_cast<unsigned char*>(binary.data());
  if (status != CL_SUCCESS || size == 0) return status;
  return native.cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr);
}

// Of a program that is compiled. Drivers that compile kernels for it do so for executables only.
std::shared_ptr<const std::string> object_of(const Native& native, cl_program program) {
  if (binary_type(native, program) != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT) return nullptr;
  auto object = std::make_shared<std::string>();
  return read_binary(native, program, *object) == CL_SUCCESS && !object->empty() ? object : nullptr;
}

ParameterKind parameter_kind(const Native& native, cl_kernel kernel, cl_uint index) {
  cl_kernel_arg_address_qualifier space = 0;
  if (native.cl.GetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr) !=
      CL_SUCCESS) {
    return ParameterKind::unknown;
  }
  std::vector<std::byte> bytes;
  info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return native.cl.GetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, room, value, size);
      },
      bytes);
  const std::string type = text(bytes);
  if (type.starts_with("image") && type.find("_t") != std::string::npos) return ParameterKind::image;
  if (type.starts_with("sampler_t")) return ParameterKind::sampler;
  switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return ParameterKind::memory;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return ParameterKind::local;
    default:
      return ParameterKind::value;
  }
}

}  // namespace

void Session::create_program(const MessageHeader& header, const CreateProgram& m) {
  const auto [bytes, region] = bytes_of(m.text);
  if (bytes.empty()) return answer(header, m.origin == ProgramOrigin::binary ? CL_INVALID_BINARY : CL_INVALID_VALUE);
  constexpr std::uint64_t kMostText = 1 << 30;
  if (share_->text + bytes.size() > kMostText) return answer(header, CL_OUT_OF_HOST_MEMORY);
  const std::string content = text(bytes);
  const Native& native = daemon_.native;
  cl_int status = CL_SUCCESS;
  cl_program made = nullptr;
  if (m.origin == ProgramOrigin::source) {
    const char* source = content.c_str();
    const std::size_t length = content.size();
    made = native.cl.CreateProgramWithSource(native.context, 1, &source, &length, &status);
  } else if (m.origin == ProgramOrigin::binary) {
    const auto* binary = reinterpret_cast<const unsigned char*>(content.data());
    const std::size_t length = content.size();
    cl_int loaded = CL_SUCCESS;
    auto given = std::make_shared<Program>();
    given->binary = content;
    if (daemon_.sandbox.refusal(request_of(sandbox::Request::What::load, "", {{given, ""}})))
      return answer(header, CL_INVALID_BINARY);
    made = native.cl.CreateProgramWithBinary(native.context, 1, &native.device, &length, &binary, &loaded, &status);
  } else {
    status = CL_INVALID_VALUE;
  }
  if (status != CL_SUCCESS) return answer(header, status);
  auto program = own_program(daemon_, made);
  (m.origin == ProgramOrigin::source ? program->source : program->binary) = content;
  program->prints = calls_printf(content);
  share_->text += content.size();
  program->text = {nullptr, [share = share_, size = content.size()](std::nullptr_t) { share->text -= size; }};
  answer(header, keep(programs_, m.id, std::move(program)) ? CL_SUCCESS : CL_INVALID_VALUE);
}

bool Session::build_program(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<BuildProgram>();
  if (m.inputs > 4096) return false;
  std::vector<std::shared_ptr<Program>> headers;
  bool known = true;
  for (std::uint32_t i = 0; i < m.inputs; ++i) {
    headers.push_back(find(programs_, reader.take<std::uint64_t>()));
    known &= headers.back() != nullptr && !headers.back()->source.empty();  // PoCL does not survive others
  }
  const std::string options(reader.zero_terminated());
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < m.inputs; ++i) names.emplace_back(reader.zero_terminated());
  const auto program = find(programs_, m.program);
  if (!reader.ok()) return false;
  if (!program || !known) {
    answer(header, CL_INVALID_PROGRAM);
    return true;
  }
  // What was linked is not to be built by the standard. PoCL does it, but not after it was asked for the binary.
  if (program->inputs && program->binary_asked) {
    answer(header, CL_INVALID_OPERATION);
    return true;
  }
  // Compilers take their time; other threads of the client need not. The form as workers is made beside what the client
  // does next, and waited for by the first launch.
  program->headers.clear();
  program->precompiled.forget();
  program->made_into(nullptr);
  for (std::uint32_t i = 0; i < m.inputs; ++i) program->headers.emplace_back(names[i], headers[i]);
  auto built = std::make_shared<std::promise<cl_int>>();
  const std::shared_future<cl_int> outcome = built->get_future().share();
  program->options = options;
  program->not_rewritten_reason = "compiled apart from what it is linked with";
  program->prints |= calls_printf(options);
  for (const auto& h : headers) program->prints |= h->prints;
  program->form = {};
  if (m.compile_only == 0 && !program->source.empty()) {
    auto made = std::make_shared<std::promise<std::shared_ptr<const ProgramForm>>>();
    program->form = made->get_future().share();
    later([this, made, outcome, options, source = program->source] {
      made->set_value(daemon_.forms.make(source, options, outcome, [this] { return closed(); }));
    });
  }
  const std::string built_with = options + kArgumentInfo;
  const SandboxProgram tried(program, built_with);
  later([this, header, m, program, headers, names, built_with, built, tried] {
    const Native& native = daemon_.native;
    const auto compile = [&]() -> cl_int {
      const auto what = m.compile_only != 0       ? sandbox::Request::What::compile
                        : program->binary.empty() ? sandbox::Request::What::build
                                                  : sandbox::Request::What::load;
      const auto why = daemon_.sandbox.refusal(request_of(what, "", {tried}));
      program->refuse(why ? "warpmux: " + *why + "\n" : "");
      if (why) {
        return m.compile_only == 0 ? CL_BUILD_PROGRAM_FAILURE : CL_COMPILE_PROGRAM_FAILURE;
      }
      if (m.compile_only == 0) {
        return native.cl.BuildProgram(program->native.get(), 1, &native.device, built_with.c_str(), nullptr, nullptr);
      }
      std::vector<cl_program> programs;
      std::vector<const char*> words;
      for (const auto& h : headers) programs.push_back(h->native.get());
      for (const auto& n : names) words.push_back(n.c_str());
      const cl_int status = native.cl.CompileProgram(program->native.get(), 1, &native.device, built_with.c_str(),
                                                     m.inputs, programs.empty() ? nullptr : programs.data(),
                                                     words.empty() ? nullptr : words.data(), nullptr, nullptr);
      if (status == CL_SUCCESS) program->made_into(object_of(native, program->native.get()));
      return status;
    };
    const cl_int status =
        daemon_.compilers.run([this] { return closed(); }, compile).value_or(CL_BUILD_PROGRAM_FAILURE);
    built->set_value(status);
    answer(header, status);
  });
  return true;
}

bool Session::link_program(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<LinkProgram>();
  if (m.inputs > 4096) return false;
  std::vector<std::shared_ptr<Program>> inputs;
  bool known = true;
  for (std::uint32_t i = 0; i < m.inputs; ++i) {
    inputs.push_back(find(programs_, reader.take<std::uint64_t>()));
    known &= inputs.back() != nullptr;
  }
  const std::string options(reader.zero_terminated());
  if (!reader.ok()) return false;
  if (!known) {
    answer(header, CL_INVALID_PROGRAM);
    return true;
  }
  std::vector<SandboxProgram> tried;
  for (const auto& p : inputs) {
    // A library as what it was linked from: its binary must not be asked for (build_program).
    if (p->inputs) {
      tried.insert(tried.end(), p->inputs->begin(), p->inputs->end());
    } else {
      tried.emplace_back(p, p->options + kArgumentInfo);
    }
  }
  const bool prints = std::any_of(inputs.begin(), inputs.end(), [](const auto& p) { return p->prints; });
  later([this, header, m, inputs, options, tried, prints] {
    const Native& native = daemon_.native;
    std::vector<cl_program> programs;
    for (const auto& p : inputs) programs.push_back(p->native.get());
    // What does not compile has nothing to link, and PoCL does not survive being given it.
    for (const cl_program p : programs) {
      cl_build_status built = CL_BUILD_NONE;
      native.cl.GetProgramBuildInfo(p, native.device, CL_PROGRAM_BUILD_STATUS, sizeof built, &built, nullptr);
      if (built == CL_BUILD_ERROR) return answer(header, CL_INVALID_OPERATION);
    }
    cl_int status = CL_SUCCESS;
    if (daemon_.sandbox.refusal(request_of(sandbox::Request::What::link, options, tried)))
      return answer(header, CL_LINK_PROGRAM_FAILURE);
    const cl_program made = native.cl.LinkProgram(native.context, 1, &native.device, options.c_str(), m.inputs,
                                                  programs.data(), nullptr, nullptr, &status);
    if (made == nullptr) return answer(header, status);
    auto program = own_program(daemon_, made);
    program->options = options;
    program->inputs = std::make_shared<const std::vector<SandboxProgram>>(tried);
    program->prints = prints;
    const bool kept = status == CL_SUCCESS && keep(programs_, m.id, std::move(program));
    answer(header, kept ? CL_SUCCESS : status == CL_SUCCESS ? CL_INVALID_VALUE : status);
  });
  return true;
}

void Session::program_info(const MessageHeader& header, const Query& m) {
  const auto program = find(programs_, m.object);
  if (!program) return answer(header, CL_INVALID_PROGRAM);
  const Native& native = daemon_.native;
  const auto name = static_cast<cl_program_info>(m.name);
  if (name == CL_PROGRAM_CONTEXT || name == CL_PROGRAM_DEVICES) return answer(header, CL_INVALID_VALUE);
  // For the binary of an executable PoCL compiles all its kernels and loads them: it is done by another first.
  if (name == CL_PROGRAM_BINARIES || name == CL_PROGRAM_BINARY_SIZES) {
    program->binary_asked = true;
    if (daemon_.precompilation.useful() &&
        binary_type(native, program->native.get()) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
      auto request = request_of(how_made(*program), program->inputs ? program->options : "", what_made(program));
      request.binary = true;
      if (daemon_.sandbox.refusal(std::move(request))) return answer(header, CL_OUT_OF_RESOURCES);
    }
  }
  if (name == CL_PROGRAM_BINARIES) {
    std::string binary;
    const cl_int status = read_binary(native, program->native.get(), binary);
    return answer(header, status, std::as_bytes(std::span(binary)));
  }
  std::vector<std::byte> bytes;
  const cl_int status = info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return native.cl.GetProgramInfo(program->native.get(), name, room, value, size);
      },
      bytes);
  answer(header, status, bytes);
}

void Session::program_build_info(const MessageHeader& header, const Query& m) {
  const auto program = find(programs_, m.object);
  if (!program) return answer(header, CL_INVALID_PROGRAM);
  // Of one that the device's compiler was not given.
  const std::string why = program->refusal();
  if (!why.empty() && m.name == CL_PROGRAM_BUILD_LOG) {
    return answer(header, CL_SUCCESS, std::as_bytes(std::span(why.c_str(), why.size() + 1)));
  }
  if (!why.empty() && m.name == CL_PROGRAM_BUILD_STATUS) {
    const cl_build_status failed = CL_BUILD_ERROR;
    return answer(header, CL_SUCCESS, std::as_bytes(std::span(&failed, 1)));
  }
  std::vector<std::byte> bytes;
  const cl_int status = info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return daemon_.native.cl.GetProgramBuildInfo(program->native.get(), daemon_.native.device,
                                                     static_cast<cl_program_build_info>(m.name), room, value, size);
      },
      bytes);
  answer(header, status, bytes);
}

bool Session::create_kernel(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<CreateKernel>();
  const std::string name(reader.zero_terminated());
  if (!reader.ok()) return false;
  const auto program = find(programs_, m.program);
  const Native& native = daemon_.native;
  cl_int status = CL_INVALID_PROGRAM;
  const cl_kernel made = program ? native.cl.CreateKernel(program->native.get(), name.c_str(), &status) : nullptr;
  if (made == nullptr) {
    answer(header, status);
    return true;
  }
  auto kernel = std::make_shared<Kernel>();
  kernel->native = own(made, native.cl.ReleaseKernel, daemon_.census.kernels);
  kernel->program = program;
  kernel->name = name;
  kernel->function = static_cast<std::uint32_t>(std::hash<std::string>{}(name) ^ m.program);
  cl_uint parameters = 0;
  native.cl.GetKernelInfo(made, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, nullptr);
  KernelProperties facts;
  std::size_t most = 0;
  cl_ulong local = 0;
  const auto ask = [&](cl_kernel_work_group_info what, std::size_t size, void* value) {
    native.cl.GetKernelWorkGroupInfo(made, native.device, what, size, value, nullptr);
  };
  ask(CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most);
  ask(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof kernel->compiled_local, kernel->compiled_local.data());
  ask(CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local);
  kernel->most_items = facts.max_work_group_size = most;
  kernel->local_bytes = static_cast<std::uint32_t>(local);
  std::copy_n(kernel->compiled_local.begin(), 3, facts.required_local_size);
  facts.parameters = parameters;
  facts.uses_printf = program->prints ? 1 : 0;
  std::vector<std::byte> bytes(sizeof facts + parameters * sizeof(ParameterKind));
  std::memcpy(bytes.data(), &facts, sizeof facts);
  for (cl_uint i = 0; i < parameters; ++i) {
    const ParameterKind kind = parameter_kind(native, made, i);
    kernel->parameters.push_back(kind);
    std::memcpy(bytes.data() + sizeof facts + i * sizeof kind, &kind, sizeof kind);
  }
  answer(header, keep(kernels_, m.id, std::move(kernel)) ? CL_SUCCESS : CL_INVALID_VALUE, bytes);
  return true;
}

bool Session::check_argument(const MessageHeader& header, Reader& reader) {
  const auto m = reader.take<CheckArgument>();
  LaunchPlan::Value value;
  if (!read_argument(reader, value)) return false;
  const auto kernel = find(kernels_, m.kernel);
  const bool plain = value.kind == ArgumentKind::value || value.kind == ArgumentKind::local;
  if (!kernel || !plain) {
    answer(header, CL_INVALID_KERNEL);
    return true;
  }
  // Bytes of the client's must never be taken for a pointer to an object.
  const bool names_object = m.index < kernel->parameters.size() && takes_object(kernel->parameters[m.index]);
  if (value.kind == ArgumentKind::value && names_object) {
    answer(header, value.size == sizeof(cl_mem) ? CL_INVALID_MEM_OBJECT : CL_INVALID_ARG_SIZE);
    return true;
  }
  answer(header, daemon_.scheduler.try_argument(*kernel, m.index, value));
  return true;
}

void Session::kernel_info(const MessageHeader& header, const Query& m) {
  const auto kernel = find(kernels_, m.object);
  if (!kernel) return answer(header, CL_INVALID_KERNEL);
  const auto name = static_cast<cl_kernel_info>(m.name);
  if (name == CL_KERNEL_CONTEXT || name == CL_KERNEL_PROGRAM) return answer(header, CL_INVALID_VALUE);
  std::vector<std::byte> bytes;
  const cl_int status = info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return daemon_.native.cl.GetKernelInfo(kernel->native.get(), name, room, value, size);
      },
      bytes);
  answer(header, status, bytes);
}

void Session::kernel_arg_info(const MessageHeader& header, const KernelQuery& m) {
  const auto kernel = find(kernels_, m.kernel);
  if (!kernel) return answer(header, CL_INVALID_KERNEL);
  const Program& program = *kernel->program;
  const bool asked_for = program.source.empty() || program.options.find("-cl-kernel-arg-info") != std::string::npos;
  const bool there = m.index < kernel->parameters.size();
  if (there && !asked_for && !daemon_.native.always_argument_info())
    return answer(header, CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
  std::vector<std::byte> bytes;
  const cl_int status = info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return daemon_.native.cl.GetKernelArgInfo(kernel->native.get(), m.index, m.name, room, value, size);
      },
      bytes);
  answer(header, status, bytes);
}

void Session::kernel_group_info(const MessageHeader& header, const KernelQuery& m) {
  const auto kernel = find(kernels_, m.kernel);
  if (!kernel) return answer(header, CL_INVALID_KERNEL);
  std::vector<std::byte> bytes;
  const cl_int status = info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return daemon_.native.cl.GetKernelWorkGroupInfo(kernel->native.get(), daemon_.native.device, m.name, room,
                                                        value, size);
      },
      bytes);
  answer(header, status, bytes);
}

}  // namespace wm::runtime

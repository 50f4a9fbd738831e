#include "runtime/sandbox/request_runner.h"

#include "runtime/sandbox/nonstandard_calls.h"

namespace wm::runtime::sandbox {
namespace {

using Owned = Native_<cl_program>;

Owned owned(const Native& native, cl_program program) { return Owned(program, native.cl.ReleaseProgram); }

Owned from_text(const Native& native, const std::string& text, bool binary, cl_int& status) {
  const std::size_t length = text.size();
  cl_program made = nullptr;
  if (!binary) {
    const char* source = text.c_str();
    made = native.cl.CreateProgramWithSource(native.context, 1, &source, &length, &status);
  } else {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    cl_int loaded = CL_SUCCESS;
    made = native.cl.CreateProgramWithBinary(native.context, 1, &native.device, &length, &bytes, &loaded, &status);
  }
  return made == nullptr ? nullptr : owned(native, made);
}

cl_int compile(const Native& native, cl_program program, const Program& p) {
  std::vector<Owned> headers;
  std::vector<cl_program> programs;
  std::vector<const char*> names;
  cl_int status = CL_SUCCESS;
  for (const Header& h : p.headers) {
    headers.push_back(from_text(native, h.text, false, status));
    if (!headers.back()) return status;
    programs.push_back(headers.back().get());
    names.push_back(h.name.c_str());
  }
  return native.cl.CompileProgram(program, 1, &native.device, p.options.c_str(), static_cast<cl_uint>(programs.size()),
                                  programs.empty() ? nullptr : programs.data(), names.empty() ? nullptr : names.data(),
                                  nullptr, nullptr);
}

Owned link(const Native& native, const Request& request, cl_int& status) {
  std::vector<Owned> inputs;
  std::vector<cl_program> programs;
  for (const Program& p : request.programs) {
    inputs.push_back(from_text(native, p.text, p.binary, status));
    if (!inputs.back()) return nullptr;
    if (!p.binary) status = compile(native, inputs.back().get(), p);
    if (status != CL_SUCCESS) return nullptr;
    programs.push_back(inputs.back().get());
  }
  const cl_program made =
      native.cl.LinkProgram(native.context, 1, &native.device, request.options.c_str(),
                            static_cast<cl_uint>(programs.size()), programs.data(), nullptr, nullptr, &status);
  return made == nullptr ? nullptr : owned(native, made);
}

}  // namespace

cl_int RequestRunner::build(const Request& request) {
  Request programs = request;
  programs.launch.reset();
  programs.binary = false;
  std::string built_from = encode(programs);
  if ((request.launch || request.binary) && program_ && built_from == built_from_) return CL_SUCCESS;
  built_from_ = std::move(built_from);
  program_.reset();
  cl_int status = CL_SUCCESS;
  if (request.kind == Request::Kind::link) {
    Owned linked = link(native_, request, status);
    if (status == CL_SUCCESS) program_ = std::move(linked);
    return status;
  }
  const Program& p = request.programs.front();
  Owned program = from_text(native_, p.text, p.binary, status);
  if (!program) return status;
  status = request.kind == Request::Kind::compile
               ? compile(native_, program.get(), p)
               : native_.cl.BuildProgram(program.get(), 1, &native_.device, p.options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) program_ = std::move(program);
  return status;
}

cl_int RequestRunner::run(const Request& request) {
  if (request.kind == Request::Kind::nonstandard_call) {
    return try_nonstandard_call(native_, static_cast<NonstandardCall>(request.call));
  };
  if (request.programs.empty()) return CL_INVALID_VALUE;
  const cl_int status = build(request);
  if (status != CL_SUCCESS) return status;
  if (request.binary) {
    std::size_t size = 0;
    return native_.cl.GetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
  }
  return request.launch ? precompiler_.precompile(program_.get(), *request.launch) : status;
}

}  // namespace wm::runtime::sandbox

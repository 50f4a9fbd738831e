#include "runtime/trial/answer.h"

#include <memory>

namespace wm::runtime::trial {
namespace {

using Owned = std::unique_ptr<std::remove_pointer_t<cl_program>, decltype(NativeCalls::ReleaseProgram)>;

Owned owned(const Native& native, cl_program program) { return {program, native.cl.ReleaseProgram}; }

Owned from_text(const Native& native, const std::string& text, bool binary, cl_int& status) {
  const std::size_t length = text.size();
  if (!binary) {
    const char* source = text.c_str();
    return owned(native, native.cl.CreateProgramWithSource(native.context, 1, &source, &length, &status));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  cl_int loaded = CL_SUCCESS;
  return owned(native,
               native.cl.CreateProgramWithBinary(native.context, 1, &native.device, &length, &bytes, &loaded, &status));
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

cl_int link(const Native& native, const Request& request) {
  std::vector<Owned> inputs;
  std::vector<cl_program> programs;
  cl_int status = CL_SUCCESS;
  for (const Program& p : request.programs) {
    inputs.push_back(from_text(native, p.text, p.binary, status));
    if (!inputs.back()) return status;
    if (!p.binary) status = compile(native, inputs.back().get(), p);
    if (status != CL_SUCCESS) return status;
    programs.push_back(inputs.back().get());
  }
  const Owned made = owned(
      native, native.cl.LinkProgram(native.context, 1, &native.device, request.options.c_str(),
                                    static_cast<cl_uint>(programs.size()), programs.data(), nullptr, nullptr, &status));
  return status;
}

}  // namespace

cl_int answer(const Native& native, const Request& request) {
  if (request.what == Request::What::question) return ask(native, request.question);
  if (request.programs.empty()) return CL_INVALID_VALUE;
  if (request.what == Request::What::link) return link(native, request);
  const Program& p = request.programs.front();
  cl_int status = CL_SUCCESS;
  const Owned program = from_text(native, p.text, p.binary, status);
  if (!program) return status;
  if (request.what == Request::What::compile) return compile(native, program.get(), p);
  return native.cl.BuildProgram(program.get(), 1, &native.device, p.options.c_str(), nullptr, nullptr);
}

}  // namespace wm::runtime::trial

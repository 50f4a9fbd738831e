// Building, compiling and linking programs; the daemon's compiler does it while the caller waits.
#include <algorithm>
#include <filesystem>

#include "runtime/driver/api.h"

namespace wm::runtime::driver {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

cl_int check_build(cl_program program, cl_uint count, const cl_device_id* devices, Notify notify, const void* data) {
  if (!valid(program)) return CL_INVALID_PROGRAM;
  if ((count == 0) != (devices == nullptr)) return CL_INVALID_VALUE;
  if (notify == nullptr && data != nullptr) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (!valid(devices[i])) return CL_INVALID_DEVICE;
  }
  return program->kernels != 0 ? CL_INVALID_OPERATION : CL_SUCCESS;
}

struct Headers {
  cl_uint count = 0;
  const cl_program* programs = nullptr;
  const char** names = nullptr;
};

bool includes(const std::string& source) { return source.find("include") != std::string::npos; }

// The compiler works in another folder: paths of -I as they are from here, and this folder itself where something is
// included, since compilers look there by themselves. Words end at spaces for them, whatever is quoted.
std::string from_here(const std::string& options, bool includes) {
  std::error_code unknown;
  const std::string here = std::filesystem::current_path(unknown).string();
  if (unknown || here.find(' ') != std::string::npos) return options;
  std::string all;
  bool path = false;
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t end = std::min(options.find(' ', at), options.size());
    std::string word = options.substr(at, end - at);
    const std::size_t from = path ? 0 : word.starts_with("-I") ? 2 : word.size();
    if (from < word.size() && word[from] != '/' && word[from] != '"') word.insert(from, here + "/");
    path = word == "-I" || (path && word.empty());
    all += word + (end < options.size() ? " " : "");
    at = end + 1;
  }
  return includes ? all + " -I " + here : all;
}

cl_int build(cl_program program, bool compile_only, const char* options, const Headers& headers) {
  Writer message(Op::build_program);
  message.put(BuildProgram{program->name, compile_only ? 1U : 0U, headers.count});
  for (cl_uint i = 0; i < headers.count; ++i) message.put(headers.programs[i]->name);
  const char zero = 0;
  program->options = options == nullptr ? "" : options;
  bool included = includes(program->source);
  for (cl_uint i = 0; i < headers.count; ++i) included |= includes(headers.programs[i]->source);
  message.text(from_here(program->options, included)).put(zero);
  for (cl_uint i = 0; i < headers.count; ++i) message.text(headers.names[i]).put(zero);
  return link().call(message);
}

}  // namespace

cl_int build_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options, Notify notify,
                     void* data) {
  return guarded([&]() -> cl_int {
    if (const cl_int bad = check_build(program, count, devices, notify, data); bad != CL_SUCCESS) return bad;
    const cl_int status = build(program, false, options, {});
    if (notify != nullptr) notify(program, data);
    return status;
  });
}

cl_int compile_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                       cl_uint headers, const cl_program* programs, const char** names, Notify notify, void* data) {
  return guarded([&]() -> cl_int {
    if (const cl_int bad = check_build(program, count, devices, notify, data); bad != CL_SUCCESS) return bad;
    if ((headers == 0) != (programs == nullptr) || (headers == 0) != (names == nullptr)) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < headers; ++i) {
      if (!valid(programs[i])) return CL_INVALID_PROGRAM;
      if (names[i] == nullptr) return CL_INVALID_VALUE;
    }
    if (!program->from_source) return CL_INVALID_OPERATION;
    const cl_int status = build(program, true, options, {headers, programs, names});
    if (notify != nullptr) notify(program, data);
    return status;
  });
}

cl_program link_program(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                        cl_uint inputs, const cl_program* programs, Notify notify, void* data, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    if (inputs == 0 && programs == nullptr) status = link().natively(Question::link_of_nothing);
    if (status != CL_SUCCESS) return nullptr;
    if ((count == 0) != (devices == nullptr) || inputs == 0 || programs == nullptr ||
        (notify == nullptr && data != nullptr)) {
      return refuse<_cl_program>(status, CL_INVALID_VALUE);
    }
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(devices[i])) return refuse<_cl_program>(status, CL_INVALID_DEVICE);
    }
    for (cl_uint i = 0; i < inputs; ++i) {
      if (!valid(programs[i])) return refuse<_cl_program>(status, CL_INVALID_PROGRAM);
    }
    auto program = std::make_unique<_cl_program>();
    program->context = Held<_cl_context>(context);
    program->name = link().new_name();
    program->linked = true;
    Writer message(Op::link_program);
    message.put(LinkProgram{program->name, inputs, 0});
    for (cl_uint i = 0; i < inputs; ++i) message.put(programs[i]->name);
    message.text(options == nullptr ? "" : options).put('\0');
    status = link().call(message);
    const bool tried = status == CL_SUCCESS || status == CL_LINK_PROGRAM_FAILURE;
    if (notify != nullptr && tried) notify(program.get(), data);
    return status == CL_SUCCESS ? program.release() : nullptr;
  });
}

}  // namespace wm::runtime::driver

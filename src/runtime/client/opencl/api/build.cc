// Building, compiling and linking programs. The daemon compiles while the caller waits.
#include <algorithm>
#include <filesystem>

#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

namespace wm::runtime::client {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

cl_int check_build(cl_program program, cl_uint count, const cl_device_id* devices, Notify notify, const void* data) {
  if (!valid(program)) return CL_INVALID_PROGRAM;
  if ((count == 0) != (devices == nullptr)) return CL_INVALID_VALUE;
  if (notify == nullptr && data != nullptr) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (!valid(devices[i])) return CL_INVALID_DEVICE;
  }
  return program->kernel_count != 0 ? CL_INVALID_OPERATION : CL_SUCCESS;
}

struct Headers {
  cl_uint count = 0;
  const cl_program* programs = nullptr;
  const char** names = nullptr;
};

bool includes(const std::string& source) { return source.find("include") != std::string::npos; }

// The daemon compiles in another folder. Relative paths of -I become absolute, and the current folder is added where
// the source includes something, since compilers search it too. Compilers split options at spaces, quoted or not.
std::string with_absolute_paths(const std::string& options, bool includes) {
  std::error_code unknown;
  const std::string folder = std::filesystem::current_path(unknown).string();
  if (unknown || folder.find(' ') != std::string::npos) return options;
  std::string all;
  bool path_follows = false;
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t end = std::min(options.find(' ', at), options.size());
    std::string option = options.substr(at, end - at);
    const std::size_t from = path_follows ? 0 : option.starts_with("-I") ? 2 : option.size();
    if (from < option.size() && option[from] != '/' && option[from] != '"') option.insert(from, folder + "/");
    path_follows = option == "-I" || (path_follows && option.empty());
    all += option + (end < options.size() ? " " : "");
    at = end + 1;
  }
  return includes ? all + " -I " + folder : all;
}

cl_int build(cl_program program, bool compile_only, const char* options, const Headers& headers) {
  Writer message(Op::build_program);
  message.put(BuildProgram{program->id, compile_only ? 1U : 0U, headers.count});
  for (cl_uint i = 0; i < headers.count; ++i) message.put(headers.programs[i]->id);
  const char zero = 0;
  program->options = options == nullptr ? "" : options;
  bool included = includes(program->source);
  for (cl_uint i = 0; i < headers.count; ++i) included |= includes(headers.programs[i]->source);
  message.text(with_absolute_paths(program->options, included)).put(zero);
  for (cl_uint i = 0; i < headers.count; ++i) message.text(headers.names[i]).put(zero);
  return connection().call(message);
}

}  // namespace

cl_int build_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options, Notify notify,
                     void* data) {
  return guarded([&]() -> cl_int {
    if (const cl_int error = check_build(program, count, devices, notify, data); error != CL_SUCCESS) return error;
    const cl_int status = build(program, false, options, {});
    if (notify != nullptr) notify(program, data);
    return status;
  });
}

cl_int compile_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                       cl_uint headers, const cl_program* programs, const char** names, Notify notify, void* data) {
  return guarded([&]() -> cl_int {
    if (const cl_int error = check_build(program, count, devices, notify, data); error != CL_SUCCESS) return error;
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
                        cl_uint inputs, const cl_program* programs, Notify notify, void* data, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    if (inputs == 0 && programs == nullptr) status = connection().native_result(NonstandardCall::link_of_nothing);
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
    program->context = Retained<_cl_context>(context);
    program->id = connection().new_object_id();
    program->linked = true;
    Writer message(Op::link_program);
    message.put(LinkProgram{program->id, inputs, 0});
    for (cl_uint i = 0; i < inputs; ++i) message.put(programs[i]->id);
    message.text(options == nullptr ? "" : options).put('\0');
    status = connection().call(message);
    const bool attempted = status == CL_SUCCESS || status == CL_LINK_PROGRAM_FAILURE;
    if (notify != nullptr && attempted) notify(program.get(), data);
    return status == CL_SUCCESS ? program.release() : nullptr;
  });
}

}  // namespace wm::runtime::client

// Creating programs and querying them.
#include <algorithm>

#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"

_cl_program::~_cl_program() { wm::runtime::client::post_release(wm::runtime::ObjectKind::program, id); }

namespace wm::runtime::client {
namespace {

cl_program make_program(cl_context context, ProgramOrigin origin, std::string_view text, cl_int& status) {
  auto program = std::make_unique<_cl_program>();
  program->context = Retained<_cl_context>(context);
  program->id = connection().new_object_id();
  Chunk chunk = connection().allocate(text.size(), Connection::IfFull::wait);
  if (chunk.size == 0) return refuse<_cl_program>(status, CL_OUT_OF_HOST_MEMORY);
  std::memcpy(connection().address(chunk), text.data(), text.size());
  Writer message(Op::create_program);
  Chunk sent = chunk;
  sent.size = text.size();
  message.put(CreateProgram{program->id, origin, 0, sent});
  status = connection().call(message);
  connection().free(chunk);
  return status == CL_SUCCESS ? program.release() : nullptr;
}

// CL_SUCCESS if the list names only the one device.
cl_int check_devices(cl_uint count, const cl_device_id* devices) {
  if (count == 0 || devices == nullptr) return CL_INVALID_VALUE;
  return std::all_of(devices, devices + count, [](cl_device_id d) { return valid(d); }) ? CL_SUCCESS
                                                                                        : CL_INVALID_DEVICE;
}

cl_int query(cl_program program, cl_program_info name, std::vector<std::byte>& answer) {
  Writer message(Op::program_info);
  message.put(Query{program->id, name});
  return connection().call(message, &answer);
}

cl_int binaries(cl_program program, const Info& info) {
  unsigned char* to = nullptr;
  if (info.value != nullptr) {
    if (info.size < sizeof to) return CL_INVALID_VALUE;
    std::memcpy(&to, info.value, sizeof to);
  }
  if (info.size_ret != nullptr) *info.size_ret = sizeof to;
  if (to == nullptr) return CL_SUCCESS;
  std::vector<std::byte> bytes;
  const cl_int status = query(program, CL_PROGRAM_BINARIES, bytes);
  if (status == CL_SUCCESS) std::memcpy(to, bytes.data(), bytes.size());
  return status;
}

}  // namespace

cl_program create_program_with_source(cl_context context, cl_uint count, const char** texts, const std::size_t* lengths,
                                      cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    if (count == 0 || texts == nullptr) return refuse<_cl_program>(status, CL_INVALID_VALUE);
    std::string source;
    for (cl_uint i = 0; i < count; ++i) {
      if (texts[i] == nullptr) return refuse<_cl_program>(status, CL_INVALID_VALUE);
      source.append(texts[i], lengths == nullptr || lengths[i] == 0 ? std::strlen(texts[i]) : lengths[i]);
    }
    cl_program program = make_program(context, ProgramOrigin::source, source.empty() ? "\n" : source, status);
    if (program != nullptr) {
      program->source = std::move(source);
      program->from_source = true;
    }
    return program;
  });
}

cl_program create_program_with_binary(cl_context context, cl_uint count, const cl_device_id* devices,
                                      const std::size_t* lengths, const unsigned char** binaries, cl_int* binary_status,
                                      cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    status = check_devices(count, devices);
    if (status != CL_SUCCESS) return nullptr;
    if (lengths == nullptr || binaries == nullptr) return refuse<_cl_program>(status, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; ++i) {
      if (lengths[i] == 0 || binaries[i] == nullptr) {
        if (binary_status != nullptr) binary_status[i] = CL_INVALID_VALUE;
        return refuse<_cl_program>(status, CL_INVALID_VALUE);
      }
    }
    cl_program program =
        make_program(context, ProgramOrigin::binary, {reinterpret_cast<const char*>(binaries[0]), lengths[0]}, status);
    if (binary_status != nullptr) std::fill_n(binary_status, count, status);
    return program;
  });
}

// Built-in kernels are not supported: CL_DEVICE_BUILT_IN_KERNELS is empty.
cl_program create_program_with_built_in_kernels(cl_context context, cl_uint count, const cl_device_id* devices,
                                                const char* names, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    status = check_devices(count, devices);
    if (status == CL_SUCCESS || names == nullptr) status = CL_INVALID_VALUE;
    return nullptr;
  });
}

// Intermediate languages are not supported: CL_DEVICE_IL_VERSION is empty.
cl_program create_program_with_il(cl_context context, const void* il, std::size_t length, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    return refuse<_cl_program>(status, il == nullptr || length == 0 ? CL_INVALID_VALUE : CL_INVALID_OPERATION);
  });
}

cl_int retain_program(cl_program program) { return retain_checked(program, CL_INVALID_PROGRAM); }
cl_int release_program(cl_program program) {
  return guarded([&] { return release_checked(program, CL_INVALID_PROGRAM); });
}

cl_int get_program_info(cl_program program, cl_program_info name, std::size_t size, void* value,
                        std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_PROGRAM_REFERENCE_COUNT:
        return info.put(cl_uint{program->references.load()});
      case CL_PROGRAM_CONTEXT:
        return info.put(program->context.get());
      case CL_PROGRAM_NUM_DEVICES:
        return info.put(cl_uint{1});
      case CL_PROGRAM_DEVICES:
        return info.put(process().device());
      case CL_PROGRAM_SOURCE:
        return info.put_text(program->source);
      case CL_PROGRAM_BINARIES:
        return binaries(program, info);
      case CL_PROGRAM_IL:
        return info.put_bytes(nullptr, 0);
      default:
        break;
    }
    Writer message(Op::program_info);
    message.put(Query{program->id, name});
    return forward(message, info);
  });
}

cl_int get_program_build_info(cl_program program, cl_device_id device, cl_program_build_info name, std::size_t size,
                              void* value, std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    if (!valid(device)) return CL_INVALID_DEVICE;
    if (name == CL_PROGRAM_BUILD_OPTIONS && !program->linked)
      return Info{size, value, size_ret}.put_text(program->options);
    Writer message(Op::program_build_info);
    message.put(Query{program->id, name});
    return forward(message, {size, value, size_ret});
  });
}

// These concern programs in an intermediate language.
cl_int set_program_release_callback(cl_program program, void(CL_CALLBACK*)(cl_program, void*), void*) {
  return valid(program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}
cl_int set_program_specialization_constant(cl_program program, cl_uint, std::size_t, const void*) {
  return valid(program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

}  // namespace wm::runtime::client

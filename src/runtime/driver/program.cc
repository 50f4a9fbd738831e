// Programs: made from source, binaries or built-in kernels, and asked about.
#include <algorithm>

#include "runtime/driver/api.h"

_cl_program::~_cl_program() {
  wm::runtime::Writer message(wm::runtime::Op::release);
  message.put(wm::runtime::Release{name, wm::runtime::Kind::program, 0});
  wm::runtime::driver::link().post(message);
}

namespace wm::runtime::driver {
namespace {

cl_program make_program(cl_context context, ProgramFrom from, std::string_view text, cl_int& status) {
  auto program = std::make_unique<_cl_program>();
  program->context = Held<_cl_context>(context);
  program->name = link().new_name();
  Chunk chunk = link().take_chunk(text.size(), true);
  if (chunk.size == 0) return refuse<_cl_program>(status, CL_OUT_OF_HOST_MEMORY);
  std::memcpy(link().at(chunk), text.data(), text.size());
  Writer message(Op::create_program);
  Chunk sent = chunk;
  sent.size = text.size();
  message.put(CreateProgram{program->name, from, 0, sent});
  status = link().call(message);
  link().give_chunk(chunk);
  return status == CL_SUCCESS ? program.release() : nullptr;
}

// CL_SUCCESS where the devices are the one there is.
cl_int check_devices(cl_uint count, const cl_device_id* devices) {
  if (count == 0 || devices == nullptr) return CL_INVALID_VALUE;
  return std::all_of(devices, devices + count, [](cl_device_id d) { return valid(d); }) ? CL_SUCCESS
                                                                                        : CL_INVALID_DEVICE;
}

cl_int ask(cl_program program, cl_program_info name, std::vector<std::byte>& answer) {
  Writer message(Op::program_info);
  message.put(Query{program->name, name});
  return link().call(message, &answer);
}

cl_int binaries(cl_program program, const Info& info) {
  unsigned char* to = nullptr;
  if (info.value != nullptr) {
    if (info.room < sizeof to) return CL_INVALID_VALUE;
    std::memcpy(&to, info.value, sizeof to);
  }
  if (info.needed != nullptr) *info.needed = sizeof to;
  if (to == nullptr) return CL_SUCCESS;
  std::vector<std::byte> bytes;
  const cl_int status = ask(program, CL_PROGRAM_BINARIES, bytes);
  if (status == CL_SUCCESS) std::memcpy(to, bytes.data(), bytes.size());
  return status;
}

}  // namespace

cl_int forward(Writer& message, const Info& info) {
  std::vector<std::byte> answer;
  const cl_int status = link().call(message, &answer);
  return status == CL_SUCCESS ? info.raw(answer.data(), answer.size()) : status;
}

cl_program create_program_with_source(cl_context context, cl_uint count, const char** texts, const std::size_t* lengths,
                                      cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    if (count == 0 || texts == nullptr) return refuse<_cl_program>(status, CL_INVALID_VALUE);
    std::string source;
    for (cl_uint i = 0; i < count; ++i) {
      if (texts[i] == nullptr) return refuse<_cl_program>(status, CL_INVALID_VALUE);
      source.append(texts[i], lengths == nullptr || lengths[i] == 0 ? std::strlen(texts[i]) : lengths[i]);
    }
    cl_program program = make_program(context, ProgramFrom::source, source.empty() ? "\n" : source, status);
    if (program != nullptr) {
      program->source = std::move(source);
      program->from_source = true;
    }
    return program;
  });
}

cl_program create_program_with_binary(cl_context context, cl_uint count, const cl_device_id* devices,
                                      const std::size_t* lengths, const unsigned char** binaries, cl_int* binary_status,
                                      cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_program {
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
        make_program(context, ProgramFrom::binary, {reinterpret_cast<const char*>(binaries[0]), lengths[0]}, status);
    if (binary_status != nullptr) std::fill_n(binary_status, count, status);
    return program;
  });
}

// The device's built-in kernels are not offered.
cl_program create_program_with_built_in_kernels(cl_context context, cl_uint count, const cl_device_id* devices,
                                                const char* names, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    status = check_devices(count, devices);
    if (status == CL_SUCCESS || names == nullptr) status = CL_INVALID_VALUE;
    return nullptr;
  });
}

// Neither are intermediate languages: CL_DEVICE_IL_VERSION is empty.
cl_program create_program_with_il(cl_context context, const void* il, std::size_t length, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_program {
    if (!valid(context)) return refuse<_cl_program>(status, CL_INVALID_CONTEXT);
    return refuse<_cl_program>(status, il == nullptr || length == 0 ? CL_INVALID_VALUE : CL_INVALID_OPERATION);
  });
}

cl_int retain_program(cl_program program) { return retain_checked(program, CL_INVALID_PROGRAM); }
cl_int release_program(cl_program program) {
  return guarded([&] { return release_checked(program, CL_INVALID_PROGRAM); });
}

cl_int get_program_info(cl_program program, cl_program_info name, std::size_t room, void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    const Info info{room, value, needed};
    switch (name) {
      case CL_PROGRAM_REFERENCE_COUNT:
        return info.is(cl_uint{program->references.load()});
      case CL_PROGRAM_CONTEXT:
        return info.is(program->context.get());
      case CL_PROGRAM_NUM_DEVICES:
        return info.is(cl_uint{1});
      case CL_PROGRAM_DEVICES:
        return info.is(process().device());
      case CL_PROGRAM_SOURCE:
        return info.text(program->source);
      case CL_PROGRAM_BINARIES:
        return binaries(program, info);
      case CL_PROGRAM_IL:
        return info.raw(nullptr, 0);
      default:
        break;
    }
    Writer message(Op::program_info);
    message.put(Query{program->name, name});
    return forward(message, info);
  });
}

cl_int get_program_build_info(cl_program program, cl_device_id device, cl_program_build_info name, std::size_t room,
                              void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    if (!valid(device)) return CL_INVALID_DEVICE;
    if (name == CL_PROGRAM_BUILD_OPTIONS && !program->linked) return Info{room, value, needed}.text(program->options);
    Writer message(Op::program_build_info);
    message.put(Query{program->name, name});
    return forward(message, {room, value, needed});
  });
}

// OpenCL 2.2's, for programs in an intermediate language, which there are none of.
cl_int set_program_release_callback(cl_program program, void(CL_CALLBACK*)(cl_program, void*), void*) {
  return valid(program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}
cl_int set_program_specialization_constant(cl_program program, cl_uint, std::size_t, const void*) {
  return valid(program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

}  // namespace wm::runtime::driver

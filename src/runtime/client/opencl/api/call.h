// The parts that all API functions share: no exception leaves them, and queries answer through Info.
#pragma once

#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/client/opencl/process/process.h"

namespace wm::runtime::client {

// No exception may cross into an application.
template <typename F>
cl_int guarded(F body) noexcept {
  try {
    return body();
  } catch (const std::exception&) {
    return CL_OUT_OF_HOST_MEMORY;
  }
}
// For functions that return an object: `body` returns the object, or sets the status it is given.
template <typename F>
auto guarded_create(cl_int* status_out, F body) noexcept -> decltype(body(*status_out)) {
  cl_int status = CL_SUCCESS;
  decltype(body(*status_out)) object = nullptr;
  try {
    object = body(status);
  } catch (const std::exception&) {
    status = CL_OUT_OF_HOST_MEMORY;
  }
  if (status_out != nullptr) *status_out = status;
  return status == CL_SUCCESS ? object : nullptr;
}
template <typename T>
T* refuse(cl_int& status, cl_int error) {
  status = error;
  return nullptr;
}

// The application's memory for the answer to a query: param_value_size, param_value and param_value_size_ret.
struct Info {
  std::size_t size;
  void* value;
  std::size_t* size_ret;

  [[nodiscard]] cl_int put_bytes(const void* data, std::size_t bytes) const {
    if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
    if (value != nullptr && bytes != 0) std::memcpy(value, data, bytes);
    if (size_ret != nullptr) *size_ret = bytes;
    return CL_SUCCESS;
  }
  template <Plain T>
  [[nodiscard]] cl_int put(const T& answer) const {
    return put_bytes(&answer, sizeof answer);
  }
  [[nodiscard]] cl_int put_text(std::string_view text) const {
    const std::string terminated(text);
    return put_bytes(terminated.c_str(), terminated.size() + 1);
  }
  template <typename T>
  [[nodiscard]] cl_int put_list(const std::vector<T>& all) const {
    return put_bytes(all.data(), all.size() * sizeof(T));
  }
};

// Sends a query to the daemon and passes its answer on.
inline cl_int forward(Writer& message, const Info& info) {
  std::vector<std::byte> answer;
  const cl_int status = connection().call(message, &answer);
  return status == CL_SUCCESS ? info.put_bytes(answer.data(), answer.size()) : status;
}

// The size of the output of one launch, which CL_DEVICE_PRINTF_BUFFER_SIZE shows.
inline constexpr std::size_t kPrintfBufferSize = 1 << 20;

}  // namespace wm::runtime::client

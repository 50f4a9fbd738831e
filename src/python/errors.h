// Errors of warpmux as exceptions of Python: every one is a warpmux.Error with the line that the CLI would print.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/result.h"

namespace wm::python {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void raise(const Error& error) { throw Failure(error.to_string()); }

template <typename T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

}  // namespace wm::python

// Errors as values: a Result holds a value, or one Error that describes the failure and its place.
//
// `Error::to_string()` is the one line a user sees: "file:line:column: what" with the parts that are known.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace wm {

// A place in a text. Lines and columns count from 1; 0 means "not known".
struct Place {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Error {
  std::string what;
  Place where{};

  [[nodiscard]] std::string to_string() const;
};

// Ends the program: the value of a failed Result, or the error of a successful one, was asked for.
[[noreturn]] inline void wrong_side_of_result(bool ok) {
  std::fputs(ok ? "wm: internal error: a result has no error\n" : "wm: internal error: the value of a failed result\n",
             stderr);
  std::abort();
}

// The union stands for a std::variant<T, Error>, whose instantiations for some hundred types took a tenth of the build.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)), ok_(true) {}       // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT(google-explicit-constructor)
  Result(Result&& other) noexcept : ok_(other.ok_) { construct(std::move(other)); }
  Result(const Result& other) requires std::is_copy_constructible_v<T> : ok_(other.ok_) { construct(other); }
  Result& operator=(Result other) noexcept {
    destroy();
    ok_ = other.ok_;
    construct(std::move(other));
    return *this;
  }
  ~Result() { destroy(); }

  [[nodiscard]] bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

  [[nodiscard]] const Error& error() const { return expect(false), error_; }

  T& operator*() & { return expect(true), value_; }
  const T& operator*() const& { return expect(true), value_; }
  T&& operator*() && { return expect(true), std::move(value_); }
  T* operator->() { return expect(true), &value_; }
  const T* operator->() const { return expect(true), &value_; }

 private:
  void expect(bool ok) const {
    if (ok_ != ok) wrong_side_of_result(ok_);
  }
  template <typename Other>
  void construct(Other&& other) {
    if (ok_) {
      ::new (static_cast<void*>(&value_)) T(std::forward<Other>(other).value_);
    } else {
      ::new (static_cast<void*>(&error_)) Error(std::forward<Other>(other).error_);
    }
  }
  void destroy() {
    if (ok_) {
      value_.~T();
    } else {
      error_.~Error();
    }
  }

  union {
    T value_;
    Error error_;
  };
  bool ok_;
};

// Success carries nothing: `return {};`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace wm

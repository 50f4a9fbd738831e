// Answers to queries, as bytes.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/protocol/status.h"

namespace wm::runtime::cuda {

template <typename T>
requires std::is_trivially_copyable_v<T> Status put_value(std::vector<std::byte>& answer, const T& value) {
  answer.resize(sizeof value);
  std::memcpy(answer.data(), &value, sizeof value);
  return status::kSuccess;
}

// With the zero that ends it.
inline Status put_text(std::vector<std::byte>& answer, const std::string& text) {
  answer.resize(text.size() + 1);
  std::memcpy(answer.data(), text.c_str(), text.size() + 1);
  return status::kSuccess;
}

}  // namespace wm::runtime::cuda

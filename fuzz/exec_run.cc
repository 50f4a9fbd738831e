// Any module that parses either runs, ends with a fault that has a text, or is refused: never anything else, and within
// the bounds it was given.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/bounded_run.h"
#include "fuzz/line_mutator.h"

namespace {

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

std::size_t put(const std::string& text, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = text.size() < max_size ? text.size() : max_size;
  std::memcpy(data, text.data(), size);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wm::fuzz::run_bounded(view(data, size));
  return 0;
}

// Bytes changed at random hardly ever parse; most mutations move lines.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text(view(data, size));
  return put(wm::fuzz::LineMutator(text, seed).mutate(text), data, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                                                 std::size_t b_size, std::uint8_t* out, std::size_t max_size,
                                                 unsigned seed) {
  return put(wm::fuzz::LineMutator(view(a, a_size), seed).mutate(view(b, b_size)), out, max_size);
}

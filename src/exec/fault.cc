#include "exec/fault.h"

#include <fmt/format.h>

namespace wm::exec {

namespace {

// A deadlock of a large block would print hundreds of equal lines, so only the first few are printed.
constexpr std::size_t kPrintedWarps = 32;

std::string triple(const gpu::Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

}  // namespace

std::string CodePlace::to_string() const {
  const std::string ptx = fmt::format("{}:{}", ptx_file.empty() ? "ptx" : ptx_file, ptx_line);
  if (source_line == 0) return ptx;
  return fmt::format("{}:{} ({})", source_file, source_line, ptx);
}

std::string WarpPosition::to_string() const {
  std::string text = fmt::format("block {} warp {} lanes {:08x} at {} in '{}': {}", triple(block), warp, lanes,
                                 place.to_string(), place.function, instruction);
  if (!waits_for.empty()) text += ", waits for " + waits_for;
  return text;
}

std::string Fault::to_string() const {
  std::string text = fmt::format("kernel '{}': {}", kernel, what);
  if (place.ptx_line != 0) text += fmt::format(", at {}", place.to_string());
  if (!place.function.empty() && place.function != kernel) text += fmt::format(" in '{}'", place.function);
  if (has_thread) text += fmt::format(", block {} thread {}", triple(block), triple(thread));
  if (!nearest.empty()) text += "\n  " + nearest;
  for (std::size_t i = 0; i < warps.size() && i < kPrintedWarps; ++i) text += "\n  " + warps[i].to_string();
  if (warps.size() > kPrintedWarps) text += fmt::format("\n  and {} more", warps.size() - kPrintedWarps);
  return text;
}

}  // namespace wm::exec

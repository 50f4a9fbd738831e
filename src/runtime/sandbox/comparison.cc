#include "runtime/sandbox/comparison.h"

namespace wm::runtime::sandbox {

void put(Packer& to, const Comparison& comparison) {
  to.text(comparison.kernel).number(comparison.dimensions);
  for (std::size_t i = 0; i < 3; ++i)
    to.large(comparison.groups[i]).large(comparison.local[i]).large(comparison.offset[i]);
  to.number(static_cast<std::uint32_t>(comparison.arguments.size()));
  for (const ComparedArgument& a : comparison.arguments) {
    to.number(static_cast<std::uint32_t>(a.kind)).text(a.bytes).large(a.size).number(a.buffer);
    to.number(a.floating ? 1 : 0).number(a.width);
  }
}

Comparison take_comparison(Unpacker& from) {
  Comparison comparison;
  comparison.kernel = from.text();
  comparison.dimensions = from.number();
  for (std::size_t i = 0; i < 3; ++i) {
    comparison.groups[i] = from.large();
    comparison.local[i] = from.large();
    comparison.offset[i] = from.large();
  }
  const std::uint32_t count = from.number();
  for (std::uint32_t i = 0; i < count && from.ok(); ++i) {
    ComparedArgument a;
    a.kind = static_cast<ComparedArgument::Kind>(from.number());
    a.bytes = from.text();
    a.size = from.large();
    a.buffer = from.number();
    a.floating = from.number() != 0;
    a.width = from.number();
    comparison.arguments.push_back(std::move(a));
  }
  return comparison;
}

std::string encode(const ComparisonResult& result) {
  return Packer().number(static_cast<std::uint32_t>(result.verdict)).text(result.reason).take();
}

ComparisonResult decode_result(std::string_view bytes) {
  Unpacker from(bytes);
  ComparisonResult result;
  const std::uint32_t verdict = from.number();
  result.reason = from.text();
  if (!from.ok() || verdict > static_cast<std::uint32_t>(ComparisonResult::Verdict::unverifiable)) {
    return {ComparisonResult::Verdict::unverifiable, "no result"};
  }
  result.verdict = static_cast<ComparisonResult::Verdict>(verdict);
  return result;
}

}  // namespace wm::runtime::sandbox

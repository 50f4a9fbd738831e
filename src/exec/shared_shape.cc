#include "exec/shared_shape.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace wm::exec {

namespace {

constexpr std::int64_t kWord = 4;
constexpr std::int64_t kFar = std::int64_t{1} << 31;  // beyond any shared memory

// Bits in which addresses differ from eight in a row, or eight times the same, from each group's first.
template <typename Row>
Row differences(const Row* row, Row step) {
  Row bits = 0;
  for (int g = 0; g < kLanes; g += SharedShape::kGroup)
    for (int i = 0; i < SharedShape::kGroup; ++i)
      bits |= row[g + i] ^ static_cast<Row>(row[g] + static_cast<Row>(i) * step);
  return bits;
}

// The first address of each group; false: the addresses have no shape.
template <typename Row>
bool find_groups(const Row* row, bool& in_a_row, std::array<std::int64_t, SharedShape::kGroups>& first) {
  const Row step = row[1] - row[0];
  in_a_row = step == kWord;
  if ((step != 0 && step != kWord) || differences<Row>(row, step) != 0) return false;
  bool aligned = true;
  for (std::size_t g = 0; g < first.size(); ++g) {
    // A 32-bit address wraps at 32 bits: from the upper half an offset leads to the beginning.
    first[g] = static_cast<std::make_signed_t<Row>>(row[g * SharedShape::kGroup]);
    aligned = aligned && first[g] % kWord == 0 && first[g] >= -kFar && first[g] < kFar;
  }
  return aligned;
}

}  // namespace

void SharedShape::find(const Memory& memory, const Frame& frame, const AccessNote& shared) {
  base = memory.base;
  narrow = memory.base_bytes == 4;
  note = 0;
  std::array<std::int64_t, kGroups> first{};
  grouped = narrow ? find_groups(frame.source<std::uint32_t>(base), in_a_row, first)
                   : find_groups(frame.source<std::uint64_t>(base), in_a_row, first);
  if (!grouped) return;
  const auto [least, greatest] = std::minmax_element(first.begin(), first.end());
  lowest = static_cast<std::uint64_t>(*least);
  reach = static_cast<std::uint64_t>(*greatest - *least + (in_a_row ? kGroup * kWord : kWord));
  for (std::size_t g = 0; g < kGroups; ++g) above[g] = static_cast<std::uint32_t>(first[g] - *least);
  if (shared.note == nullptr) return;
  // An offset moves all words alike, so it does not change which of them share a bank.
  Access access;
  access.space = ptx::Space::shared;
  access.bytes = kWord;
  access.lanes = kAllLanes;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::int64_t group = first[i / kGroup];
    access.address[i] = narrow ? static_cast<std::uint32_t>(group) : static_cast<std::uint64_t>(group);
    if (in_a_row) access.address[i] += i % kGroup * kWord;
  }
  note = shared.note(access, shared.argument);
}

}  // namespace wm::exec

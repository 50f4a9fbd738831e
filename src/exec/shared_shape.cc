#include "exec/shared_shape.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wm::exec {

namespace {

constexpr std::uint64_t kWord = 4;

// Bits in which addresses differ from eight in a row, or eight times the same, from each group's first.
template <typename Row>
Row differences(const Row* row, Row step) {
  Row bits = 0;
  for (int g = 0; g < kLanes; g += SharedShape::kGroup)
    for (int i = 0; i < SharedShape::kGroup; ++i)
      bits |= row[g + i] ^ static_cast<Row>(row[g] + static_cast<Row>(i) * step);
  return bits;
}

template <typename Row>
void find_groups(const Row* row, SharedShape& shape) {
  const Row step = row[1] - row[0];
  shape.in_a_row = step == kWord;
  shape.grouped = (step == 0 || step == kWord) && differences<Row>(row, step) == 0;
  for (int g = 0; g < SharedShape::kGroups; ++g)
    shape.first[static_cast<std::size_t>(g)] = row[g * SharedShape::kGroup];
}

}  // namespace

void SharedShape::find(const Memory& memory, const Frame& frame, const AccessNote& shared) {
  base = memory.base;
  narrow = memory.base_bytes == 4;
  note = 0;
  if (narrow)
    find_groups(frame.source<std::uint32_t>(base), *this);
  else
    find_groups(frame.source<std::uint64_t>(base), *this);
  if (!grouped || shared.note == nullptr) return;
  // Which words share a bank does not depend on the offset: all move on together.
  Access access;
  access.space = ptx::Space::shared;
  access.bytes = kWord;
  access.lanes = kAllLanes;
  for (std::size_t i = 0; i < kLanes; ++i) access.address[i] = first[i / kGroup] + (in_a_row ? i % kGroup * kWord : 0);
  note = shared.note(access, shared.argument);
}

bool SharedShape::load(std::int64_t offset, const std::byte* memory, std::uint64_t bytes, std::uint32_t* to) const {
  const std::uint64_t reach = in_a_row ? kGroup * kWord : kWord;
  if (bytes < reach) return false;
  std::array<std::uint64_t, kGroups> at;
  std::uint64_t apart = 0;
  std::uint64_t furthest = 0;
  for (std::size_t g = 0; g < kGroups; ++g) {
    at[g] = first[g] + static_cast<std::uint64_t>(offset);
    if (narrow) at[g] &= 0xffffffffU;
    apart |= at[g];
    furthest = std::max(furthest, at[g]);
  }
  if ((apart & (kWord - 1)) != 0 || furthest > bytes - reach) return false;
  if (in_a_row) {
    for (std::size_t g = 0; g < kGroups; ++g) std::memcpy(to + g * kGroup, memory + at[g], kGroup * kWord);
    return true;
  }
  for (std::size_t g = 0; g < kGroups; ++g) {
    std::uint32_t word = 0;
    std::memcpy(&word, memory + at[g], sizeof word);
    std::fill(to + g * kGroup, to + (g + 1) * kGroup, word);
  }
  return true;
}

}  // namespace wm::exec

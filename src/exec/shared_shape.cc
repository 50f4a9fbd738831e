#include "exec/shared_shape.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace wm::exec {

namespace {

constexpr std::int64_t kWord = 4;
constexpr std::int64_t kFar = std::int64_t{1} << 32;  // beyond any shared memory

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
  // A 32-bit address wraps at 32 bits: from the upper half an offset leads to the beginning.
  for (int g = 0; g < SharedShape::kGroups; ++g)
    shape.first[static_cast<std::size_t>(g)] = static_cast<std::make_signed_t<Row>>(row[g * SharedShape::kGroup]);
  shape.lowest = *std::min_element(shape.first.begin(), shape.first.end());
  shape.furthest = *std::max_element(shape.first.begin(), shape.first.end());
  for (const std::int64_t first : shape.first) shape.grouped = shape.grouped && first % kWord == 0;
  shape.grouped = shape.grouped && shape.lowest >= -kFar && shape.furthest <= kFar;
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

bool SharedShape::load(std::int64_t offset, const std::byte* memory, std::uint64_t bytes, std::uint32_t* to) const {
  const std::int64_t reach = in_a_row ? kGroup * kWord : kWord;
  if (offset != static_cast<std::int32_t>(offset) || offset % kWord != 0) return false;
  if (lowest + offset < 0 || furthest + offset > static_cast<std::int64_t>(bytes) - reach) return false;
  const auto from = [&](std::size_t g) { return memory + (first[g] + offset); };
  if (in_a_row) {
    for (std::size_t g = 0; g < kGroups; ++g) std::memcpy(to + g * kGroup, from(g), kGroup * kWord);
    return true;
  }
  for (std::size_t g = 0; g < kGroups; ++g) {
    std::uint32_t word = 0;
    std::memcpy(&word, from(g), sizeof word);
    std::fill(to + g * kGroup, to + (g + 1) * kGroup, word);
  }
  return true;
}

}  // namespace wm::exec

#include "sim/cycle/sm/coalesce.h"

#include <algorithm>
#include <bit>

namespace wm::sim {
namespace {

using exec::kLanes;

Sectors sector_range(std::uint32_t first, std::uint32_t last) {
  return static_cast<Sectors>(((2U << last) - 1) & ~((1U << first) - 1));
}

void touch(Coalesced& out, LineAddress line, Sectors sectors) {
  for (std::uint32_t i = out.count; i-- > 0;)
    if (out.lines[i].line == line) {
      out.lines[i].sectors |= sectors;
      ++out.lines[i].lanes;
      return;
    }
  out.lines[out.count++] = {line, sectors, 1};
}

void touch_bytes(Coalesced& out, std::uint64_t client, std::uint64_t address, std::uint32_t bytes) {
  const std::uint64_t first = address / kLineBytes;
  const std::uint64_t last = (address + bytes - 1) / kLineBytes;
  const auto sector = [](std::uint64_t a) { return static_cast<std::uint32_t>(a % kLineBytes / kSectorBytes); };
  if (first == last) {
    touch(out, client | first, sector_range(sector(address), sector(address + bytes - 1)));
    return;
  }
  touch(out, client | first, sector_range(sector(address), 3));
  touch(out, client | last, sector_range(0, sector(address + bytes - 1)));
}

// All 32 lanes, one after the other without a gap: the common case, done without looking at single lanes.
bool consecutive(const exec::Access& a) {
  if (a.lanes != exec::kAllLanes) return false;
  bool all = true;
  for (int i = 1; i < kLanes; ++i) all &= a.address[i] == a.address[0] + static_cast<std::uint64_t>(i) * a.bytes;
  return all;
}

}  // namespace

void coalesce(const exec::Access& access, std::uint64_t client, Coalesced& out) {
  out.count = 0;
  if (consecutive(access)) {
    const std::uint64_t begin = access.address[0];
    const std::uint64_t end = begin + std::uint64_t{access.bytes} * kLanes;
    for (std::uint64_t line = begin / kLineBytes; line * kLineBytes < end; ++line) {
      const std::uint64_t low = std::max(begin, line * kLineBytes) % kLineBytes;
      const std::uint64_t high = std::min(end, (line + 1) * kLineBytes) - 1;
      const Sectors sectors = sector_range(static_cast<std::uint32_t>(low / kSectorBytes),
                                           static_cast<std::uint32_t>(high % kLineBytes / kSectorBytes));
      out.lines[out.count++] = {client | line, sectors,
                                static_cast<std::uint8_t>(kLineBytes / std::max<std::uint32_t>(access.bytes, 4))};
    }
    return;
  }
  for (exec::Mask m = access.lanes; m != 0; m &= m - 1)
    touch_bytes(out, client, access.address[static_cast<std::size_t>(std::countr_zero(m))], access.bytes);
}

std::uint32_t shared_cycles(const exec::Access& access, std::uint32_t banks) {
  const std::uint32_t words = std::max<std::uint32_t>(1, access.bytes / 4);
  if (consecutive(access)) return words;
  const std::uint32_t lanes_a_part = kLanes / words;
  std::uint32_t total = 0;
  for (std::uint32_t part = 0; part < words; ++part) {
    std::array<std::uint64_t, kLanes * 4> seen;  // distinct words of this part
    std::uint32_t count = 0;
    std::array<std::uint8_t, 32> load{};
    std::uint32_t worst = 0;
    for (std::uint32_t lane = part * lanes_a_part; lane < (part + 1) * lanes_a_part; ++lane) {
      if ((access.lanes >> lane & 1) == 0) continue;
      for (std::uint32_t w = 0; w < words; ++w) {
        const std::uint64_t word = access.address[lane] / 4 + w;
        if (std::find(seen.begin(), seen.begin() + count, word) != seen.begin() + count) continue;
        seen[count++] = word;
        worst = std::max<std::uint32_t>(worst, ++load[word % banks]);
      }
    }
    total += worst;
  }
  return std::max(1U, total);
}

}  // namespace wm::sim

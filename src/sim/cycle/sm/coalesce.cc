#include "sim/cycle/sm/coalesce.h"

#include <algorithm>
#include <bit>

namespace wm::sim {
namespace {

using exec::kLanes;

Sectors sector_range(std::uint32_t first, std::uint32_t last) {
  return static_cast<Sectors>(((2U << last) - 1) & ~((1U << first) - 1));
}

constexpr std::uint32_t kGroup = 8;  // lanes that are tested together

void touch(Coalesced& out, LineAddress line, Sectors sectors, std::uint32_t lanes) {
  for (std::uint32_t i = out.count; i-- > 0;)
    if (out.lines[i].line == line) {
      out.lines[i].sectors |= sectors;
      out.lines[i].lanes = static_cast<std::uint8_t>(out.lines[i].lanes + lanes);
      return;
    }
  out.lines[out.count++] = {line, sectors, static_cast<std::uint8_t>(lanes)};
}

void touch_bytes(Coalesced& out, std::uint64_t client, std::uint64_t address, std::uint32_t bytes,
                 std::uint32_t lanes) {
  const std::uint64_t first = address / kLineBytes;
  const std::uint64_t last = (address + bytes - 1) / kLineBytes;
  const auto sector = [](std::uint64_t a) { return static_cast<std::uint32_t>(a % kLineBytes / kSectorBytes); };
  if (first == last) {
    touch(out, client | first, sector_range(sector(address), sector(address + bytes - 1)), lanes);
    return;
  }
  touch(out, client | first, sector_range(sector(address), 3), lanes);
  touch(out, client | last, sector_range(0, sector(address + bytes - 1)), lanes);
}

// All 32 lanes access consecutive elements: the common case, detected without a loop over single lanes.
bool consecutive(const exec::Access& a) {
  if (a.lanes != exec::kAllLanes) return false;
  bool all = true;
  for (int i = 1; i < kLanes; ++i) all &= a.address[i] == a.address[0] + static_cast<std::uint64_t>(i) * a.bytes;
  return all;
}

// Eight lanes, one after the other without a gap and in one line.
bool in_one_line(const exec::Access& a, std::size_t first, std::size_t lanes) {
  std::uint64_t apart = 0;
  for (std::size_t i = 0; i < lanes; ++i) apart |= a.address[first + i] ^ (a.address[first] + i * a.bytes);
  return apart == 0 && a.address[first] % kLineBytes + lanes * a.bytes <= kLineBytes;
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
  if (access.lanes == exec::kAllLanes) {
    for (std::size_t first = 0; first < kLanes; first += kGroup) {
      if (in_one_line(access, first, kGroup))
        touch_bytes(out, client, access.address[first], kGroup * access.bytes, kGroup);
      else
        for (std::size_t i = first; i < first + kGroup; ++i)
          touch_bytes(out, client, access.address[i], access.bytes, 1);
    }
    return;
  }
  for (exec::Mask m = access.lanes; m != 0; m &= m - 1)
    touch_bytes(out, client, access.address[static_cast<std::size_t>(std::countr_zero(m))], access.bytes, 1);
}

namespace {

// All 32 lanes in one row of the banks: whatever words they want, no two of them are in one bank.
bool one_row(const exec::Access& a, std::uint32_t row_bytes) {
  if (a.lanes != exec::kAllLanes || a.bytes > 4) return false;
  std::uint64_t apart = 0;
  for (const std::uint64_t address : a.address) apart |= address ^ a.address[0];
  return apart < row_bytes;
}

bool in_pairs(const exec::Access& a) {
  bool all = true;
  for (std::size_t i = 0; i < kLanes; i += 2) all &= (a.lanes >> i & 3) != 3 || a.address[i] == a.address[i + 1];
  return all;
}

// The distinct words that some lanes want, bank by bank.
class BankLoad {
 public:
  explicit BankLoad(std::uint32_t banks) : banks_(banks) { head_.fill(kNone); }

  void want(std::uint64_t word) {
    const auto bank = static_cast<std::size_t>(word % banks_);
    std::uint32_t found = 0;
    for (std::uint8_t i = head_[bank]; i != kNone; i = next_[i]) {
      if (words_[i] == word) return;
      ++found;
    }
    words_[count_] = word;
    next_[count_] = head_[bank];
    head_[bank] = count_++;
    worst_ = std::max(worst_, found + 1);
  }
  [[nodiscard]] std::uint32_t worst() const { return worst_; }

 private:
  static constexpr std::uint8_t kNone = 0xff;
  std::uint32_t banks_;
  std::uint32_t worst_ = 0;
  std::uint8_t count_ = 0;
  std::array<std::uint8_t, 32> head_;  // by bank
  std::array<std::uint8_t, kLanes> next_;
  std::array<std::uint64_t, kLanes> words_;
};

}  // namespace

std::uint32_t shared_turns(const exec::Access& access, std::uint32_t banks) {
  std::array<std::uint32_t, 32> lanes{};
  std::uint32_t worst = 1;
  for (exec::Mask m = access.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    worst = std::max(worst, ++lanes[access.address[lane] / 4 % banks]);
  }
  return worst;
}

std::uint32_t lanes_on_one_word(const exec::Access& access) {
  std::uint32_t max_same = 0;
  for (exec::Mask left = access.lanes; left != 0;) {
    const std::uint64_t address = access.address[static_cast<std::size_t>(std::countr_zero(left))];
    std::uint32_t same = 0;
    for (exec::Mask m = left; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      if (access.address[static_cast<std::size_t>(lane)] != address) continue;
      left &= ~(exec::Mask{1} << lane);
      ++same;
    }
    max_same = std::max(max_same, same);
  }
  return max_same;
}

std::uint32_t shared_cycles(const exec::Access& access, std::uint32_t flagged_banks) {
  const std::uint32_t banks = flagged_banks & ~kJoinsPairs;
  if (one_row(access, banks * 4)) return 1;
  const std::uint32_t words = std::max<std::uint32_t>(1, access.bytes / 4);
  if (banks == kLanes && consecutive(access)) return words;  // a part of consecutive words is one row of the banks
  const std::uint32_t parts = words > 1 && banks != flagged_banks && in_pairs(access) ? words / 2 : words;
  const std::uint32_t lanes_a_part = kLanes / parts;
  std::uint32_t total = 0;
  for (std::uint32_t part = 0; part < parts; ++part) {
    BankLoad load(banks);
    for (std::uint32_t lane = part * lanes_a_part; lane < (part + 1) * lanes_a_part; ++lane) {
      if ((access.lanes >> lane & 1) == 0) continue;
      for (std::uint32_t w = 0; w < words; ++w) load.want(access.address[lane] / 4 + w);
    }
    total += load.worst();
  }
  return std::max(1U, total);
}

}  // namespace wm::sim

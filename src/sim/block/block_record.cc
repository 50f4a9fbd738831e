#include "sim/block/block_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/number.h"
#include "base/zstd.h"

namespace wm::sim {
namespace {

constexpr std::string_view kHeader = "launch,block,sm,start_ns,end_ns";
// GPU clocks count from a boot or from 1970; a sum of many durations must fit into 64 bits of picoseconds.
constexpr std::uint64_t kLatestNs = 4'000'000'000'000'000'000;
constexpr std::uint64_t kLongestNs = 1'000'000'000'000'000;

struct Span {
  std::set<std::uint32_t> blocks;
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
};

std::optional<std::array<std::uint64_t, 5>> numbers(std::string_view line) {
  std::array<std::uint64_t, 5> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == all.size())) return std::nullopt;
    const auto n = parse_integer<std::uint64_t>(line.substr(0, comma));
    if (!n) return std::nullopt;
    all[i] = *n;
    line.remove_prefix(std::min(line.size(), comma == std::string_view::npos ? line.size() : comma + 1));
  }
  return all;
}

Result<BlockRecord> summary(const std::map<std::uint64_t, Span>& launches, const std::set<std::uint64_t>& sms,
                            std::vector<double> durations, const std::string& file) {
  BlockRecord record;
  double launch_ns = 0;
  for (const auto& [launch, span] : launches) {
    const auto count = static_cast<std::uint32_t>(span.blocks.size());
    if (*span.blocks.rbegin() + 1 != count || (record.blocks != 0 && record.blocks != count))
      return Error{fmt::format("launch {} has other blocks than 0 to {}", launch,
                               record.blocks != 0 ? record.blocks - 1 : *span.blocks.rbegin()),
                   {file}};
    record.blocks = count;
    launch_ns += static_cast<double>(span.end - span.begin);
  }
  record.launches = static_cast<std::uint32_t>(launches.size());
  record.sms = static_cast<std::uint32_t>(sms.size());
  const double sum = std::accumulate(durations.begin(), durations.end(), 0.0);
  record.block_time = {static_cast<std::uint64_t>(std::llround(sum / static_cast<double>(durations.size()) * 1000))};
  record.launch_time = {static_cast<std::uint64_t>(std::llround(launch_ns / record.launches * 1000))};
  record.durations = std::move(durations);
  return record;
}

}  // namespace

Result<BlockRecord> parse_block_record(std::string_view text, const std::string& file) {
  std::map<std::uint64_t, Span> launches;
  std::set<std::uint64_t> sms;
  std::vector<double> durations;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (++number == 1) {
      if (line != kHeader) return Error{fmt::format("the first line must be '{}'", kHeader), {file, number}};
      continue;
    }
    if (line.empty()) continue;
    const auto n = numbers(line);
    if (!n || (*n)[4] <= (*n)[3] || (*n)[4] > kLatestNs || (*n)[1] > 0xfffffffeU)
      return Error{fmt::format("a block as {} with its end after its start expected, not '{}'", kHeader, line),
                   {file, number}};
    Span& span = launches[(*n)[0]];
    if (!span.blocks.insert(static_cast<std::uint32_t>((*n)[1])).second)
      return Error{fmt::format("block {} of launch {} a second time", (*n)[1], (*n)[0]), {file, number}};
    if ((*n)[4] - (*n)[3] > kLongestNs)
      return Error{fmt::format("a block of {} ns, at most {} can be simulated", (*n)[4] - (*n)[3], kLongestNs),
                   {file, number}};
    span.begin = std::min(span.begin, (*n)[3]);
    span.end = std::max(span.end, (*n)[4]);
    sms.insert((*n)[2]);
    durations.push_back(static_cast<double>((*n)[4] - (*n)[3]));
  }
  if (durations.empty()) return Error{"no blocks", {file}};
  return summary(launches, sms, std::move(durations), file);
}

Result<BlockRecord> load_block_record(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  if (!path.ends_with(".zst")) return parse_block_record(*text, path);
  const auto rows = decompress_zstd(*text);
  if (!rows) return Error{rows.error().what, {path}};
  return parse_block_record(*rows, path);
}

}  // namespace wm::sim

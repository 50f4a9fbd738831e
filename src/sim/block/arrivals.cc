#include "sim/block/arrivals.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/number.h"

namespace wm::sim {

Arrivals Arrivals::poisson(Cycles mean_distance, std::uint64_t seed) { return bursts(mean_distance, 1, seed); }

Arrivals Arrivals::bursts(Cycles mean_distance, std::uint32_t size, std::uint64_t seed) {
  Arrivals a;
  a.kind_ = Kind::random;
  a.random_ = Random(seed);
  a.mean_ = mean_distance;
  a.burst_ = std::max(1U, size);
  return a;
}

Arrivals Arrivals::recorded(std::vector<Cycles> times) {
  Arrivals a;
  a.kind_ = Kind::recorded;
  a.times_ = std::move(times);
  return a;
}

std::optional<Cycles> Arrivals::next() {
  if (kind_ == Kind::recorded) {
    if (taken_ == times_.size()) return std::nullopt;
    return times_[taken_++];
  }
  if (left_in_burst_ == 0) {
    // An exponential distance: the inverse of its distribution at a uniform number above 0.
    const double distance = -std::log(1 - random_.unit()) * static_cast<double>(mean_.count);
    last_ += Cycles{static_cast<std::uint64_t>(std::llround(distance))};
    left_in_burst_ = burst_;
  }
  --left_in_burst_;
  return last_;
}

double Arrivals::rate() const {
  if (kind_ == Kind::closed) return 0;
  const double requests = kind_ == Kind::random ? burst_ : static_cast<double>(times_.size());
  const Cycles time = kind_ == Kind::random ? mean_ : times_.back();
  return requests / static_cast<double>(std::max<std::uint64_t>(1, time.count));
}

double Arrivals::expected_before(Cycles end) const {
  if (kind_ == Kind::recorded) return static_cast<double>(times_.size());
  return rate() * static_cast<double>(end.count);
}

namespace {

Result<Arrivals> read_requests(const std::string& path, Hertz clock) {
  const auto text = read_file(path);
  if (!text) return text.error();
  std::vector<Cycles> times;
  std::uint32_t line = 0;
  double last = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    std::string_view word = std::string_view(*text).substr(begin, end - begin);
    if (word.ends_with('\r')) word.remove_suffix(1);
    begin = end + 1;
    ++line;
    if (word.empty() || word.front() == '#') continue;
    const auto microseconds = parse_double(word);
    if (!microseconds || !(*microseconds >= last && *microseconds <= 1e12))
      return Error{fmt::format("a time in microseconds, not before the last one, expected in place of '{}'", word),
                   {path, line}};
    last = *microseconds;
    times.push_back({static_cast<std::uint64_t>(std::llround(last * static_cast<double>(clock.count) / 1e6))});
  }
  if (times.empty()) return Error{"no requests", {path}};
  return Arrivals::recorded(std::move(times));
}

}  // namespace

Result<Arrivals> parse_arrivals(std::string_view text, Hertz clock, std::uint64_t seed) {
  const std::string_view kind = text.substr(0, text.find('='));
  const std::string_view value = text.substr(std::min(text.size(), kind.size() + 1));
  if (kind == "requests") return read_requests(std::string(value), clock);
  const std::size_t times = kind == "bursts" ? value.find('x') : value.size();
  const auto rate = parse_double(value.substr(0, times));
  const auto size = kind == "bursts" && times != std::string_view::npos
                        ? parse_integer<std::uint32_t>(value.substr(times + 1))
                        : std::optional<std::uint32_t>(1);
  if (times == std::string_view::npos || !rate || !(*rate >= 1e-6 && *rate <= 1e9) || !size || *size == 0)
    return Error{kind == "bursts"
                     ? fmt::format("'bursts' must be bursts a second and their size such as 20x8, not '{}'", value)
                     : fmt::format("'{}' must be requests a second, from 1e-6 to 1e9, not '{}'", kind, value)};
  // Times are whole cycles: below a mean distance of one, time would hardly advance from one arrival to the next.
  if (*rate > static_cast<double>(clock.count))
    return Error{fmt::format("'{}={}': more than one arrival in each of the GPU's {} cycles a second", kind, value,
                             clock.count)};
  const Cycles distance{static_cast<std::uint64_t>(std::llround(static_cast<double>(clock.count) / *rate))};
  return Arrivals::bursts(distance, *size, seed);
}

std::uint64_t percentile(std::vector<std::uint64_t> values, double part) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  const std::size_t at = std::min(values.size(), std::max<std::size_t>(1, rank)) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace wm::sim

// Global atomics. Integer results that no order of threads changes are compared exactly; the compacted values come in
// any order and are compared sorted.
#include <algorithm>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace atomics {

constexpr std::uint32_t kBlock = 256;
constexpr std::uint32_t kPrime = 65521;
constexpr std::uint32_t kBelow = 1U << 30U;  // a quarter of the values pass

struct Shape {
  std::uint32_t blocks;
  std::uint32_t bins;  // a power of two
};

std::vector<std::uint32_t> words(const std::vector<std::byte>& bytes, std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::memcpy(values.data(), bytes.data(), count * sizeof(std::uint32_t));
  return values;
}

Case make(Size size) {
  const auto s = at(size, Shape{16, 256}, Shape{1024, 1024}, Shape{4096, 1024});
  const std::uint32_t n = s.blocks * kBlock;
  const std::uint32_t mask = s.bins - 1;
  Random random(6);
  const auto values = uniform_integers(random, n, UINT32_MAX);

  std::vector<std::int32_t> bins(s.bins);
  std::vector<std::int32_t> largest(s.bins);
  std::vector<std::uint32_t> sums(s.bins);
  std::vector<std::uint32_t> passed;
  for (const std::uint32_t value : values) {
    const std::uint32_t bin = value & mask;
    ++bins[bin];
    largest[bin] = std::max(largest[bin], static_cast<std::int32_t>(value >> 1U));
    sums[bin] = (sums[bin] + (value >> 8U)) % kPrime;
    if (value < kBelow) passed.push_back(value);
  }
  std::sort(passed.begin(), passed.end());

  Case c;
  gpu::Application& app = c.application;
  const auto values_id = app.add("values", values);
  const auto bins_id = app.add_uninitialized("bins", s.bins * sizeof(std::int32_t));
  const auto largest_id = app.add_uninitialized("largest", s.bins * sizeof(std::int32_t));
  const auto sums_id = app.add_uninitialized("sums", s.bins * sizeof(std::uint32_t));
  const auto counter_id = app.add_uninitialized("counter", sizeof(std::uint32_t));
  const auto passed_id = app.add_uninitialized("passed", n * sizeof(std::uint32_t));
  app.upload(values_id);
  for (const auto id : {bins_id, largest_id, sums_id, counter_id}) app.fill(id, std::byte{0});

  const auto launch = [&](const char* kernel, std::vector<gpu::Argument> passed_on) {
    app.launch({kernel, {s.blocks}, {kBlock}, std::move(passed_on)});
  };
  launch("atomics_add", arguments(values_id, bins_id, mask));
  launch("atomics_max", arguments(values_id, largest_id, mask));
  launch("atomics_cas", arguments(values_id, sums_id, mask, kPrime));
  launch("atomics_ticket", arguments(values_id, counter_id, passed_id, kBelow));
  for (const auto id : {bins_id, largest_id, sums_id, counter_id, passed_id}) app.download(id);

  c.expect(bins_id, bins);
  c.expect(largest_id, largest);
  c.expect(sums_id, sums);
  c.expect(counter_id, std::vector<std::uint32_t>{static_cast<std::uint32_t>(passed.size())});
  c.check = [passed, passed_id](const Contents& contents) -> Result<void> {
    auto got = words(contents(passed_id), passed.size());
    std::sort(got.begin(), got.end());
    if (got != passed) return Error{"passed: not the values below the limit, each once"};
    return {};
  };
  return c;
}

}  // namespace atomics

Benchmark benchmark_atomics() {
  return {
      .name = "atomics",
      .about = "global atomics: histogram, maximum, compare-and-swap loop, tickets",
      .suite = "micro",
      .aliases = {},
      .kernels = {{"add", "atomics_add"}, {"max", "atomics_max"}, {"cas", "atomics_cas"}, {"ticket", "atomics_ticket"}},
      .make = atomics::make};
}

}  // namespace wm::zoo

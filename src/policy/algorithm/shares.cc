#include "policy/algorithm/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wm::policy {
namespace {

gpu::Resources part(const gpu::Resources& total, double share) {
  const auto cut = [share](std::uint32_t n) { return static_cast<std::uint32_t>(std::floor(n * share + 1e-9)); };
  return {cut(total.threads), cut(total.registers), cut(total.shared_bytes), cut(total.blocks)};
}

// The resources left after these counts; nothing is taken where they do not fit.
bool take(std::span<const Claim> claims, std::span<const std::uint32_t> counts, gpu::Resources& left) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (gpu::fit(claims[i].footprint, left) < counts[i]) return false;
    left = gpu::less(left, claims[i].footprint, counts[i]);
  }
  return true;
}

// Between the kernel with most threads and the one with fewest.
std::uint32_t spread_of_threads(std::span<const Claim> claims, std::span<const std::uint32_t> counts) {
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t greatest = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    least = std::min(least, counts[i] * claims[i].footprint.threads);
    greatest = std::max(greatest, counts[i] * claims[i].footprint.threads);
  }
  return greatest - least;
}

}  // namespace

bool fits_together(std::span<const Claim> claims, std::span<const std::uint32_t> counts, const gpu::Resources& sm) {
  gpu::Resources left = sm;
  return take(claims, counts, left);
}

std::vector<std::uint32_t> even_split(std::span<const Claim> claims, const gpu::Resources& sm) {
  const gpu::Resources own = part(sm, 1.0 / static_cast<double>(claims.size()));
  std::vector<std::uint32_t> counts;
  for (const Claim& c : claims) counts.push_back(std::max(gpu::fit(c.footprint, own), 1U));
  return counts;
}

std::vector<std::uint32_t> dominant_fair(std::span<const Claim> claims, const gpu::Resources& sm) {
  std::vector<std::uint32_t> counts(claims.size(), 0);
  gpu::Resources left = sm;
  for (;;) {
    std::size_t least = claims.size();
    double least_share = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (gpu::fit(claims[i].footprint, left) == 0) continue;
      const double share = gpu::dominant_share(claims[i].footprint, sm, counts[i]) / claims[i].weight;
      if (least == claims.size() || share < least_share) least = i, least_share = share;
    }
    if (least == claims.size()) return counts;
    left = gpu::less(left, claims[least].footprint);
    ++counts[least];
  }
}

std::vector<std::uint32_t> equal_threads(std::span<const Claim> claims, const gpu::Resources& sm) {
  const std::uint32_t threads = sm.threads / static_cast<std::uint32_t>(claims.size());
  std::vector<std::uint32_t> counts;
  for (const Claim& c : claims) {
    counts.push_back(
        std::clamp(threads / std::max(c.footprint.threads, 1U), 1U, std::max(gpu::fit(c.footprint, sm), 1U)));
  }
  const std::vector<std::uint32_t> parts = counts;
  while (!fits_together(claims, counts, sm)) {
    std::size_t loser = claims.size();
    std::uint32_t least = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (counts[i] < 2) continue;
      --counts[i];
      const std::uint32_t spread = spread_of_threads(claims, counts);
      ++counts[i];
      if (loser == claims.size() || spread < least) loser = i, least = spread;
    }
    if (loser == claims.size()) return counts;  // one block of each is too much; the excess is resolved by taking turns
    --counts[loser];
  }
  // The last loss may have made room for a block that was lost before it.
  for (std::size_t i = 0; i < claims.size(); ++i) {
    while (counts[i] < parts[i]) {
      ++counts[i];
      if (fits_together(claims, counts, sm)) continue;
      --counts[i];
      break;
    }
  }
  return counts;
}

std::vector<std::uint32_t> accelos_shares(std::span<const Claim> claims, const gpu::Resources& total,
                                          const gpu::Resources& room, double weight_of_all) {
  std::vector<std::uint32_t> counts(claims.size(), 0);
  gpu::Resources left = room;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const gpu::Resources own = part(total, claims[i].weight / weight_of_all);
    counts[i] =
        std::min({gpu::fit(claims[i].footprint, own), gpu::fit(claims[i].footprint, left), claims[i].max_blocks});
    left = gpu::less(left, claims[i].footprint, counts[i]);
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (counts[i] >= claims[i].max_blocks || gpu::fit(claims[i].footprint, left) == 0) continue;
      left = gpu::less(left, claims[i].footprint);
      ++counts[i];
      grew = true;
    }
  }
  return counts;
}

std::vector<std::uint32_t> proportional(std::uint32_t total, std::span<const double> weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  std::vector<std::uint32_t> parts;
  std::uint32_t given = 0;
  for (const double w : weights) {
    parts.push_back(sum > 0 ? static_cast<std::uint32_t>(std::floor(total * (w / sum) + 1e-9)) : 0);
    given += parts.back();
  }
  for (std::size_t i = 0; given < total && i < parts.size(); ++i, ++given) ++parts[i];
  return parts;
}

}  // namespace wm::policy

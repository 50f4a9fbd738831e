// The GPUs of a cluster and what is free on each, with the searches that placement rules need.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace wm::sim {

inline constexpr std::uint32_t kNoGpu = ~std::uint32_t{0};

class GpuPool {
 public:
  // Every GPU takes requests whose demands add up to `limit`, in 1/65536 of a GPU.
  GpuPool(std::uint32_t gpus, std::uint32_t limit);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t free(std::uint32_t gpu) const { return max_free_[leaves_ + gpu]; }
  // The first GPU from `begin` to before `end` with at least `demand` free; kNoGpu: none.
  [[nodiscard]] std::uint32_t first(std::uint32_t demand, std::uint32_t begin, std::uint32_t end) const;
  // The GPU with at least `demand` free that has least free, the first of them; kNoGpu: none.
  [[nodiscard]] std::uint32_t fullest(std::uint32_t demand) const;

  void take(std::uint32_t gpu, std::uint32_t demand) { set(gpu, free(gpu) - demand); }
  void give_back(std::uint32_t gpu, std::uint32_t demand) { set(gpu, free(gpu) + demand); }

 private:
  void set(std::uint32_t gpu, std::uint32_t free);

  std::uint32_t count_;
  std::uint32_t leaves_;
  std::vector<std::uint32_t> max_free_;                     // tree from 1, the GPUs behind it
  std::set<std::pair<std::uint32_t, std::uint32_t>> free_;  // by free part, then by number
};

}  // namespace wm::sim

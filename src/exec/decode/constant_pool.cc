#include "exec/decode/constant_pool.h"

#include <algorithm>
#include <cstring>

namespace wm::exec {

namespace {

constexpr std::size_t kRowAlign = 64;

}  // namespace

RegisterRow ConstantPool::append(int lane_bytes, std::uint64_t bits) {
  const std::size_t start = bytes.size();
  const std::size_t lane = static_cast<std::size_t>(lane_bytes);
  const std::size_t size = lane_bytes == 0 ? sizeof(Mask) : lane * kLanes;
  bytes.resize(start + (size + kRowAlign - 1) / kRowAlign * kRowAlign);
  if (lane_bytes == 0) {
    const Mask mask = bits != 0 ? kAllLanes : 0;
    std::memcpy(bytes.data() + start, &mask, sizeof mask);
  } else {
    for (std::size_t i = 0; i < kLanes; ++i)
      std::memcpy(bytes.data() + start + i * lane, &bits, std::min(lane, sizeof bits));
  }
  return {static_cast<std::uint32_t>(start) | RegisterRow::kConstant};
}

RegisterRow ConstantPool::row(int lane_bytes, std::uint64_t bits) {
  if (lane_bytes > 0 && lane_bytes < 8) bits &= (std::uint64_t{1} << (lane_bytes * 8)) - 1;
  const auto [at, fresh] = rows_.try_emplace({lane_bytes, bits});
  if (fresh) at->second = append(lane_bytes, bits);
  return at->second;
}

RegisterRow ConstantPool::address(int lane_bytes, std::uint32_t variable, std::int64_t addend) {
  const auto [at, fresh] = addresses_.try_emplace({lane_bytes, variable, addend});
  if (fresh) {
    at->second = append(lane_bytes, 0);
    relocations.push_back({at->second.offset(), static_cast<std::uint32_t>(lane_bytes), variable, addend});
  }
  return at->second;
}

}  // namespace wm::exec

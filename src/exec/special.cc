#include "exec/special.h"

#include <algorithm>

#include "exec/block.h"
#include "exec/grid.h"

namespace wm::exec {

namespace {

using ptx::Special;

void fill32(std::byte* row, std::uint32_t value) {
  auto* out = reinterpret_cast<std::uint32_t*>(row);
  std::fill(out, out + kLanes, value);
}
void fill64(std::byte* row, std::uint64_t value) {
  auto* out = reinterpret_cast<std::uint64_t*>(row);
  std::fill(out, out + kLanes, value);
}

template <typename Value>
void for_each_lane(std::byte* row, Value&& value) {
  auto* out = reinterpret_cast<std::uint32_t*>(row);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) out[lane] = value(lane);
}

// Thread indices, x fastest. Lanes past the block's end count on; they never run.
void fill_tid(Special which, const WarpPlace& at, std::byte* row) {
  const gpu::Dim3& size = at.grid.threads;
  const std::uint32_t first = at.warp * kLanes;
  if (size.y == 1 && size.z == 1) {
    if (which != Special::tid_x) return fill32(row, 0);
    return for_each_lane(row, [&](std::uint32_t lane) { return first + lane; });
  }
  std::uint32_t x = first % size.x, y = first / size.x % size.y, z = first / size.x / size.y;
  for_each_lane(row, [&](std::uint32_t) {
    const std::uint32_t value = which == Special::tid_x ? x : which == Special::tid_y ? y : z;
    if (++x == size.x) {
      x = 0;
      if (++y == size.y) {
        y = 0;
        ++z;
      }
    }
    return value;
  });
}

}  // namespace

bool changes(Special special) {
  switch (special) {
    case Special::clock:
    case Special::clock_hi:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
      return true;
    default:
      return false;
  }
}

void fill_special(Special special, const WarpPlace& at, std::byte* row) {
  const Grid& grid = at.grid;
  const Block& block = at.block;
  switch (special) {
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z:
      return fill_tid(special, at, row);
    case Special::ntid_x:
      return fill32(row, grid.threads.x);
    case Special::ntid_y:
      return fill32(row, grid.threads.y);
    case Special::ntid_z:
      return fill32(row, grid.threads.z);
    // Every block is a cluster of one block.
    case Special::clusterid_x:
    case Special::ctaid_x:
      return fill32(row, block.index().x);
    case Special::clusterid_y:
    case Special::ctaid_y:
      return fill32(row, block.index().y);
    case Special::clusterid_z:
    case Special::ctaid_z:
      return fill32(row, block.index().z);
    case Special::nclusterid_x:
    case Special::nctaid_x:
    case Special::envreg6:  // NVIDIA's OpenCL keeps the number of groups in %envreg6 to 8, offsets (0) in those below
      return fill32(row, grid.blocks.x);
    case Special::nclusterid_y:
    case Special::nctaid_y:
    case Special::envreg7:
      return fill32(row, grid.blocks.y);
    case Special::nclusterid_z:
    case Special::nctaid_z:
    case Special::envreg8:
      return fill32(row, grid.blocks.z);
    // Cooperative groups find the workspace of a cooperative launch here. NVIDIA's OpenCL, which makes no such
    // launches, keeps offsets (0) in them.
    case Special::envreg1:
      return fill32(row, static_cast<std::uint32_t>(grid.workspace >> 32));
    case Special::envreg2:
      return fill32(row, static_cast<std::uint32_t>(grid.workspace));
    case Special::cluster_nctaid_x:
    case Special::cluster_nctaid_y:
    case Special::cluster_nctaid_z:
    case Special::cluster_nctarank:
      return fill32(row, 1);
    case Special::laneid:
      return for_each_lane(row, [](std::uint32_t lane) { return lane; });
    case Special::lanemask_eq:
      return for_each_lane(row, [](std::uint32_t lane) { return 1U << lane; });
    case Special::lanemask_lt:
      return for_each_lane(row, [](std::uint32_t lane) { return (1U << lane) - 1; });
    case Special::lanemask_le:
      return for_each_lane(row, [](std::uint32_t lane) { return (2U << lane) - 1; });
    case Special::lanemask_ge:
      return for_each_lane(row, [](std::uint32_t lane) { return ~((1U << lane) - 1); });
    case Special::lanemask_gt:
      return for_each_lane(row, [](std::uint32_t lane) { return ~((2U << lane) - 1); });
    case Special::warpid:
      return fill32(row, at.warp);
    case Special::nwarpid:
      return fill32(row, grid.warps_per_block());
    case Special::smid:
      return fill32(row, block.sm_numbers().sm);
    case Special::nsmid:
      return fill32(row, block.sm_numbers().sms);
    case Special::gridid:
      return fill64(row, grid.id);
    case Special::clock:
      return fill32(row, static_cast<std::uint32_t>(block.clock));
    case Special::clock_hi:
      return fill32(row, static_cast<std::uint32_t>(block.clock >> 32));
    case Special::clock64:
      return fill64(row, block.clock);
    case Special::globaltimer:
      return fill64(row, block.timer);
    case Special::globaltimer_lo:
      return fill32(row, static_cast<std::uint32_t>(block.timer));
    case Special::globaltimer_hi:
      return fill32(row, static_cast<std::uint32_t>(block.timer >> 32));
    case Special::total_smem_size:
    case Special::aggr_smem_size:
      return fill32(row, grid.shared_bytes);
    case Special::dynamic_smem_size:
      return fill32(row, grid.dynamic_shared_bytes);
    case Special::reserved_smem_offset_begin:
    case Special::reserved_smem_offset_0:
      return fill32(row, grid.reserved_shared);
    case Special::reserved_smem_offset_1:  // cooperative groups expect at least 288 bytes there
      return fill32(row, grid.reserved_shared + Grid::kReservedShared / 2);
    case Special::reserved_smem_offset_end:
    case Special::reserved_smem_offset_cap:
      return fill32(row, grid.reserved_shared + Grid::kReservedShared);
    case Special::current_graph_exec:
      return fill64(row, 0);
    case Special::is_explicit_cluster:
      *reinterpret_cast<std::uint32_t*>(row) = 0;
      return;
    default:
      return fill32(row, 0);  // ranks in a cluster of one; the other %envreg
  }
}

}  // namespace wm::exec

#include "exec/block.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace wm::exec {

namespace {

constexpr std::size_t kAlign = 64;
// Operations a warp runs before the next warp runs, so that warps that wait for one another in a loop make progress.
constexpr std::uint64_t kTurn = 1U << 16;

std::size_t align_up(std::size_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

}  // namespace

void Block::start(const Grid& grid, gpu::Dim3 index, SmNumbers sm_numbers) {
  grid_ = &grid;
  index_ = index;
  sm_numbers_ = sm_numbers;
  warp_count_ = grid.warps_per_block();
  done_warps_ = 0;
  exited_threads_ = 0;
  turn_ = 0;
  spins_ = 0;
  fault_.reset();
  statistics_ = {};
  statistics_.blocks = 1;
  clock = timer = 0;
  if (barriers_used_ != 0) barriers_.fill({});
  barriers_used_ = 0;
  shared_.assign(grid.shared_bytes, kPoison);
  if (grid.program->reads_reserved_shared) {
    shared_.resize(grid.reserved_shared, kPoison);
    shared_.resize(grid.reserved_shared + Grid::kReservedShared, std::byte{0});
  }
  const std::size_t frame = align_up(grid.program->functions[0].frame_bytes());
  if (registers_.size() < frame * warp_count_ + kAlign) registers_.resize(frame * warp_count_ + kAlign);
  if (warps_.size() < warp_count_) warps_.resize(warp_count_);
  const auto misfit = reinterpret_cast<std::uintptr_t>(registers_.data()) % kAlign;
  std::byte* first = registers_.data() + (misfit == 0 ? 0 : kAlign - misfit);
  for (std::uint32_t i = 0; i < warp_count_; ++i) warps_[i].start(*this, i, first + i * frame);
}

void Block::step(std::uint32_t warp, Step& out) { warps_[warp].step(out); }

std::uint64_t Block::run(std::uint64_t budget) {
  std::uint64_t left = budget;
  std::uint32_t idle = 0;  // warps in a row that could not run
  while (left != 0 && !done() && !fault_) {
    Warp& warp = warps_[turn_];
    if (warp.ready()) {
      left -= warp.run(std::min(left, kTurn));
      idle = 0;
    } else if (++idle > warp_count_) {
      unblock();
      idle = 0;
    }
    if (++turn_ == warp_count_) turn_ = 0;
  }
  return budget - left;
}

void Block::unblock() {
  bool any = false;
  for (std::uint32_t i = 0; i < warp_count_; ++i) {
    if (warps_[i].ready()) return;
    any = warps_[i].let_go() || any;
  }
  if (!any) deadlock();
}

void Block::lanes_exited(std::uint32_t lanes) {
  exited_threads_ += lanes;
  for (std::uint32_t used = barriers_used_; used != 0; used &= used - 1)
    try_complete(static_cast<std::uint32_t>(std::countr_zero(used)));
}

void Block::arrive(Warp& warp, std::uint32_t id, std::uint32_t expected, Mask lanes, Mask trues) {
  Barrier& b = barriers_[id];
  barriers_used_ |= 1U << id;
  const Mask gone = warp.paths().exited();
  const bool leads = (lanes & (~gone & (0U - ~gone))) != 0;  // holds the warp's first lane that has not ended
  b.threads += count_lanes(lanes);
  b.padded += count_lanes(lanes) + (leads && gone != 0 ? count_lanes(gone) : 0);
  b.trues += trues == 0 ? 0 : count_lanes(lanes & trues);
  if (expected != 0) b.expected = expected;
  try_complete(id);
}

bool Block::try_complete(std::uint32_t id) {
  Barrier& b = barriers_[id];
  if (b.threads == 0) return false;
  const bool complete =
      b.expected != 0 ? b.padded >= b.expected : b.threads + exited_threads_ >= grid_->threads_per_block();
  if (!complete) return false;
  ++completed_barriers_;
  const Barrier finished = b;
  b = {};
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    Warp& warp = warps_[w];
    for (std::uint32_t i = 0; i < warp.paths().size(); ++i) {
      const Path& path = warp.paths()[i];
      if (path.state != Path::State::block_wait || path.key != id) continue;
      warp.barrier_done(i, finished.trues == finished.threads, finished.trues != 0, finished.trues);
    }
  }
  return true;
}

void Block::raise(Fault fault) {
  if (!fault_) fault_ = std::move(fault);
}

std::vector<WarpPosition> Block::positions() const {
  std::vector<WarpPosition> out;
  for (std::uint32_t i = 0; i < warp_count_; ++i) warps_[i].positions(out);
  return out;
}

void Block::deadlock() {
  Fault fault;
  fault.kind = Fault::Kind::deadlock;
  fault.kernel = grid_->program->kernel;
  fault.block = index_;
  fault.what = fmt::format("deadlock in block ({},{},{}): no warp can go on", index_.x, index_.y, index_.z);
  fault.warps = positions();
  raise(std::move(fault));
}

}  // namespace wm::exec

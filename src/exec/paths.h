// The paths of a diverged warp: the position of its lanes, and the points at which they reconverge.
//
// A branch that its lanes disagree on turns the current path into a join at the branch's immediate post-dominator with
// one path for each side below it. A path that reaches its meeting point hands its lanes to the join; when the last one
// below is gone, the join runs on with the lanes that arrived. A call is a join too: its lanes come back by `ret`.
//
// Run depth first this is the stack of a SIMT machine. It is a tree because lanes may wait for each other across paths
// (shfl.sync, bar.warp.sync): a path that waits is suspended; if all paths wait, lanes that wait at a join
// continue before the others arrive (`let_go`), as the independent threads of newer GPUs do. Paths that went apart this
// way are one again when they have waited together and continue at one place (`wake`).
#pragma once

#include <cstdint>
#include <vector>

#include "exec/lanes.h"

namespace wm::exec {

struct Path {
  enum class State : std::uint8_t { unused, ready, join, warp_wait, block_wait };
  static constexpr std::uint32_t kNone = 0xffffffffU;

  State state = State::unused;
  std::uint32_t pc = 0;        // for a join: the instruction at which its lanes continue
  std::uint32_t meet = kNone;  // the pc where this path ends; kNone: only by ret or exit
  Mask lanes = 0;              // for a join: the lanes that arrived
  std::uint32_t parent = kNone;
  std::uint32_t children = 0;
  std::uint32_t frame = 0;       // the call frame it runs in
  std::uint32_t opened = kNone;  // for a call: the frame of the callee
  Mask awaited = 0;              // warp_wait: the lanes it needs
  std::uint32_t key = 0;         // warp_wait: the operation they must reach; block_wait: the barrier
  std::uint32_t spins = 0;       // accesses of the kind found in spin loops, since the path began
};

class Paths {
 public:
  // One path of `lanes` at `pc`; the other lanes count as exited. The current path never stands at its meeting point.
  void reset(Mask lanes, std::uint32_t pc);

  [[nodiscard]] bool ready() const { return !ready_.empty(); }
  [[nodiscard]] bool done() const { return live_ == 0; }
  // More than one path, or lanes waiting at a join.
  [[nodiscard]] bool diverged() const { return live_ > 1; }
  [[nodiscard]] Path& now() { return paths_[ready_.back()]; }
  [[nodiscard]] const Path& now() const { return paths_[ready_.back()]; }
  [[nodiscard]] std::uint32_t now_index() const { return ready_.back(); }
  [[nodiscard]] Path& operator[](std::uint32_t index) { return paths_[index]; }
  [[nodiscard]] const Path& operator[](std::uint32_t index) const { return paths_[index]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(paths_.size()); }
  [[nodiscard]] Mask exited() const { return exited_; }

  // `away` of the current path's lanes go to `target`, the others to `stay`; they meet at `meet` (kNone: never).
  // Both sides have lanes. Those that stay run first.
  void diverge(Mask away, std::uint32_t target, std::uint32_t stay, std::uint32_t meet);
  // The current path reached its meeting point, or several did at once.
  void settle();
  // `lanes` of the current path enter a function; the others wait behind the call.
  void call(Mask lanes, std::uint32_t entry, std::uint32_t frame);
  // `lanes` of the current path return; false: there is no call to return from.
  [[nodiscard]] bool ret(Mask lanes);
  // `lanes` of the current path have exited.
  void exit(Mask lanes);

  // Sets the current path aside.
  void wait(Path::State state, std::uint32_t key, Mask awaited);
  // Makes a path that was set aside ready again; it is the current one then, unless it continues where another one
  // stands that is ready and ends at the same join: they are one path from there on.
  void wake(std::uint32_t index);
  // Another ready path becomes the current one.
  void rotate();
  // Lanes that stand at a join go ahead without the others; false: there were none.
  bool let_go();

  // The frames of calls that have returned since the last call of this function, for their owner to reuse.
  [[nodiscard]] std::vector<std::uint32_t>& closed_frames() { return closed_; }

 private:
  std::uint32_t make(const Path& path);
  void drop(std::uint32_t index);
  void end_child(std::uint32_t parent);

  std::vector<Path> paths_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> ready_;  // the last is the current one
  std::vector<std::uint32_t> closed_;
  std::uint32_t live_ = 0;
  Mask exited_ = 0;
};

}  // namespace wm::exec

#include "exec/paths.h"

#include <algorithm>

namespace wm::exec {

void Paths::reset(Mask lanes, std::uint32_t pc) {
  paths_.clear();
  free_.clear();
  ready_.clear();
  closed_.clear();
  live_ = 0;
  exited_ = ~lanes;
  Path first;
  first.state = Path::State::ready;
  first.pc = pc;
  first.lanes = lanes;
  ready_.push_back(make(first));
}

std::uint32_t Paths::make(const Path& path) {
  ++live_;
  if (free_.empty()) {
    paths_.push_back(path);
    return static_cast<std::uint32_t>(paths_.size() - 1);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  paths_[index] = path;
  return index;
}

void Paths::drop(std::uint32_t index) {
  paths_[index].state = Path::State::unused;
  free_.push_back(index);
  --live_;
}

// One path below `parent` has ended. If it was the last, the join continues, or ends itself if no lane arrived.
void Paths::end_child(std::uint32_t parent) {
  while (parent != Path::kNone) {
    Path& join = paths_[parent];
    if (--join.children != 0) return;
    if (join.opened != Path::kNone) closed_.push_back(join.opened);
    join.opened = Path::kNone;
    if (join.lanes != 0) {
      join.state = Path::State::ready;
      join.spins = 0;
      ready_.push_back(parent);
      return;
    }
    const std::uint32_t next = join.parent;
    drop(parent);
    parent = next;
  }
}

void Paths::diverge(Mask away, std::uint32_t target, std::uint32_t stay, std::uint32_t meet) {
  std::uint32_t index = ready_.back();
  const Mask others = paths_[index].lanes & ~away;
  if (paths_[index].meet != meet) {
    // The current path becomes the join; the remaining lanes continue as a path below it.
    Path below = paths_[index];
    below.parent = index;
    below.meet = meet;
    below.children = 0;
    below.spins = 0;
    Path& join = paths_[index];
    join.state = Path::State::join;
    join.pc = meet;
    join.lanes = 0;
    join.children = 1;
    ready_.pop_back();
    index = make(below);
    ready_.push_back(index);
  }
  Path& path = paths_[index];
  path.lanes = others;
  path.pc = stay;
  path.spins = 0;
  if (target == meet && meet != Path::kNone) {
    paths_[path.parent].lanes |= away;
  } else {
    Path branch = path;
    branch.lanes = away;
    branch.pc = target;
    if (path.parent != Path::kNone) ++paths_[path.parent].children;
    const std::uint32_t made = make(branch);
    ready_.back() = made;
    ready_.push_back(index);
  }
  settle();
}

void Paths::settle() {
  while (!ready_.empty()) {
    const std::uint32_t index = ready_.back();
    const Path& path = paths_[index];
    if (path.pc != path.meet) return;
    const std::uint32_t parent = path.parent;
    paths_[parent].lanes |= path.lanes;
    ready_.pop_back();
    drop(index);
    end_child(parent);
  }
}

void Paths::call(Mask lanes, std::uint32_t entry, std::uint32_t frame) {
  const std::uint32_t index = ready_.back();
  Path callee;
  callee.state = Path::State::ready;
  callee.pc = entry;
  callee.lanes = lanes;
  callee.parent = index;
  callee.frame = frame;
  Path& site = paths_[index];
  site.state = Path::State::join;
  site.pc += 1;
  site.lanes &= ~lanes;
  site.children = 1;
  site.opened = frame;
  ready_.back() = make(callee);
}

bool Paths::ret(Mask lanes) {
  const std::uint32_t index = ready_.back();
  std::uint32_t site = paths_[index].parent;
  while (site != Path::kNone && paths_[site].opened == Path::kNone) site = paths_[site].parent;
  if (site == Path::kNone) return false;
  paths_[site].lanes |= lanes;
  Path& path = paths_[index];
  path.lanes &= ~lanes;
  if (path.lanes == 0) {
    const std::uint32_t parent = path.parent;
    ready_.pop_back();
    drop(index);
    end_child(parent);
  }
  settle();
  return true;
}

void Paths::exit(Mask lanes) {
  exited_ |= lanes;
  const std::uint32_t index = ready_.back();
  Path& path = paths_[index];
  path.lanes &= ~lanes;
  if (path.lanes != 0) return;
  const std::uint32_t parent = path.parent;
  ready_.pop_back();
  drop(index);
  end_child(parent);
  settle();
}

void Paths::wait(Path::State state, std::uint32_t key, Mask awaited) {
  Path& path = now();
  path.state = state;
  path.key = key;
  path.awaited = awaited;
  ready_.pop_back();
  settle();
}

void Paths::wake(std::uint32_t index) {
  const Path& path = paths_[index];
  for (const std::uint32_t ready : ready_) {
    Path& other = paths_[ready];
    if (other.pc != path.pc || other.meet != path.meet || other.parent != path.parent || other.frame != path.frame)
      continue;
    other.lanes |= path.lanes;
    if (path.parent != Path::kNone) --paths_[path.parent].children;
    return drop(index);
  }
  paths_[index].state = Path::State::ready;
  ready_.push_back(index);
  settle();
}

void Paths::rotate() {
  if (ready_.size() < 2) return;
  std::rotate(ready_.begin(), ready_.end() - 1, ready_.end());
  settle();
}

bool Paths::let_go() {
  bool any = false;
  const std::uint32_t count = size();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (paths_[i].state != Path::State::join || paths_[i].lanes == 0) continue;
    Path ahead = paths_[i];
    paths_[i].lanes = 0;
    ahead.state = Path::State::ready;
    ahead.children = 0;
    ahead.opened = Path::kNone;
    ahead.spins = 0;
    if (ahead.parent != Path::kNone) ++paths_[ahead.parent].children;
    ready_.push_back(make(ahead));
    any = true;
  }
  settle();
  return any;
}

}  // namespace wm::exec

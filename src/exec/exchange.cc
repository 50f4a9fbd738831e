// Operations across the lanes of a warp (shuffles, votes, matches, reductions, warp barriers) and arrival at a block's
// barrier.
//
// The lanes a `.sync` form names may stand on different paths. A path that comes first is set aside; when all lanes
// named have come to the same kind of operation, they execute it as one, each path with its own operands.
#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

#include "exec/block.h"
#include "exec/warp.h"

namespace wm::exec {

namespace {

// The lanes that take part in an exchange, with their sources and results.
template <typename Body>
void for_each_lane(Mask lanes, Body&& body) {
  for (Mask m = lanes; m != 0; m &= m - 1) body(std::countr_zero(m));
}

std::uint32_t key_of(const Op& op) {
  return static_cast<std::uint32_t>(op.kind) << 16 | static_cast<std::uint32_t>(op.mode) << 8 |
         static_cast<std::uint32_t>(op.memory.bytes);
}

// Part of the key of paths that wait at an operation of the whole warp; the rest is its pc.
constexpr std::uint32_t kOfWholeWarp = 1U << 31;

// The source operand that holds the membermask.
RegisterRow member_row(const Op& op) {
  switch (op.kind) {
    case Kind::warp_barrier:
    case Kind::elect:
      return op.operands.source[0];
    case Kind::shuffle:
      return op.operands.source[3];
    default:
      return op.operands.source[1];
  }
}

}  // namespace

struct Warp::Exchange {
  Mask active = 0;  // lanes that take part
  std::array<Mask, kLanes> members;
  std::array<std::uint64_t, kLanes> a;
  std::array<std::uint32_t, kLanes> b;
  std::array<std::uint32_t, kLanes> c;
  Mask truth = 0;  // predicate source
  std::array<std::uint64_t, kLanes> result;
  Mask flag = 0;  // predicate result
};

namespace {

template <typename E>
void shuffle(const Op& op, E& e) {
  for_each_lane(e.active, [&](int lane) {
    const auto self = static_cast<std::uint32_t>(lane);
    const std::uint32_t clamp = e.c[lane] & 31U;
    const std::uint32_t segment = (e.c[lane] >> 8) & 31U;
    const std::uint32_t lowest = self & segment;
    const std::uint32_t highest = lowest | (clamp & ~segment);
    const std::uint32_t b = e.b[lane] & 31U;
    std::uint32_t from = self;
    bool inside = false;
    switch (op.mode) {
      case Mode::up:
        from = self - b;
        inside = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(highest);
        break;
      case Mode::down:
        from = self + b;
        inside = from <= highest;
        break;
      case Mode::bfly:
        from = self ^ b;
        inside = from <= highest;
        break;
      default:
        from = lowest | (b & ~segment);
        inside = from <= highest;
        break;
    }
    if (!inside) from = self;
    // A lane that does not take part has no value to give; the result is then the lane's own.
    e.result[lane] = ((e.active >> (from & 31U)) & 1U) != 0 ? e.a[from & 31U] : e.a[lane];
    if (inside) e.flag |= Mask{1} << lane;
  });
}

template <typename E>
void vote(const Op& op, E& e) {
  for_each_lane(e.active, [&](int lane) {
    const Mask group = e.members[lane] & e.active;
    const Mask trues = e.truth & group;
    bool flag = false;
    switch (op.mode) {
      case Mode::all:
        flag = trues == group;
        break;
      case Mode::any:
        flag = trues != 0;
        break;
      case Mode::uni:
        flag = trues == 0 || trues == group;
        break;
      default:
        e.result[lane] = trues;
        break;
    }
    if (flag) e.flag |= Mask{1} << lane;
  });
}

template <typename E>
void match(const Op& op, E& e) {
  for_each_lane(e.active, [&](int lane) {
    const Mask group = e.members[lane] & e.active;
    Mask same = 0;
    for_each_lane(group, [&](int other) { same |= static_cast<Mask>(e.a[other] == e.a[lane]) << other; });
    if (op.mode == Mode::any) {
      e.result[lane] = same;
    } else {
      e.result[lane] = same == group ? group : 0;
      if (same == group) e.flag |= Mask{1} << lane;
    }
  });
}

std::uint32_t combine(Mode mode, bool is_signed, std::uint32_t x, std::uint32_t y) {
  const auto less = is_signed ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
  switch (mode) {
    case Mode::add:
      return x + y;
    case Mode::min:
      return less ? x : y;
    case Mode::max:
      return less ? y : x;
    case Mode::and_:
      return x & y;
    case Mode::or_:
      return x | y;
    default:
      return x ^ y;
  }
}

template <typename E>
void reduce(const Op& op, E& e) {
  for_each_lane(e.active, [&](int lane) {
    const Mask group = e.members[lane] & e.active;
    auto value = static_cast<std::uint32_t>(e.a[std::countr_zero(group)]);
    for_each_lane(group & (group - 1), [&](int other) {
      value = combine(op.mode, op.memory.sign_extend, value, static_cast<std::uint32_t>(e.a[other]));
    });
    e.result[lane] = value;
  });
}

template <typename E>
void elect(E& e) {
  for_each_lane(e.active, [&](int lane) {
    const int leader = std::countr_zero(e.members[lane] & e.active);
    e.result[lane] = static_cast<std::uint64_t>(leader);
    if (leader == lane) e.flag |= Mask{1} << lane;
  });
}

}  // namespace

// The lanes that `active` lanes of the path name, those that ended apart. Forms without .sync name their own path.
Mask Warp::named_lanes(const Op& op, const Path& path, Mask active) const {
  if (!op.synchronous) return active;
  const auto* row = frame_of(path, active).source<Mask>(member_row(op));
  Mask named = 0;
  for_each_lane(active, [&](int lane) { named |= row[lane]; });
  return named & ~paths_.exited();
}

void Warp::gather(const Op& op, const Path& path, Mask active, Exchange& e) const {
  const Frame frame = frame_of(path, active);
  e.active |= active;
  const Mask* members = op.synchronous ? frame.source<Mask>(member_row(op)) : nullptr;
  // A lane that is not in its own mask takes part, because it executes the instruction. Its ballot has the lanes of the
  // mask only: programs ask for the lanes before their own that way.
  const bool counts_itself = op.kind != Kind::vote || op.mode != Mode::ballot;
  for_each_lane(active, [&](int lane) {
    const Mask own = counts_itself ? Mask{1} << lane : 0U;
    e.members[lane] = (members != nullptr ? members[lane] : active) | own;
  });
  if (op.kind == Kind::vote) {
    const Mask truth = frame.predicate(op.operands.source[0]) ^ (op.operands.negated[0] ? kAllLanes : 0U);
    e.truth |= truth & active;
  } else if (op.kind != Kind::warp_barrier && op.kind != Kind::elect) {
    for_each_lane(active, [&](int lane) {
      e.a[lane] = op.memory.bytes == 8 ? frame.source<std::uint64_t>(op.operands.source[0])[lane]
                                       : frame.source<std::uint32_t>(op.operands.source[0])[lane];
    });
  }
  if (op.kind != Kind::shuffle) return;
  const auto* b = frame.source<std::uint32_t>(op.operands.source[1]);
  const auto* c = frame.source<std::uint32_t>(op.operands.source[2]);
  for_each_lane(active, [&](int lane) {
    e.b[lane] = b[lane];
    e.c[lane] = c[lane];
  });
}

void Warp::scatter(const Op& op, const Path& path, Mask active, const Exchange& e) {
  if (op.kind == Kind::warp_barrier) return;
  const Frame frame = frame_of(path, active);
  const RegisterRow value = op.operands.destination[0];
  RegisterRow flag = op.operands.destination[1];
  if (op.kind == Kind::vote && op.mode != Mode::ballot) {
    flag = value;
  } else if (!value.none()) {
    auto* row = frame.destination<std::uint32_t>(value);
    for_each_lane(active, [&](int lane) { row[lane] = static_cast<std::uint32_t>(e.result[lane]); });
  }
  if (flag.none()) return;
  auto* mask = frame.destination<Mask>(flag);
  *mask = (*mask & ~active) | (e.flag & active);
}

void Warp::together(const Op& op, Exchange& e) {
  switch (op.kind) {
    case Kind::shuffle:
      return shuffle(op, e);
    case Kind::vote:
      return vote(op, e);
    case Kind::match:
      return match(op, e);
    case Kind::warp_reduce:
      return reduce(op, e);
    case Kind::elect:
      return elect(e);
    default:
      return;
  }
}

void Warp::exchange(const Op& op, Mask active) {
  const Path& path = paths_.now();
  const Mask named = named_lanes(op, path, active);
  if ((named & ~path.lanes) == 0) {
    Exchange e;
    gather(op, path, active, e);
    together(op, e);
    scatter(op, path, active, e);
    return advance();
  }
  event_.set_aside = true;
  paths_.wait(Path::State::warp_wait, key_of(op), named);
  resume_waiting();
}

// A path without the other lanes of its warp has come to an operation of the whole warp. It waits until they are there,
// too, and all continue as one path, which executes the operation.
void Warp::assemble() {
  event_.set_aside = true;
  const std::uint32_t pc = paths_.now().pc;
  paths_.wait(Path::State::warp_wait, kOfWholeWarp | pc, kAllLanes);
  resume_waiting();
}

// Makes one path of those that stand at an operation of the whole warp; false after a fault.
bool Warp::join_paths(const std::vector<std::uint32_t>& group) {
  for (const std::uint32_t i : group) paths_.wake(i);
  const Path& path = paths_.now();
  if (!lacks_lanes(code_[path.pc], path)) return true;
  raise(
      fault_at(Fault::Kind::illegal_instruction, std::countr_zero(path.lanes),
               fmt::format("'{}' by lanes of one warp in different calls or branches", program_->info[path.pc].text)));
  return false;
}

// Lets waiting lanes continue if they can: a complete exchange executes; if all paths wait, lanes that wait at a join
// continue, since other lanes may wait for them.
void Warp::resume_waiting() {
  while (complete_exchange()) {
  }
  while (!paths_.ready() && waiting() && paths_.let_go()) {
  }
}

bool Warp::waiting() const {
  for (std::uint32_t i = 0; i < paths_.size(); ++i)
    if (paths_[i].state == Path::State::warp_wait) return true;
  return false;
}

// The paths that must execute together with `first`; empty: not all lanes named are there.
std::vector<std::uint32_t> Warp::partners(std::uint32_t first) const {
  std::vector<std::uint32_t> group{first};
  Mask present = paths_[first].lanes;
  Mask named = paths_[first].awaited & ~paths_.exited();
  bool grown = true;
  while (grown && (named & ~present) != 0) {
    grown = false;
    for (std::uint32_t i = 0; i < paths_.size(); ++i) {
      const Path& path = paths_[i];
      if (path.state != Path::State::warp_wait || path.key != paths_[first].key) continue;
      if ((path.lanes & named & ~present) == 0) continue;
      group.push_back(i);
      present |= path.lanes;
      named |= path.awaited & ~paths_.exited();
      grown = true;
    }
  }
  if ((named & ~present) != 0) group.clear();
  return group;
}

bool Warp::complete_exchange() {
  for (std::uint32_t first = 0; first < paths_.size(); ++first) {
    if (paths_[first].state != Path::State::warp_wait) continue;
    const std::vector<std::uint32_t> group = partners(first);
    if (group.empty()) continue;
    if ((paths_[first].key & kOfWholeWarp) != 0) return join_paths(group);
    Exchange e;
    for (const std::uint32_t i : group) {
      const Op& op = code_[paths_[i].pc];
      gather(op, paths_[i], guarded(op, paths_[i]), e);
    }
    together(code_[paths_[first].pc], e);
    for (const std::uint32_t i : group) {
      const Op& op = code_[paths_[i].pc];
      scatter(op, paths_[i], guarded(op, paths_[i]), e);
    }
    for (const std::uint32_t i : group) {
      ++paths_[i].pc;
      paths_.wake(i);
    }
    return true;
  }
  return false;
}

void Warp::barrier(const Op& op, Mask active) {
  if (active != paths_.now().lanes) {
    // Lanes whose guard is false go on to the next operation, where the others join them.
    const std::uint32_t pc = paths_.now().pc;
    event_.divergent = true;
    paths_.diverge(paths_.now().lanes & ~active, pc + 1, pc, pc + 1);
  }
  const Path& path = paths_.now();
  const Frame frame = frame_of(path, active);
  const int first = std::countr_zero(active);
  const std::uint32_t id = frame.source<std::uint32_t>(op.operands.source[0])[first];
  const RegisterRow count_row = op.operands.source[1];
  const std::uint32_t expected = count_row.none() ? 0 : frame.source<std::uint32_t>(count_row)[first];
  if (id >= kBarriers)
    return raise(fault_at(Fault::Kind::illegal_instruction, first, fmt::format("barrier {} of {}", id, kBarriers)));
  if (!count_row.none() && (expected == 0 || expected % kLanes != 0)) {
    return raise(fault_at(Fault::Kind::illegal_instruction, first,
                          fmt::format("barrier {} for {} threads, which is no multiple of {}", id, expected, kLanes)));
  }
  Mask trues = 0;
  if (!op.operands.source[2].none())
    trues = frame.predicate(op.operands.source[2]) ^ (op.operands.negated[2] ? kAllLanes : 0U);
  event_.at_barrier = true;
  if (op.mode == Mode::arrive) {
    advance();
    block_->arrive(*this, id, expected, active, trues);
  } else {
    paths_.wait(Path::State::block_wait, id, 0);
    block_->arrive(*this, id, expected, active, trues);
    resume_waiting();
  }
}

void Warp::barrier_done(std::uint32_t index, bool all, bool any, std::uint32_t count) {
  Path& path = paths_[index];
  const Op& op = code_[path.pc];
  const RegisterRow to = op.operands.destination[0];
  if (!to.none()) {
    const Frame frame = frame_of(path, path.lanes);
    if (op.mode == Mode::red_popc) {
      auto* row = frame.destination<std::uint32_t>(to);
      for_each_lane(path.lanes, [&](int lane) { row[lane] = count; });
    } else {
      auto* mask = frame.destination<Mask>(to);
      const bool value = op.mode == Mode::red_and ? all : any;
      *mask = value ? *mask | path.lanes : *mask & ~path.lanes;
    }
  }
  ++path.pc;
  paths_.wake(index);
}

}  // namespace wm::exec

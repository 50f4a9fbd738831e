#include "ptx/schedule.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ptx/def_use.h"

namespace wm::ptx {
namespace {

// Approximate cycles until a result can be read: only large differences matter for the order.
std::uint32_t latency(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::atom:
      return instruction.space() == Space::shared ? 30 : instruction.space() == Space::constant ? 30 : 300;
    case Opcode::ldmatrix:
    case Opcode::shfl:
      return 30;
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::div:
      return 20;
    default:
      return instruction.type() == Type::f64 ? 10 : 5;
  }
}

bool is_load(const Instruction& i) {
  return i.opcode == Opcode::ld || i.opcode == Opcode::ldu || i.opcode == Opcode::ldmatrix;
}
bool is_read_only(const Instruction& i) {
  return is_load(i) && (i.has(Suffix::nc) || i.space() == Space::constant || i.space() == Space::param);
}
bool is_store(const Instruction& i) { return i.opcode == Opcode::st || i.opcode == Opcode::stmatrix; }
// True for a fence: no memory access may be reordered across it.
bool is_fence(const Instruction& i) {
  if (i.has(Suffix::volatile_) || i.has(Suffix::relaxed) || i.has(Suffix::acquire) || i.has(Suffix::release))
    return true;
  switch (i.opcode) {
    case Opcode::atom:
    case Opcode::red:
    case Opcode::bar:
    case Opcode::bar_warp:
    case Opcode::barrier:
    case Opcode::barrier_cluster:
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::call:
    case Opcode::cp_async:
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_all:
    case Opcode::cp_async_wait_group:
    case Opcode::vote:
    case Opcode::shfl:
      return true;
    default:
      return false;
  }
}
// True for an instruction that no other may be reordered across, because it reads a clock.
bool reads_clock(const Instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == Operand::Kind::special &&
           (o.special == Special::clock || o.special == Special::clock_hi || o.special == Special::clock64 ||
            o.special == Special::globaltimer || o.special == Special::globaltimer_lo ||
            o.special == Special::globaltimer_hi);
  });
}
bool is_end(const Instruction& i) {
  return i.opcode == Opcode::bra || i.opcode == Opcode::brx_idx || i.opcode == Opcode::ret ||
         i.opcode == Opcode::exit || i.opcode == Opcode::trap;
}

// List scheduling, cycle by cycle.
class Scheduler {
 public:
  Scheduler(const Function& function, std::vector<std::uint32_t> nodes, const std::vector<Access>& accesses)
      : function_(function), accesses_(accesses), nodes_(std::move(nodes)) {
    after_.resize(nodes_.size());
    waits_.resize(nodes_.size());
    height_.resize(nodes_.size());
    start_.resize(nodes_.size());
    link_registers();
    link_memory();
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      for (const auto& [next, cycles] : after_[n]) height_[n] = std::max(height_[n], height_[next] + cycles);
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> ready;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
      if (waits_[n] == 0) ready.push_back(n);
    for (std::uint32_t now = 0; !ready.empty(); ++now) {
      const auto chosen = pick(ready, now);
      const std::uint32_t n = *chosen;
      ready.erase(chosen);
      now = std::max(now, start_[n]);
      order.push_back(nodes_[n]);
      for (const auto& [next, cycles] : after_[n]) {
        start_[next] = std::max(start_[next], now + cycles);
        if (--waits_[next] == 0) ready.push_back(next);
      }
    }
    return order;
  }

 private:
  void link(std::uint32_t first, std::uint32_t then, std::uint32_t cycles) {
    after_[first].emplace_back(then, cycles);
    ++waits_[then];
  }

  void link_registers() {
    std::map<std::uint32_t, std::uint32_t> writer;
    std::map<std::uint32_t, std::vector<std::uint32_t>> readers;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const Access& access = accesses_[nodes_[n]];
      for (const std::uint32_t r : access.reads) {
        if (const auto w = writer.find(r); w != writer.end())
          link(w->second, n, latency(function_.body[nodes_[w->second]]));
        readers[r].push_back(n);
      }
      for (const std::uint32_t r : access.writes) {
        for (const std::uint32_t reader : readers[r])
          if (reader != n) link(reader, n, 1);
        if (const auto w = writer.find(r); w != writer.end() && w->second != n) link(w->second, n, 1);
        readers[r].clear();
        writer[r] = n;
      }
    }
  }

  void link_memory() {
    // The accesses to one space since the last fence: the last store, and the loads after it. Generic accesses are
    // counted as global.
    struct Order {
      std::uint32_t store = kNoNode;
      std::vector<std::uint32_t> loads;
    };
    std::map<Space, Order> spaces;
    std::vector<std::uint32_t> since_fence;
    std::uint32_t fence = kNoNode;
    std::uint32_t clock = kNoNode;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const Instruction& instruction = function_.body[nodes_[n]];
      if (is_end(instruction) || reads_clock(instruction))
        for (std::uint32_t m = 0; m < n; ++m) link(m, n, 1);
      if (clock != kNoNode) link(clock, n, 1);
      if (reads_clock(instruction)) clock = n;
      if (is_fence(instruction)) {
        for (const std::uint32_t m : since_fence) link(m, n, 1);
        if (fence != kNoNode) link(fence, n, 1);
        since_fence.clear();
        spaces.clear();
        fence = n;
      }
      const bool load = is_load(instruction) && !is_read_only(instruction);
      if (!load && !is_store(instruction)) continue;
      Order& order = spaces[instruction.space() == Space::generic ? Space::global : instruction.space()];
      if (order.store != kNoNode) link(order.store, n, 1);
      if (fence != kNoNode) link(fence, n, 1);
      since_fence.push_back(n);
      if (load) {
        order.loads.push_back(n);
        continue;
      }
      for (const std::uint32_t m : order.loads) link(m, n, 1);
      order.loads.clear();
      order.store = n;
    }
  }

  std::vector<std::uint32_t>::iterator pick(std::vector<std::uint32_t>& ready, std::uint32_t now) const {
    return std::min_element(ready.begin(), ready.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t start_a = std::max(start_[a], now);
      const std::uint32_t start_b = std::max(start_[b], now);
      if (start_a != start_b) return start_a < start_b;
      return height_[a] != height_[b] ? height_[a] > height_[b] : a < b;
    });
  }

  static constexpr std::uint32_t kNoNode = 0xffffffffU;
  const Function& function_;
  const std::vector<Access>& accesses_;
  std::vector<std::uint32_t> nodes_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      after_;                          // instructions that depend on it, and the latency
  std::vector<std::uint32_t> waits_;   // dependencies that have not issued
  std::vector<std::uint32_t> height_;  // cycles to the end of the block
  std::vector<std::uint32_t> start_;   // not before that cycle
};

}  // namespace

std::vector<std::uint32_t> latency_order(const Function& function, const BasicBlock& block,
                                         const std::vector<Access>& accesses, const ValueCost& cost) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = block.begin; i < block.end; ++i)
    if (!cost.vanishes(i)) nodes.push_back(i);
  return Scheduler(function, std::move(nodes), accesses).run();
}

Function in_latency_order(const Function& function) {
  std::vector<Access> all(function.body.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    for_each_use(function.body[i], [&](std::uint32_t r) { all[i].reads.push_back(r); });
    for_each_definition(function.body[i], [&](std::uint32_t r) { all[i].writes.push_back(r); });
  }
  Function ordered = function;
  for (const BasicBlock& block : control_flow(function).blocks) {
    std::vector<std::uint32_t> nodes;
    bool calls = false;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      nodes.push_back(i);
      calls |= function.body[i].opcode == Opcode::call;
    }
    if (calls) continue;
    std::uint32_t at = block.begin;
    for (const std::uint32_t i : Scheduler(function, std::move(nodes), all).run())
      ordered.body[at++] = function.body[i];
  }
  return ordered;
}

}  // namespace wm::ptx

#include "ptx/schedule.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "ptx/def_use.h"
#include "ptx/dependencies.h"
#include "ptx/memory_effect.h"

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
    const auto read = [&](std::uint32_t r, std::uint32_t n) {
      if (const auto w = writer.find(r); w != writer.end())
        link(w->second, n, latency(function_.body[nodes_[w->second]]));
      readers[r].push_back(n);
    };
    const auto write = [&](std::uint32_t r, std::uint32_t n) {
      for (const std::uint32_t reader : readers[r])
        if (reader != n) link(reader, n, 1);
      if (const auto w = writer.find(r); w != writer.end() && w->second != n) link(w->second, n, 1);
      readers[r].clear();
      writer[r] = n;
    };
    const auto carry =
        static_cast<std::uint32_t>(function_.registers.size());  // the condition code as one more register
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const Access& access = accesses_[nodes_[n]];
      const Instruction& instruction = function_.body[nodes_[n]];
      for (const std::uint32_t r : access.reads) read(r, n);
      if (reads_carry(instruction)) read(carry, n);
      for (const std::uint32_t r : access.writes) write(r, n);
      if (writes_carry(instruction)) write(carry, n);
    }
  }

  void link_memory() {
    std::map<Space, AccessOrder> spaces;
    std::vector<std::uint32_t> since_fence;
    std::uint32_t fence = kNoNode;
    std::uint32_t clock = kNoNode;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const Instruction& instruction = function_.body[nodes_[n]];
      if (ends_block(instruction) || reads_clock(instruction))
        for (std::uint32_t m = 0; m < n; ++m) link(m, n, 1);
      if (clock != kNoNode) link(clock, n, 1);
      if (reads_clock(instruction)) clock = n;
      const MemoryEffect effect = memory_effect(instruction);
      if (effect.fence) {
        for (const std::uint32_t m : since_fence) link(m, n, 1);
        if (fence != kNoNode) link(fence, n, 1);
        since_fence.clear();
        std::erase_if(spaces, [](const auto& entry) { return entry.first != Space::param; });
        fence = n;
        continue;  // a volatile access is ordered with all others as a fence is
      }
      if (!effect.reads && !effect.writes) continue;
      if (effect.constant && effect.space != Space::param) continue;
      order_access(spaces, effect, n);
      if (effect.constant) continue;
      if (fence != kNoNode) link(fence, n, 1);
      since_fence.push_back(n);
    }
  }

  // The accesses to one space since the last fence: the last store, and the loads after it.
  struct AccessOrder {
    std::uint32_t store = kNoNode;
    std::vector<std::uint32_t> loads;
  };

  void order_access(std::map<Space, AccessOrder>& spaces, const MemoryEffect& effect, std::uint32_t n) {
    for (auto& [space, order] : spaces) {
      if (!may_overlap(space, effect.space)) continue;
      if (order.store != kNoNode) link(order.store, n, 1);
      if (!effect.writes) continue;
      for (const std::uint32_t m : order.loads) link(m, n, 1);
      if (space == effect.space) order.loads.clear();
    }
    if (effect.writes) spaces[effect.space].store = n;
    if (effect.reads) spaces[effect.space].loads.push_back(n);
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
  assert(!violated_dependency(function, ordered));
  return ordered;
}

}  // namespace wm::ptx

#include "ptx/schedule.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ptx/assembly.h"
#include "ptx/def_use.h"
#include "ptx/dependencies.h"
#include "ptx/instruction_shape.h"
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
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld_b:
      return 300;
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

// The registers that are live while a block is put in order. An assembler moves loads up only as far as a thread's
// registers stay within the number that lets an SM hold all its threads, or that the block needs in its own order.
class Pressure {
 public:
  Pressure(const std::vector<std::uint32_t>& words, const std::vector<std::uint32_t>& live_in,
           const std::vector<std::uint32_t>& live_out, const std::vector<Access>& accesses, const BasicBlock& block)
      : words_(words) {
    for (std::uint32_t i = block.begin; i < block.end; ++i)
      for (const std::uint32_t r : accesses[i].reads) ++reads_[r];
    for (const std::uint32_t r : live_out) lives_on_.insert(r);
    for (const std::uint32_t r : live_in) enter(r);
    const auto [reads, live, now] = std::tuple{reads_, live_, now_};
    std::int32_t peak = now_;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      issue(accesses[i]);
      peak = std::max(peak, now_);
    }
    reads_ = reads;
    live_ = live;
    now_ = now;
    limit_ = std::max(kTarget, peak + std::max(kSlack, peak / 4));
  }

  // Registers beyond the limit after the instruction; 0 where it adds none.
  [[nodiscard]] std::int32_t excess(const Access& access) const {
    std::int32_t change = 0;
    for (const std::uint32_t r : access.writes) change += live_.contains(r) || !is_wanted(r) ? 0 : weight(r);
    for (const std::uint32_t r : access.reads)
      if (live_.contains(r) && reads_.at(r) == 1 && !lives_on_.contains(r)) change -= weight(r);
    return change <= 0 ? 0 : std::max(0, now_ + change - limit_);
  }

  void issue(const Access& access) {
    for (const std::uint32_t r : access.reads)
      if (--reads_[r] == 0 && !lives_on_.contains(r) && live_.erase(r) != 0) now_ -= weight(r);
    for (const std::uint32_t r : access.writes)
      if (is_wanted(r)) enter(r);
  }

 private:
  static constexpr std::int32_t kTarget = 28;  // registers; four more hold addresses and temporary values
  static constexpr std::int32_t kSlack = 8;    // registers are allocated in eights

  [[nodiscard]] std::int32_t weight(std::uint32_t r) const { return static_cast<std::int32_t>(words_[r]); }
  [[nodiscard]] bool is_wanted(std::uint32_t r) const {
    const auto it = reads_.find(r);
    return lives_on_.contains(r) || (it != reads_.end() && it->second > 0);
  }
  void enter(std::uint32_t r) {
    if (live_.insert(r).second) now_ += weight(r);
  }

  const std::vector<std::uint32_t>& words_;
  std::unordered_map<std::uint32_t, std::int32_t> reads_;  // by register: reads that are to come
  std::unordered_set<std::uint32_t> lives_on_;             // registers that later blocks read
  std::unordered_set<std::uint32_t> live_;
  std::int32_t limit_ = 0;
  std::int32_t now_ = 0;
};

// List scheduling, cycle by cycle.
class Scheduler {
 public:
  Scheduler(const Function& function, std::vector<std::uint32_t> nodes, const std::vector<Access>& accesses,
            Pressure* pressure = nullptr)
      : function_(function), accesses_(accesses), nodes_(std::move(nodes)), pressure_(pressure) {
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
      if (pressure_ != nullptr) pressure_->issue(accesses_[nodes_[n]]);

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
      const bool fixed = reads_clock(instruction) || (pressure_ != nullptr && calls_subroutine(instruction));
      if (ends_block(instruction) || fixed)
        for (std::uint32_t m = 0; m < n; ++m) link(m, n, 1);
      if (clock != kNoNode) link(clock, n, 1);
      if (fixed) clock = n;
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
      // ptxas holds no long vector in registers across a barrier.
      const bool is_long = instruction.vector_width() * bytes(instruction.type()) >= 16;
      if (effect.constant && effect.space == Space::global && is_long && fence != kNoNode) link(fence, n, 1);
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
      if (pressure_ != nullptr) {
        const std::int32_t excess_a = pressure_->excess(accesses_[nodes_[a]]);
        const std::int32_t excess_b = pressure_->excess(accesses_[nodes_[b]]);
        if (excess_a != excess_b) return excess_a < excess_b;
        if (excess_a > 0) return a < b;
      }
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
  Pressure* pressure_;  // none: registers do not limit the order
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
    const auto note = [](std::vector<std::uint32_t>& list, std::uint32_t r) {
      if (std::find(list.begin(), list.end(), r) == list.end()) list.push_back(r);
    };
    for_each_use(function.body[i], [&](std::uint32_t r) { note(all[i].reads, r); });
    for_each_definition(function.body[i], [&](std::uint32_t r) { note(all[i].writes, r); });
  }
  Function ordered = function;
  const ControlFlow flow = control_flow(function);
  const Liveness live = liveness(function, flow);
  const ValueCost cost(function);
  std::vector<std::uint32_t> words(function.registers.size());
  for (std::uint32_t r = 0; r < words.size(); ++r) words[r] = cost.words(r);
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    const BasicBlock& block = flow.blocks[b];
    std::vector<std::uint32_t> nodes;
    bool calls = false;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      nodes.push_back(i);
      calls |= function.body[i].opcode == Opcode::call;
    }
    if (calls) continue;
    std::uint32_t at = block.begin;
    Pressure pressure(words, live.live_in[b], live.live_out[b], all, block);
    for (const std::uint32_t i : Scheduler(function, std::move(nodes), all, &pressure).run())
      ordered.body[at++] = function.body[i];
  }
  assert(!violated_dependency(function, ordered));
  return ordered;
}

}  // namespace wm::ptx

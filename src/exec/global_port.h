// Makes accesses to global memory deterministic when blocks run on several host threads, for any number of threads.
//
// Without a port everything happens at once. A simulator that runs SMs side by side gives each a port of its own.
// A port buffers stores: loads through the same port see them at once, other ports after `publish`, which the
// simulator calls for one port after the other while no block runs. Atomics are not executed but handed out
// (`take_atomics`): the simulator applies them where its memory system orders them, then completes them, which writes
// the old values to the warp's register. Until an atomic is complete nothing may use that register or access the same
// memory: it is the simulator's task to hold such instructions back (Warp::peek). A port also buffers the text that
// kernels print until `publish`, which makes its order the same for any number of threads.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/grid.h"
#include "exec/lanes.h"
#include "exec/program.h"

namespace wm::exec {

// One atomic instruction of a warp that is not yet executed. It has copies of its operands, so the warp can continue.
struct PendingAtomic {
  // The rows hold old values, b and c. A vector has the rows of its elements, one after the other, in place of each.
  static constexpr std::uint32_t kRow = kLanes * 16;
  static constexpr RegisterRow kOld{0};
  static constexpr RegisterRow kB{kRow};
  static constexpr RegisterRow kC{2 * kRow};

  const Op* op = nullptr;
  Mask lanes = 0;
  std::array<std::byte*, kLanes> at{};  // by lane
  std::array<std::uint64_t, kLanes> address{};
  std::byte* destination = nullptr;  // the warp's row; nullptr if the old values are not needed
  std::byte* registers = nullptr;    // base of the rows of a vector whose old values are needed
  alignas(64) std::array<std::byte, 3 * kRow> rows{};

  // Reads, combines and writes back, lane after lane.
  void apply(Mask which);
  // Writes the old values to the warp's registers.
  void complete() const;

  static constexpr RegisterRow element(RegisterRow first, const Memory& memory, std::uint32_t index) {
    return {first.value + index * kLanes * memory.bytes};
  }
};

class GlobalPort {
 public:
  // --- for warps
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  void store(std::byte* to, const std::byte* from, std::uint32_t bytes);
  // Whether it may hold any of the 16 bytes there; false positives are possible, false negatives are not.
  [[nodiscard]] bool may_hold(const std::byte* at) const { return holds_piece(at) || holds_piece(at + 15); }
  // The bytes as this port's blocks see them.
  void read(const std::byte* from, std::byte* to, std::uint32_t bytes) const;
  PendingAtomic& defer();
  // `sink` must live until the next publish().
  void print(const PrintSink& sink, std::string text) { printed_.push_back({&sink, std::move(text)}); }

  // --- for the simulator
  // Whether publish() would do anything.
  [[nodiscard]] bool has_unpublished() const { return !pieces_.empty() || !printed_.empty(); }
  // Makes the buffered stores visible to all ports, and hands out what was printed.
  void publish();
  // The atomic of the last step, nullptr if it made none.
  PendingAtomic* take_atomic() { return std::exchange(last_, nullptr); }
  void recycle(PendingAtomic* atomic) { spare_.push_back(atomic); }

 private:
  // 32 bytes of memory, aligned, as far as they were stored to; the last store to a byte counts.
  struct Piece {
    std::byte* at = nullptr;
    std::uint32_t held = 0;  // bit i: byte i
    std::array<std::byte, 32> bytes;
  };
  struct Printed {
    const PrintSink* sink = nullptr;
    std::string text;
  };
  static constexpr std::size_t kBuckets = 4096;
  static std::size_t number(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) / 32; }
  static std::size_t hash(std::size_t number) { return number * 0x9e3779b97f4a7c15ULL >> 32; }
  [[nodiscard]] bool holds_piece(const std::byte* at) const {
    return touched_[number(at) % kBuckets] && find(number(at)) != nullptr;
  }
  [[nodiscard]] const Piece* find(std::size_t number) const;
  Piece& piece(std::byte* at);
  void grow();

  std::vector<Piece> pieces_;         // in the order they were first stored to
  std::vector<std::uint32_t> table_;  // by hash: 1 + which piece; 0: none. At most half full
  std::bitset<kBuckets> touched_;     // a filter that avoids most look-ups in the table
  std::vector<std::unique_ptr<PendingAtomic>> all_;
  std::vector<PendingAtomic*> spare_;
  PendingAtomic* last_ = nullptr;
  std::vector<Printed> printed_;
};

}  // namespace wm::exec

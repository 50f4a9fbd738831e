// Replaces the blocks of whole waves where nothing else happens: on SMs with blocks of one client only, whose blocks
// are each followed by the client's next one.
//
// Blocks start in the order in which those before them end: by cycle, and in one cycle by SM. A block runs at least as
// long as its kernel's shortest one, so within that time from any cycle no block ends that started after it. All
// ends of such a window are known when it begins; they are sorted once, and each is replaced in turn.
//
// Clients on different SMs do not affect each other until one of them has a block that cannot be replaced. No client is
// moved beyond that cycle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/block/kernel_table.h"
#include "sim/block/sm_table.h"

namespace wm::sim {

class BlockWaves {
 public:
  // `fill_sms`: SMs with ends in the same cycle are filled one after the other; else they take blocks in turn.
  explicit BlockWaves(bool fill_sms) : fill_sms_(fill_sms) {}

  // To be called when something else than replacements has happened.
  void begin() { blocked_until_ = 0; }
  // Replaces blocks that end before `stop`, on SMs whose entry says `replacing`, up to the first event of another kind.
  // Returns the cycle of the last of them; nullopt: too few would be replaced, and nothing was done.
  std::optional<std::uint64_t> advance(KernelTable& kernels, SmTable& sms, std::uint64_t stop);
  // The SMs on which the last call replaced blocks, or might have.
  [[nodiscard]] std::span<const std::uint32_t> sms() const { return visited_; }

 private:
  struct Slot {
    std::uint64_t end = 0;   // 1/65536 cycles from begin_
    std::uint64_t work = 0;  // this and the next two as in WorkGroup::Entry
    std::uint32_t block = 0;
    std::uint32_t order = 0;
    std::uint32_t place = 0;  // index of its SM among the client's
  };
  struct Client {
    std::uint32_t client = 0;
    std::uint32_t blocks = 0;    // on all its SMs
    std::uint64_t shortest = 0;  // cycles of its shortest possible block
    std::uint64_t first = 0;     // cycle of its next end
    std::vector<std::uint32_t> sms;
  };

  [[nodiscard]] std::uint64_t find_clients(KernelTable& kernels, SmTable& sms, std::uint64_t stop);
  [[nodiscard]] bool worthwhile(std::uint64_t now, std::uint64_t stop) const;
  Client& find_client(KernelTable& kernels, std::uint32_t client);
  [[nodiscard]] std::uint64_t first_unreplaced(const policy::Kernel& kernel, const Client& c, SmTable& sms,
                                               std::uint64_t stop);
  std::uint64_t replace(KernelTable& kernels, const Client& c, SmTable& sms, std::uint64_t stop);
  void load(const Client& c, SmTable& sms);
  void store(const Client& c, SmTable& sms);
  void sort_ends(std::uint64_t from, std::uint64_t to);
  void take_turns();
  [[nodiscard]] std::uint32_t place_of(std::uint64_t end) const;
  [[nodiscard]] std::size_t replaceable(std::uint32_t waiting) const;

  bool fill_sms_;
  std::vector<Client> clients_;  // the first `used_` are in use; the others keep their memory
  std::size_t used_ = 0;
  std::vector<std::uint32_t> visited_;
  std::uint64_t blocked_until_ = 0;  // an event of another kind that is too near for a call to be worthwhile
  std::uint64_t begin_ = 0;          // cycle from which the slots' ends count
  std::uint32_t next_order_ = 0;     // order of the next block that starts
  std::vector<Slot> slots_;          // the blocks of one client, by SM
  // Ends of a window, sorted: the cycle from its begin in the upper bits, the slot in the lower ones.
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint64_t> unsorted_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> turns_;  // turn of an end among those of its cycle
  std::vector<std::uint32_t> buckets_;
  std::vector<std::uint64_t> retired_;  // instructions of ended blocks, by place
};

}  // namespace wm::sim

// A GPU as a simulator sees it: the contents of configs/gpus/<name>.yaml, checked and in plain numbers.
//
// Latencies are SM cycles from issue to the first dependent instruction, unloaded, as a pointer chase measures them;
// the parts of a memory path are derived from those totals (see docs/design/cycle-machine.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace wm::gpu {

// The units that instructions occupy, in the order of UnitTable. A GPU without a unit for integer multiplies has them
// on the integer unit.
enum class Unit : std::uint8_t { fp32, integer, fp64, sfu, tensor, load_store, branch, multiply, count };
inline constexpr std::size_t kUnits = static_cast<std::size_t>(Unit::count);

struct UnitConfig {
  std::uint32_t latency = 4;  // to the next dependent instruction
  std::uint32_t lanes = 32;   // threads it takes a cycle: a warp occupies it 32 / lanes cycles
  bool per_sm = false;        // one for all schedulers, not one each
};

struct SmConfig {
  std::uint32_t count = 16;
  std::uint32_t clock_mhz = 1000;
  std::uint32_t schedulers = 4;
  std::uint32_t issue_width = 1;       // instructions of one warp a cycle
  std::string warp_scheduler = "gto";  // a file in src/sim/cycle/sm/schedulers
  std::uint32_t registers = 65536;     // registers of 32 bits
  std::uint32_t register_banks = 0;    // operands of one bank are read one after the other; 0: no conflicts
  std::uint32_t register_unit = 256;   // a warp's registers are allocated in steps of so many
  std::uint32_t shared_memory = 96 * 1024;
  std::uint32_t shared_memory_unit = 256;
  std::uint32_t threads = 2048;
  std::uint32_t blocks = 32;
  std::array<UnitConfig, kUnits> units;
  bool has_multiply_unit = false;
  bool fp32_adds = false;              // the fp32 unit adds integers, the integer unit compares floats (since Volta)
  std::uint32_t barrier_latency = 0;   // from the last arrival until warps continue; 0: the latency of the branch unit
  std::uint32_t barrier_per_warp = 0;  // additional cycles for every warp of the block
  // A branch: additional cycles until its guard, computed by a compare, reaches it; cycles until the next instruction
  // of a warp that takes it (0: the latency of the branch unit, as for one that does not); additional cycles where
  // lanes part and join again.
  std::uint32_t branch_guard_latency = 0;
  std::uint32_t taken_branch_latency = 0;
  std::uint32_t reconvergence_latency = 0;
  bool saves_context = true;  // a block that is switched out is moved to memory; false: at no cost, for comparison

  [[nodiscard]] std::uint32_t warps() const { return threads / 32; }
};

struct SharedMemoryConfig {
  std::uint32_t banks = 32;  // 4 bytes each
  std::uint32_t latency = 24;
  bool joins_pairs = false;   // in accesses of 8 and 16 bytes, lanes 2k and 2k + 1 that read one address count once
  bool atomic_turns = false;  // lanes of an atomic that meet on one word take turns
};

struct InstructionCacheConfig {
  std::uint32_t bytes = 128 * 1024;
  std::uint32_t line = 128;
  std::uint32_t ways = 8;
  std::uint32_t miss_latency = 40;
  std::uint32_t instruction_bytes = 16;
  std::string replacement = "lru";  // a file in src/sim/cycle/memory/replacement
};

struct ConstantCacheConfig {
  std::uint32_t bytes = 2048;
  std::uint32_t line = 64;
  std::uint32_t ways = 4;
  std::uint32_t latency = 8;
  std::uint32_t miss_latency = 90;
  std::string replacement = "lru";  // a file in src/sim/cycle/memory/replacement
};

// The path of read-only loads (ld.global.nc) where it is a cache of its own, which no store touches.
struct TextureCacheConfig {
  std::uint32_t bytes = 0;  // 0: they use L1
  std::uint32_t ways = 4;
  std::uint32_t latency = 100;  // latency of a hit
  std::uint32_t mshrs = 64;
  std::uint32_t mshr_waiters = 16;
  bool read_only_loads = true;      // ld.global.nc too; false: only texture fetches, as before Kepler
  std::string replacement = "lru";  // a file in src/sim/cycle/memory/replacement
};

enum class StorePolicy : std::uint8_t { write_through, write_evict };  // effect of a store on a line present in L1

struct L1Config {
  std::uint32_t bytes = 32 * 1024;
  std::uint32_t ways = 4;
  std::uint32_t latency = 30;
  std::uint32_t mshrs = 128;
  std::uint32_t mshr_waiters = 16;
  std::uint32_t bytes_per_cycle = 128;
  std::uint32_t lookups_per_cycle = 1;  // lines; with more than one, words that meet in a bank of 4 bytes take turns
  StorePolicy store = StorePolicy::write_through;
  bool caches_global = true;
  std::uint32_t stores_in_flight = 256;  // lines
  std::string replacement = "lru";       // a file in src/sim/cycle/memory/replacement
};

struct L2Config {
  std::uint32_t slices = 8;  // in all; a multiple of the memory channels
  std::uint32_t bytes = 2 * 1024 * 1024;
  std::uint32_t ways = 16;
  std::uint32_t latency = 200;
  std::uint32_t mshrs = 128;  // per slice
  std::uint32_t mshr_waiters = 32;
  std::uint32_t bytes_per_cycle = 32;  // per slice
  std::uint32_t fetch_bytes = 32;      // from DRAM at least so many at a time: one sector or two
  std::uint32_t partial_write_bytes =
      0;                         // a store of part of a sector takes a slice as long as so many bytes; 0: no longer
  std::uint32_t dirty_ways = 0;  // lines of a set that may be dirty, the oldest is written back; 0: all
  std::uint32_t atomics_per_cycle = 1;  // per slice: lanes; without atomic_turn_bytes
  std::uint32_t chunks = 1;             // neighbouring pieces of 256 bytes that a slice has, in turns with another one
  // Lanes of an atomic that meet on one word of a sector take turns, each as long as so many bytes; 0: they do not.
  std::uint32_t atomic_turn_bytes = 0;
  // A store to a sector that the other half of the GPU has read takes a slice as long as so many bytes; 0: no longer.
  std::uint32_t shared_write_bytes = 0;
  std::string replacement = "lru";  // a file in src/sim/cycle/memory/replacement
};

// Translation of addresses: what an SM remembers, and what a page that it does not know costs.
struct TlbConfig {
  std::uint32_t entries = 0;  // pages; 0: translation costs nothing
  std::uint32_t page_bytes = 2 * 1024 * 1024;
  std::uint32_t latency = 0;   // cycles of a miss
  std::uint32_t interval = 0;  // cycles between two misses of an SM that are served, while all SMs miss
};

enum class Topology : std::uint8_t { crossbar, mesh };

struct NocConfig {
  Topology topology = Topology::crossbar;
  std::uint32_t latency = 40;            // one way, unloaded (mesh: of injection and ejection, hops come on top)
  std::uint32_t bytes_per_cycle = 32;    // per port or link
  std::uint32_t sm_bytes_per_cycle = 0;  // an SM's port, where it is narrower; 0: the same
  std::uint32_t hop_latency = 4;         // mesh: a router and its link
  std::uint32_t far_latency = 0;  // further cycles to slices in the other half of L2; latencies are means of both

  [[nodiscard]] std::uint32_t sm_port() const { return sm_bytes_per_cycle != 0 ? sm_bytes_per_cycle : bytes_per_cycle; }
};

struct DramConfig {
  std::uint32_t channels = 4;
  std::uint32_t clock_mhz = 1750;      // clock of commands
  std::uint32_t bytes_per_clock = 32;  // width of a channel's data bus, per command clock
  std::uint32_t banks = 16;
  std::uint32_t row_bytes = 2048;
  std::uint32_t latency = 400;        // latency of a load that opens a row, without other load, in SM cycles
  std::string scheduler = "fr_fcfs";  // a file in src/sim/cycle/dram/schedulers
  std::uint32_t commands_per_clock = 1;
  std::uint32_t read_queue = 64;
  std::uint32_t write_queue = 64;
  std::uint32_t tCL = 12, tRP = 12, tRC = 40, tRAS = 28, tRCD = 12, tRRD = 6, tWR = 12, tWTR = 5;
  std::uint32_t tREFI = 0, tRFC = 0;  // every tREFI clocks no command for tRFC; 0: never

  [[nodiscard]] double peak_bytes_per_second() const {
    return static_cast<double>(channels) * clock_mhz * 1e6 * bytes_per_clock;
  }
};

// Energy of one event in picojoules and static power in milliwatts; the YAML names the source of each value.
struct PowerConfig {
  std::array<std::uint32_t, kUnits> lane_operation_pj{};  // one lane of one instruction, by unit
  std::uint32_t instruction_pj = 0;                       // fetch, decode and issue of one warp instruction
  std::uint32_t register_access_pj = 0;                   // one 32-bit lane operand
  std::uint32_t shared_access_pj = 0;                     // one 32-bit lane
  std::uint32_t l1_sector_pj = 0;
  std::uint32_t l2_sector_pj = 0;
  std::uint32_t noc_flit_pj = 0;
  std::uint32_t dram_sector_pj = 0;
  std::uint32_t sm_static_mw = 0;    // an SM that is on
  std::uint32_t sm_gated_mw = 0;     // an SM that is gated
  std::uint32_t rest_static_mw = 0;  // L2, interconnect, memory controllers, DRAM background, board
  std::uint32_t wake_cycles = 0;     // to switch a gated SM on
};

// The link to the host, for the time of transfers. The default is PCI Express 3.0 with 16 lanes.
struct HostLinkConfig {
  std::uint64_t latency_ps = 10'000'000;         // latency of a copy
  std::uint64_t bytes_per_microsecond = 12'000;  // 12 GB/s
};

struct GpuConfig {
  std::string name;
  std::string about;
  bool assembled = false;            // code in the order an assembler issues it; else as PTX has it
  std::uint32_t block_interval = 0;  // cycles between the starts of two blocks on one SM, where one follows another
  std::uint32_t launch_latency = 0;  // cycles from a launch's arrival until its first block may start
  SmConfig sm;
  SharedMemoryConfig shared;
  InstructionCacheConfig icache;
  ConstantCacheConfig constant;
  TextureCacheConfig texture;
  L1Config l1;
  L2Config l2;
  TlbConfig tlb;
  NocConfig noc;
  DramConfig dram;
  PowerConfig power;
  HostLinkConfig host;
  std::string source;  // the text it was read from; a caller that changes a field afterwards clears it
};

}  // namespace wm::gpu

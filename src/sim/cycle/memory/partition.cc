#include "sim/cycle/memory/partition.h"

#include <algorithm>

#include "exec/global_port.h"
#include "sim/cycle/memory/atomic_turns.h"

namespace wm::sim {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint64_t kNeverCycle = ~std::uint64_t{0};

DramSpec dram_spec(const gpu::DramConfig& d) {
  return {.banks = d.banks,
          .row_bytes = d.row_bytes,
          .bytes_per_clock = d.bytes_per_clock,
          .tCL = d.tCL,
          .tRP = d.tRP,
          .tRC = d.tRC,
          .tRAS = d.tRAS,
          .tRCD = d.tRCD,
          .tRRD = d.tRRD,
          .tWR = d.tWR,
          .tWTR = d.tWTR,
          .tREFI = d.tREFI,
          .tRFC = d.tRFC};
}

std::uint32_t cycles(std::uint32_t bytes, std::uint32_t per_cycle) { return (bytes + per_cycle - 1) / per_cycle; }

// The sectors, and for each the other one of its aligned pair.
Sectors with_neighbours(Sectors s) { return static_cast<Sectors>(s | (s & 0x5) << 1 | (s & 0xa) >> 1); }

}  // namespace

Partition::Partition(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t /*channel*/)
    : map_(config),
      timing_(timing),
      sm_mhz_(config.sm.clock_mhz),
      dram_mhz_(config.dram.clock_mhz),
      port_bytes_(config.noc.bytes_per_cycle),
      slice_bytes_(config.l2.bytes_per_cycle),
      partial_write_bytes_(config.l2.partial_write_bytes),
      fetches_pairs_(config.l2.fetch_bytes == 2 * kSectorBytes),
      shared_write_bytes_(config.l2.shared_write_bytes),
      atomics_per_cycle_(config.l2.atomics_per_cycle),
      atomic_turn_bytes_(config.l2.atomic_turn_bytes),
      dram_(dram_spec(config.dram),
            {.reads = config.dram.read_queue,
             .writes = config.dram.write_queue,
             .commands_per_clock = config.dram.commands_per_clock},
            config.dram.scheduler) {
  TagSpec tags = tag_spec(config.l2.bytes / config.l2.slices, kLineBytes, config.l2.ways, config.l2.replacement);
  tags.dirty_ways = config.l2.dirty_ways;
  const MshrSpec mshrs{.entries = config.l2.mshrs, .waiters = config.l2.mshr_waiters};
  slices_.reserve(config.l2.slices / config.dram.channels);
  for (std::uint32_t i = 0; i < config.l2.slices / config.dram.channels; ++i) slices_.emplace_back(tags, mshrs);
}

// Sorts by arrival and then by the SM's index, so that the order does not depend on the simulation's threads. Messages
// of one SM that arrive together, such as those that waited for the same page, stay in the order in which they were
// sent: a thread's atomics on one word must take effect in the program's order.
void Partition::sort_inbox(std::uint64_t until) {
  std::stable_sort(inbox_.begin(), inbox_.end(),
                   [](const Message& a, const Message& b) { return a.time != b.time ? a.time < b.time : a.sm < b.sm; });
  // Messages that arrive later stay in the inbox: one that is sent after them may still arrive before them.
  std::size_t due = 0;
  for (; due < inbox_.size() && inbox_[due].time < until; ++due) {
    Message& m = inbox_[due];
    m.slice = static_cast<std::uint16_t>(map_.slice_in_channel(m.line));
    slices_[m.slice].queue.push_back(m);
  }
  inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(due));
}

std::uint64_t Partition::start_of(const Slice& slice) const {
  if (slice.queue.empty() || slice.stalled) return kNeverCycle;
  return std::max(slice.queue.front().time, slice.free_at);
}

void Partition::run(std::uint64_t until, std::vector<Message>& replies) {
  sort_inbox(until);
  const std::uint64_t later = inbox_.empty() ? kNeverCycle : inbox_.front().time;
  while (true) {
    Slice* first = &slices_.front();
    std::uint64_t start = kNeverCycle;
    for (Slice& s : slices_) {
      const std::uint64_t at = start_of(s);
      if (at < start) {
        start = at;
        first = &s;
      }
    }
    const std::uint64_t filled = done_.empty() ? kNeverCycle : done_.front().at;
    const std::uint64_t horizon = std::min({start, filled, until});
    if (dram_due(horizon)) {
      run_dram(horizon);
      continue;
    }
    if (horizon >= until) {
      next_ = std::min({start, filled, later, dram_next_ == kNeverCycle ? kNeverCycle : to_sm(dram_next_)});
      return;
    }
    if (filled <= start) {
      const DramDone done = done_.front();
      done_.pop_front();
      fill(done, replies);
    } else {
      serve(*first, start, replies);
    }
  }
}

void Partition::run_dram(std::uint64_t horizon) {
  const std::size_t before = done_.size();
  dram_next_ = dram_.advance(to_dram(horizon), done_);
  for (std::size_t i = before; i < done_.size(); ++i) done_[i].at = to_sm(done_[i].at) + timing_.dram;
  if (has_stalled()) unstall(to_sm(dram_.now()));  // a finished request has freed an entry of the queue
}

// Whether anything waits for an entry of the DRAM's queues or of the MSHRs.
bool Partition::has_stalled() const {
  return !late_writes_.empty() || std::any_of(slices_.begin(), slices_.end(), [](const Slice& s) { return s.stalled; });
}

void Partition::serve(Slice& slice, std::uint64_t start, std::vector<Message>& replies) {
  const Message m = slice.queue.front();
  const bool taken =
      m.kind == MessageKind::write ? serve_write(slice, m, start, replies) : serve_read(slice, m, start, replies);
  if (!taken) {
    slice.stalled = true;
    return;
  }
  slice.queue.pop_front();
  PartitionCounters& c = counters_[m.kernel];
  c.l2_sectors += sector_count(m.sectors);
  std::uint32_t bytes = bytes_of(slice, m);
  std::uint32_t lane_cycles = 0;
  if (m.kind == MessageKind::atomic) {
    const std::uint32_t turns = apply(m);
    bytes = std::max(bytes, turns * atomic_turn_bytes_);
    if (atomic_turn_bytes_ == 0) lane_cycles = cycles(m.lanes, atomics_per_cycle_);
    c.atomics += m.lanes;
  }
  slice.free_at = start + std::max(slice.passes(bytes, slice_bytes_, start), lane_cycles);
}

std::uint32_t Partition::bytes_of(Slice& slice, const Message& m) const {
  const std::uint32_t bytes = data_bytes(m.sectors);
  const bool returns = m.atomic != nullptr && m.atomic->destination != nullptr;
  if ((m.kind != MessageKind::write && !returns) || m.moved) return bytes;
  if (shared_write_bytes_ != 0 && slice.tags.recall(half_of(m), m.line, m.sectors))
    return std::max(bytes, shared_write_bytes_);
  return m.kind == MessageKind::write && m.lanes * 4U < bytes ? std::max(bytes, partial_write_bytes_) : bytes;
}

// A request that does not fill its last cycle leaves the rest of it to the next one, if that follows at once.
std::uint32_t Partition::Slice::passes(std::uint32_t bytes, std::uint32_t per_cycle, std::uint64_t start) {
  if (start > free_at) begun = 0;
  if (bytes <= per_cycle) return 1;
  const std::uint32_t total = bytes + begun;
  begun = total % per_cycle;
  return total / per_cycle;
}

// Atomics take effect in the order the slice takes requests, whether their line is there yet or not.
std::uint32_t Partition::apply(const Message& m) {
  if (m.atomic == nullptr) return 0;
  const AtomicTurns taken = atomic_turns(*m.atomic, m.line, m.combined);
  m.atomic->apply(taken.lanes);
  return taken.turns;
}

bool Partition::serve_read(Slice& slice, const Message& m, std::uint64_t start, std::vector<Message>& replies) {
  const Sectors wanted = fetches_pairs_ ? with_neighbours(m.sectors) : m.sectors;
  const Sectors present = slice.tags.lookup(m.line, wanted);
  Sectors missing = static_cast<Sectors>(m.sectors & ~present);
  if (missing == 0) {
    if (m.kind == MessageKind::atomic) {
      slice.tags.write(m.line, m.sectors);
      clean(slice, m, start);
    }
    note_reader(slice, m);
    reply(slice, m, start + timing_.l2, replies);
    return true;
  }
  if (!dram_.accepts(false)) return false;
  if (fetches_pairs_) missing = static_cast<Sectors>(with_neighbours(missing) & ~present);
  const std::uint32_t token = new_pending(m);
  const Mshrs::Outcome outcome = slice.mshrs.accept(m.line, missing, token);
  if (!outcome.accepted) {
    pending_[token].next_free = free_pending_;
    free_pending_ = token;
    return false;
  }
  counters_[m.kernel].l2_misses += sector_count(missing);
  if (outcome.opened && slice.tags.peek(m.line, 0xf) == 0) ++counters_[m.kernel].l2_line_misses;
  if (outcome.send != 0) {
    counters_[m.kernel].dram_read_sectors += sector_count(outcome.send);
    // The DRAM's token names the line and sectors by a pending of its own, freed by the fill.
    Message fetch = m;
    fetch.sectors = outcome.send;
    push_dram(m.line, outcome.send, new_pending(fetch), false, start, m.kernel);
  }
  return true;
}

// L2 is write-back: a store makes its sectors present and dirty without fetching them.
bool Partition::serve_write(Slice& slice, const Message& m, std::uint64_t start, std::vector<Message>& replies) {
  if (late_writes_.size() >= slices_.size() * 8) return false;
  const Sectors present = slice.tags.write(m.line, m.sectors);
  if (present != m.sectors) {
    if (slice.tags.peek(m.line, 0xf) == 0) ++counters_[m.kernel].l2_line_misses;
    const Tags::Evicted evicted = slice.tags.fill(m.line, m.sectors, true);
    if (evicted.dirty != 0) write_back(evicted.line, evicted.dirty, m.kernel, start);
  }
  clean(slice, m, start);
  Message acknowledge = m;
  acknowledge.sectors = 0;
  acknowledge.missed = static_cast<std::uint8_t>(__builtin_popcount(static_cast<Sectors>(m.sectors & ~present)));
  reply(slice, acknowledge, start + timing_.l2, replies);
  return true;
}

void Partition::reply(Slice& slice, const Message& m, std::uint64_t ready, std::vector<Message>& replies) {
  const std::uint64_t leaves = std::max(ready, slice.reply_free);
  const std::uint32_t flits = cycles(data_bytes(m.sectors) + kHeaderBytes, port_bytes_);
  slice.reply_free = leaves + flits;
  Message r = m;
  r.time = leaves + flits + timing_.noc;
  replies.push_back(r);
}

void Partition::fill(const DramDone& done, std::vector<Message>& replies) {
  const std::uint64_t at = done.at;
  const Message fetch = pending_[done.token].message;
  pending_[done.token].next_free = free_pending_;
  free_pending_ = done.token;
  Slice& slice = slices_[fetch.slice];
  const Tags::Evicted evicted = slice.tags.fill(fetch.line, fetch.sectors, fetch.kind == MessageKind::atomic);
  if (evicted.dirty != 0) write_back(evicted.line, evicted.dirty, fetch.kernel, at);
  if (fetch.kind == MessageKind::atomic) clean(slice, fetch, at);
  slice.mshrs.fill(fetch.line, fetch.sectors, [&](std::uint32_t token) {
    Message m = pending_[token].message;
    m.missed = static_cast<std::uint8_t>(sector_count(m.sectors));
    pending_[token].next_free = free_pending_;
    free_pending_ = token;
    note_reader(slice, m);
    reply(slice, m, at + timing_.l2, replies);
  });
  unstall(at);
}

void Partition::unstall(std::uint64_t at) {
  while (!late_writes_.empty() && dram_.accepts(true)) {
    dram_.push(late_writes_.front());
    late_writes_.pop_front();
    dram_next_ = 0;
  }
  for (Slice& s : slices_)
    if (s.stalled) {
      s.stalled = false;
      s.free_at = std::max(s.free_at, at);
    }
}

void Partition::clean(Slice& slice, const Message& m, std::uint64_t at) {
  const Tags::Evicted cleaned = slice.tags.clean(m.line);
  if (cleaned.dirty != 0) write_back(cleaned.line, cleaned.dirty, m.kernel, at);
}

void Partition::write_back(LineAddress line, Sectors sectors, std::uint8_t kernel, std::uint64_t at) {
  counters_[kernel].dram_write_sectors += sector_count(sectors);
  push_dram(line, sectors, kNone, true, at, kernel);
}

void Partition::push_dram(LineAddress line, Sectors sectors, std::uint32_t token, bool write, std::uint64_t at,
                          std::uint8_t kernel) {
  const AddressMap::Place p = map_.place(line);
  const DramRequest r{.row = p.row,
                      .arrived = to_dram(at),
                      .bank = p.bank,
                      .bytes = data_bytes(sectors),
                      .token = token,
                      .write = write,
                      .kernel = kernel};
  if (write && !dram_.accepts(true)) {
    late_writes_.push_back(r);
    return;
  }
  dram_.push(r);
  dram_next_ = 0;  // unknown; computed again before the next step
}

std::uint32_t Partition::new_pending(const Message& m) {
  if (free_pending_ == kNone) {
    pending_.push_back({m, kNone});
    return static_cast<std::uint32_t>(pending_.size() - 1);
  }
  const std::uint32_t i = free_pending_;
  free_pending_ = pending_[i].next_free;
  pending_[i].message = m;
  return i;
}

}  // namespace wm::sim

#include "sim/cycle/sm/lsu.h"

#include <algorithm>

namespace wm::sim {
namespace {

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

std::uint32_t cycles(std::uint32_t bytes, std::uint32_t per_cycle) { return (bytes + per_cycle - 1) / per_cycle; }

}  // namespace

Lsu::Lsu(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm)
    : timing_(timing),
      l1_bytes_(config.l1.bytes_per_cycle),
      lookups_(config.l1.lookups_per_cycle),
      shared_latency_(config.shared.latency),
      port_bytes_(config.noc.sm_port()),
      stores_allowed_(config.l1.stores_in_flight),
      store_policy_(config.l1.store),
      sm_(sm),
      far_latency_(config.noc.far_latency),
      tlb_(config.tlb, sm, config.sm.count),
      l1_{.present = config.l1.caches_global,
          .latency = config.l1.latency,
          .tags = Tags(tag_spec(config.l1.bytes, kLineBytes, config.l1.ways, config.l1.replacement)),
          .mshrs = Mshrs({.entries = config.l1.mshrs, .waiters = config.l1.mshr_waiters})},
      texture_{
          .present = config.texture.bytes != 0,
          .latency = config.texture.latency,
          .tags = Tags(tag_spec(config.texture.bytes, kLineBytes, config.texture.ways, config.texture.replacement)),
          .mshrs = Mshrs({.entries = config.texture.bytes == 0 ? 1 : config.texture.mshrs,
                          .waiters = config.texture.mshr_waiters})} {}

std::uint32_t Lsu::new_load() {
  if (free_load_ == kNoLoad) {
    loads_.push_back({});
    return static_cast<std::uint32_t>(loads_.size() - 1);
  }
  const std::uint32_t i = free_load_;
  free_load_ = loads_[i].next_free;
  loads_[i] = {};
  return i;
}

void Lsu::release(std::uint32_t load) {
  loads_[load].next_free = free_load_;
  free_load_ = load;
}

void Lsu::send(LineAddress line, Sectors sectors, MessageKind kind, std::uint32_t token, std::uint8_t kernel,
               std::uint8_t lanes, std::uint64_t at, SmCounters& counters) {
  const std::uint32_t bytes = kHeaderBytes + (kind == MessageKind::read ? 0 : data_bytes(sectors));
  const std::uint32_t flits = cycles(bytes, port_bytes_);
  const std::uint64_t leaves = std::max(at + timing_.miss, port_free_);
  port_free_ = leaves + flits;
  ++in_flight_[kernel];
  ++counters.requests;
  counters.noc_flits += flits;
  outbox_.push_back({.time = tlb_.translate(line, leaves) + timing_.noc + distance(line),
                     .line = line,
                     .token = token,
                     .sm = sm_,
                     .kernel = kernel,
                     .kind = kind,
                     .sectors = sectors,
                     .lanes = lanes});
}

Lsu::LineState Lsu::look_up(const LineAccess& a, const Access& access, std::uint32_t load, std::uint64_t at,
                            SmCounters& counters) {
  if (access.kind == MessageKind::read)
    return read(access.read_only && texture_.present ? texture_ : l1_, a, access, load, at, counters);
  if (stores_ >= stores_allowed_) return LineState::refused;
  ++stores_;
  // An atomic is executed at L2: the line in L1 is stale afterwards.
  if (access.kind == MessageKind::atomic || store_policy_ == gpu::StorePolicy::write_evict) l1_.tags.invalidate(a.line);
  const bool atomic = access.kind == MessageKind::atomic;
  const std::uint32_t words = atomic ? a.lanes : std::min<std::uint32_t>(255, a.lanes * access.lane_words);
  send(a.line, a.sectors, access.kind, load, access.kernel, static_cast<std::uint8_t>(words), at, counters);
  outbox_.back().atomic = access.atomic;
  outbox_.back().combined = access.combined;
  return LineState::coming;
}

Lsu::LineState Lsu::read(Cache& cache, const LineAccess& a, const Access& access, std::uint32_t load, std::uint64_t at,
                         SmCounters& counters) {
  const bool texture = &cache == &texture_;
  const Sectors present = cache.present ? cache.tags.lookup(a.line, a.sectors) : Sectors{0};
  const Sectors missing = static_cast<Sectors>(a.sectors & ~present);
  Mshrs::Outcome outcome;
  if (missing != 0) {
    outcome = cache.mshrs.accept(a.line, missing, load);
    if (!outcome.accepted) return LineState::refused;
  }
  (texture ? counters.texture_sectors : counters.l1_sectors) += sector_count(a.sectors);
  if (missing == 0) return LineState::present;
  (texture ? counters.texture_misses : counters.l1_misses) += sector_count(missing);
  if (outcome.send != 0) {
    send(a.line, outcome.send, MessageKind::read, load, access.kernel, a.lanes, at, counters);
    outbox_.back().texture = texture;
  }
  return LineState::coming;
}

Lsu::Issued Lsu::access(const Access& access, const Coalesced& lines, std::uint64_t now, SmCounters& counters) {
  const std::uint32_t load = access.returns ? new_load() : kNoLoad;
  const std::uint64_t begin = std::max(now, free_at_);
  std::uint64_t at = begin;
  std::uint32_t coming = 0;
  for (std::uint32_t i = 0; i < lines.count; ++i) {
    const LineAccess& a = lines.lines[i];
    // While an access waits, all later ones wait behind it.
    const LineState state = blocked() ? LineState::refused : look_up(a, access, load, at, counters);
    if (state == LineState::refused) waiting_.push_back({a, load, access});
    if (state != LineState::present) ++coming;
    at = lookups_ == 1 ? at + std::max(1U, cycles(data_bytes(a.sectors), l1_bytes_)) : begin + (i + 1) / lookups_;
  }
  if (lookups_ > 1) at = begin + std::max(access.bank_cycles, (lines.count + lookups_ - 1) / lookups_);
  free_at_ = at;
  if (!access.returns) return {now, kNoLoad};
  if (coming == 0) {
    release(load);
    return {at - 1 + (access.read_only && texture_.present ? texture_ : l1_).latency, kNoLoad};
  }
  loads_[load].lines = coming;
  return {kUnknown, load};
}

std::uint32_t Lsu::move(MessageKind kind, std::uint64_t bytes, LineAddress from, std::uint8_t kernel) {
  const std::uint32_t load = new_load();
  const auto lines = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (bytes + kLineBytes - 1) / kLineBytes));
  loads_[load].lines = lines;
  moves_.push_back({from, lines, load, kind, kernel});
  return load;
}

// Half of the port's time goes to moves. They bypass L1: a read has no MSHR, and its reply is recognised by `moved`.
void Lsu::pump(std::uint64_t now, std::uint64_t budget, SmCounters* counters) {
  const std::uint32_t flits = cycles(kLineBytes + kHeaderBytes, port_bytes_);
  std::uint64_t lines = std::max<std::uint64_t>(1, budget / (2 * flits));
  while (lines != 0 && !moves_.empty()) {
    Move& m = moves_.front();
    for (; lines != 0 && m.lines != 0; --lines, --m.lines) {
      ++stores_;
      send(m.next++, 0xf, m.kind, m.load, m.kernel, 0, now, counters[m.kernel]);
      outbox_.back().moved = true;
    }
    if (m.lines == 0) moves_.erase(moves_.begin());
  }
}

std::uint64_t Lsu::replied(const Message& reply, std::vector<std::uint32_t>& done, SmCounters* counters) {
  --in_flight_[reply.kernel];
  (reply.kind == MessageKind::write ? counters[reply.kernel].l2_write_misses : counters[reply.kernel].l2_misses) +=
      reply.missed;
  const std::uint32_t flits = cycles(data_bytes(reply.sectors) + kHeaderBytes, port_bytes_);
  const std::uint64_t at = std::max(reply.time, arrive_free_) + flits;
  arrive_free_ = at;
  const auto arrived = [&](std::uint32_t load) {
    if (load != kNoLoad && --loads_[load].lines == 0) done.push_back(load);
  };
  if (reply.kind != MessageKind::read || reply.moved) {
    --stores_;
    arrived(reply.token);
    return at;
  }
  Cache& cache = reply.texture ? texture_ : l1_;
  if (cache.present) cache.tags.fill(reply.line, reply.sectors, false);
  cache.mshrs.fill(reply.line, reply.sectors, arrived);
  return at;
}

void Lsu::resume(std::uint64_t now, SmCounters* counters, std::vector<std::uint32_t>& done) {
  std::size_t served = 0;
  std::uint64_t at = std::max(now, free_at_);
  for (; served < waiting_.size(); ++served) {
    const Waiting& w = waiting_[served];
    const LineState state = look_up(w.line, w.access, w.load, at, counters[w.access.kernel]);
    if (state == LineState::refused) break;
    // Another reply brought the line while the access waited.
    if (state == LineState::present && w.load != kNoLoad && --loads_[w.load].lines == 0) done.push_back(w.load);
    ++at;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(served));
  if (served != 0) free_at_ = at;
}

}  // namespace wm::sim

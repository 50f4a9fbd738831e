#include "sim/cycle/chip.h"

#include <algorithm>
#include <utility>

namespace wm::sim {

Chip::Chip(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t threads)
    : config_(config),
      map_(config),
      host_threads_(threads),
      left_(config.sm.count),
      requests_(config.sm.count, config.dram.channels),
      replies_(config.dram.channels, config.sm.count),
      outgoing_(config.dram.channels),
      grain_(timing.noc),
      ahead_(timing.miss + timing.noc),
      reach_(timing.round_trip) {
  for (std::uint32_t i = 0; i < config.sm.count; ++i)
    sms_.push_back(std::make_unique<Sm>(config_, timing, static_cast<std::uint16_t>(i)));
  for (std::uint32_t i = 0; i < config.dram.channels; ++i)
    partitions_.push_back(std::make_unique<Partition>(config_, timing, i));
  if (config.noc.topology == gpu::Topology::mesh) {
    const MeshSpec spec{.sms = config.sm.count,
                        .channels = config.dram.channels,
                        .hop_latency = config.noc.hop_latency,
                        .bytes_per_cycle = config.noc.bytes_per_cycle};
    requests_mesh_.emplace(spec);
    replies_mesh_.emplace(spec);
  }
}

// In the SMs' time: partitions run ahead of the SMs, so their events are shifted by that lead.
std::uint64_t Chip::next_event() const {
  std::uint64_t next = ~std::uint64_t{0};
  for (const auto& p : partitions_) next = std::min(next, p->next_event());
  if (next != ~std::uint64_t{0}) next -= ahead_;
  for (const auto& sm : sms_) next = std::min(next, sm->next_event());
  return next;
}

// Only when no unit has work: the ends of quanta must not depend on polling within an SM.
void Chip::skip_idle(std::uint64_t limit) {
  if (next_event() == ~std::uint64_t{0}) now_ = std::max(now_, limit);
}

template <typename Units>
void Chip::find_busy(const Units& units, const Exchange& messages, std::uint64_t until) {
  busy_.clear();
  for (std::uint32_t i = 0; i < units.size(); ++i)
    if (messages.waits_for(i) || units[i]->next_event() < until) busy_.push_back(i);
}

void Chip::run_sm(std::uint32_t i, std::uint64_t until) {
  Sm& sm = *sms_[i];
  replies_.take(i, [&](const Message& m) { sm.receive(m); });
  if (sm.next_event() >= until) return;
  sm.run(now_, until);
  left_[i] = {.has_events = sm.has_events(), .has_stores = sm.has_stores()};
  requests_.send(i, sm.outbox(), [&](const Message& m) { return map_.channel_of_slice(map_.slice(m.line)); });
  sm.outbox().clear();
}

void Chip::run_partition(std::uint32_t i, std::uint64_t until) {
  Partition& partition = *partitions_[i];
  requests_.take(i, [&](const Message& m) { partition.receive(m); });
  if (partition.next_event() >= until) return;
  partition.run(until, outgoing_[i]);
  replies_.send(i, outgoing_[i], [](const Message& m) { return m.sm; });
  outgoing_[i].clear();
}

// Stores become visible to all SMs before partitions execute atomics: never while a block runs.
void Chip::publish_stores() {
  for (std::uint32_t i = 0; i < sms_.size(); ++i)
    if (std::exchange(left_[i].has_stores, false)) sms_[i]->publish();
}

void Chip::run(std::uint64_t length) {
  const std::uint64_t end = now_ + length;
  find_busy(sms_, replies_, end);
  host_threads_.run(static_cast<std::uint32_t>(busy_.size()), [&](std::uint32_t i) { run_sm(busy_[i], end); });
  publish_stores();
  send_requests();
  find_busy(partitions_, requests_, end + ahead_);
  host_threads_.run(static_cast<std::uint32_t>(busy_.size()),
                    [&](std::uint32_t i) { run_partition(busy_[i], end + ahead_); });
  send_replies();
  now_ = end;
}

namespace {

// Messages sent in a quantum cross a mesh in the order of time: each message's time becomes that of its arrival
// behind the last hop.
using Sent = std::vector<std::pair<Message*, std::uint32_t>>;  // with its channel
void sort_by_time(Sent& sent) {
  std::stable_sort(sent.begin(), sent.end(), [](const auto& a, const auto& b) {
    if (a.first->time != b.first->time) return a.first->time < b.first->time;
    return a.first->sm != b.first->sm ? a.first->sm < b.first->sm : a.second < b.second;
  });
}

}  // namespace

void Chip::send_requests() {
  if (requests_mesh_) {
    Sent sent;
    requests_.visit([&](Message& m, std::uint32_t channel) { sent.emplace_back(&m, channel); });
    sort_by_time(sent);
    for (const auto& [m, channel] : sent) {
      const std::uint32_t bytes = kHeaderBytes + (m->kind == MessageKind::read ? 0 : data_bytes(m->sectors));
      m->time = requests_mesh_->travel(requests_mesh_->node_of_sm(m->sm), requests_mesh_->node_of_channel(channel),
                                       m->time, bytes);
    }
    requests_.update_first();
  }
  requests_.close([&](std::uint32_t channel, std::uint64_t time) { partitions_[channel]->expect(time); });
}

void Chip::send_replies() {
  if (replies_mesh_) {
    Sent sent;
    replies_.visit(
        [&](Message& m, std::uint32_t) { sent.emplace_back(&m, map_.channel_of_slice(map_.slice(m.line))); });
    sort_by_time(sent);
    for (const auto& [m, channel] : sent)
      m->time = replies_mesh_->travel(replies_mesh_->node_of_channel(channel), replies_mesh_->node_of_sm(m->sm),
                                      m->time, kHeaderBytes + data_bytes(m->sectors));
    replies_.update_first();
  }
  replies_.close([&](std::uint32_t sm, std::uint64_t time) { sms_[sm]->expect(time); });
}

}  // namespace wm::sim

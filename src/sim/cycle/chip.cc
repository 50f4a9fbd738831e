#include "sim/cycle/chip.h"

#include <algorithm>

namespace wm::sim {

Chip::Chip(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t threads)
    : config_(config), map_(config), crew_(threads), replies_(config.dram.channels), quantum_(timing.noc) {
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

std::uint64_t Chip::next_event() const {
  std::uint64_t next = ~std::uint64_t{0};
  for (const auto& sm : sms_) next = std::min(next, sm->next_event());
  for (const auto& p : partitions_) next = std::min(next, p->next_event());
  return next;
}

void Chip::skip_idle(std::uint64_t limit) {
  const std::uint64_t next = std::min(next_event(), limit);
  if (next > now_ + quantum_) now_ += (next - now_) / quantum_ * quantum_;
}

std::uint64_t Chip::run_quantum() {
  const std::uint64_t end = now_ + quantum_;
  crew_.run(static_cast<std::uint32_t>(sms_.size()), [&](std::uint32_t i) {
    if (sms_[i]->next_event() < end) sms_[i]->run(now_, end);
  });
  // Stores become everybody's before partitions execute atomics: never while a block runs.
  for (const auto& sm : sms_) sm->publish();
  crew_.run(static_cast<std::uint32_t>(partitions_.size()), [&](std::uint32_t i) {
    if (partitions_[i]->next_event() < end) partitions_[i]->run(end, replies_[i]);
  });
  now_ = end;
  exchange();
  return now_;
}

// What was sent in this quantum crosses the mesh in the order of time, both ways: each message's time becomes that of
// its arrival behind the last hop.
void Chip::cross_mesh() {
  std::vector<std::pair<Message*, std::uint32_t>> sent;  // with its channel
  const auto earlier = [](const auto& a, const auto& b) {
    if (a.first->time != b.first->time) return a.first->time < b.first->time;
    return a.first->sm != b.first->sm ? a.first->sm < b.first->sm : a.second < b.second;
  };
  const auto channel_of = [&](const Message& m) { return map_.channel_of_slice(map_.slice(m.line)); };
  for (const auto& sm : sms_)
    for (Message& m : sm->outbox()) sent.emplace_back(&m, channel_of(m));
  std::stable_sort(sent.begin(), sent.end(), earlier);
  for (const auto& [m, channel] : sent) {
    const std::uint32_t bytes = kHeaderBytes + (m->kind == MessageKind::read ? 0 : data_bytes(m->sectors));
    m->time = requests_mesh_->travel(requests_mesh_->node_of_sm(m->sm), requests_mesh_->node_of_channel(channel),
                                     m->time, bytes);
  }
  sent.clear();
  for (std::uint32_t p = 0; p < replies_.size(); ++p)
    for (Message& m : replies_[p]) sent.emplace_back(&m, p);
  std::stable_sort(sent.begin(), sent.end(), earlier);
  for (const auto& [m, channel] : sent)
    m->time = replies_mesh_->travel(replies_mesh_->node_of_channel(channel), replies_mesh_->node_of_sm(m->sm), m->time,
                                    kHeaderBytes + data_bytes(m->sectors));
}

void Chip::exchange() {
  if (requests_mesh_) cross_mesh();
  for (const auto& sm : sms_) {
    for (const Message& m : sm->outbox()) partitions_[map_.channel_of_slice(map_.slice(m.line))]->receive(m);
    sm->outbox().clear();
  }
  for (std::vector<Message>& replies : replies_) {
    for (const Message& m : replies) sms_[m.sm]->receive(m);
    replies.clear();
  }
}

}  // namespace wm::sim

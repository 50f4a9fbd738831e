#include "exec/global_port.h"

#include <algorithm>
#include <cstring>

namespace wm::exec {

const GlobalPort::Piece* GlobalPort::find(std::size_t number) const {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash(number) & mask; table_[i] != 0; i = (i + 1) & mask)
    if (GlobalPort::number(pieces_[table_[i] - 1].at) == number) return &pieces_[table_[i] - 1];
  return nullptr;
}

GlobalPort::Piece& GlobalPort::piece(std::byte* at) {
  if (pieces_.size() * 2 >= table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash(number(at)) & mask;
  for (; table_[i] != 0; i = (i + 1) & mask)
    if (pieces_[table_[i] - 1].at == at) return pieces_[table_[i] - 1];
  pieces_.emplace_back().at = at;
  table_[i] = static_cast<std::uint32_t>(pieces_.size());
  touched_.set(number(at) % kBuckets);
  return pieces_.back();
}

void GlobalPort::grow() {
  table_.assign(std::max<std::size_t>(256, table_.size() * 2), 0);
  const std::size_t mask = table_.size() - 1;
  for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
    std::size_t i = hash(number(pieces_[p].at)) & mask;
    while (table_[i] != 0) i = (i + 1) & mask;
    table_[i] = p + 1;
  }
}

void GlobalPort::store(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  while (bytes != 0) {
    const auto offset = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(to) % 32);
    const std::uint32_t part = std::min(bytes, 32 - offset);
    Piece& p = piece(to - offset);
    std::memcpy(p.bytes.data() + offset, from, part);
    p.held |= static_cast<std::uint32_t>(((std::uint64_t{1} << part) - 1) << offset);
    to += part;
    from += part;
    bytes -= part;
  }
}

void GlobalPort::read(const std::byte* from, std::byte* to, std::uint32_t bytes) const {
  std::memcpy(to, from, bytes);
  for (std::uint32_t done = 0; done < bytes && !empty();) {
    const std::byte* at = from + done;
    const auto offset = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 32);
    const std::uint32_t part = std::min(bytes - done, 32 - offset);
    if (const Piece* p = find(number(at)))
      for (std::uint32_t i = 0; i < part; ++i)
        if ((p->held >> (offset + i) & 1) != 0) to[done + i] = p->bytes[offset + i];
    done += part;
  }
}

void GlobalPort::publish() {
  for (const Printed& p : printed_) (*p.sink)(p.text);
  printed_.clear();
  if (pieces_.empty()) return;
  for (const Piece& p : pieces_) {
    if (p.held == ~std::uint32_t{0}) {
      std::memcpy(p.at, p.bytes.data(), 32);
      continue;
    }
    for (std::uint32_t i = 0; i < 32; ++i)
      if ((p.held >> i & 1) != 0) p.at[i] = p.bytes[i];
  }
  pieces_.clear();
  std::fill(table_.begin(), table_.end(), 0U);
  touched_.reset();
}

PendingAtomic& GlobalPort::defer() {
  if (spare_.empty()) {
    all_.push_back(std::make_unique<PendingAtomic>());
    spare_.push_back(all_.back().get());
  }
  last_ = spare_.back();
  spare_.pop_back();
  return *last_;
}

}  // namespace wm::exec

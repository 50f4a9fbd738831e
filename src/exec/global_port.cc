#include "exec/global_port.h"

#include <algorithm>
#include <cstring>

namespace wm::exec {

void GlobalPort::store(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  log_.push_back({.to = to, .bytes = bytes, .data = static_cast<std::uint32_t>(data_.size())});
  data_.insert(data_.end(), from, from + bytes);
  for (std::uint32_t i = 0; i < bytes; i += 32) touched_.set(index(to + i));
  touched_.set(index(to + bytes - 1));
}

void GlobalPort::read(const std::byte* from, std::byte* to, std::uint32_t bytes) const {
  std::memcpy(to, from, bytes);
  for (const Store& s : log_) {
    const std::byte* begin = std::max<const std::byte*>(s.to, from);
    const std::byte* end = std::min<const std::byte*>(s.to + s.bytes, from + bytes);
    if (begin < end)
      std::memcpy(to + (begin - from), data_.data() + s.data + (begin - s.to), static_cast<std::size_t>(end - begin));
  }
}

void GlobalPort::publish() {
  for (const Store& s : log_) std::memcpy(s.to, data_.data() + s.data, s.bytes);
  if (log_.empty()) return;
  log_.clear();
  data_.clear();
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

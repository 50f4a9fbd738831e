#include "runtime/protocol/ring.h"

#include <algorithm>
#include <cstring>

#include "runtime/protocol/message.h"

namespace wm::runtime {

bool RingWriter::try_write(std::span<const std::byte> message) {
  const std::uint64_t used = written_ - positions_->read.load(std::memory_order_acquire);
  if (used > bytes_.size() || bytes_.size() - used < message.size()) return false;
  const std::size_t at = written_ % bytes_.size();
  const std::size_t first = std::min(message.size(), bytes_.size() - at);
  std::memcpy(bytes_.data() + at, message.data(), first);
  std::memcpy(bytes_.data(), message.data() + first, message.size() - first);
  written_ += message.size();
  // Sequentially consistent with the store to reader_sleeps in wait_for_message: either the reader sees the message,
  // or the writer sees that the reader sleeps.
  positions_->written.store(written_, std::memory_order_seq_cst);
  if (positions_->reader_sleeps.load(std::memory_order_seq_cst) != 0) {
    positions_->reader_sleeps.store(0, std::memory_order_relaxed);
    wake_all(positions_->reader_sleeps);
  }
  return true;
}

void RingWriter::wait_for_room(int milliseconds) {
  const std::uint64_t read = positions_->read.load(std::memory_order_acquire);
  positions_->writer_sleeps.store(1, std::memory_order_seq_cst);
  if (positions_->read.load(std::memory_order_seq_cst) == read) sleep_on(positions_->writer_sleeps, 1, milliseconds);
  positions_->writer_sleeps.store(0, std::memory_order_relaxed);
}

RingReader::Outcome RingReader::try_read(std::vector<std::byte>& message) {
  const std::uint64_t available = positions_->written.load(std::memory_order_acquire) - read_;
  if (available == 0) return Outcome::nothing;
  if (available > bytes_.size() || available < sizeof(MessageHeader)) return Outcome::broken;
  std::uint32_t size = 0;
  std::byte head[sizeof size];
  copy_out(read_, head);
  std::memcpy(&size, head, sizeof size);
  if (size < sizeof(MessageHeader) || size > available || size > kMaxMessageBytes || size % 8 != 0)
    return Outcome::broken;
  message.resize(size);
  copy_out(read_, message);
  read_ += size;
  // The client may have changed the size between the two reads; the size that was checked is the valid one.
  std::memcpy(message.data(), &size, sizeof size);
  positions_->read.store(read_, std::memory_order_seq_cst);
  if (positions_->writer_sleeps.load(std::memory_order_seq_cst) != 0) {
    positions_->writer_sleeps.store(0, std::memory_order_relaxed);
    wake_all(positions_->writer_sleeps);
  }
  return Outcome::message;
}

void RingReader::wait_for_message(int milliseconds) {
  const auto began = std::chrono::steady_clock::now();
  if (wait_awake([this] { return has_message(); }, awake_)) return awake_.note_ready();
  positions_->reader_sleeps.store(1, std::memory_order_seq_cst);
  if (positions_->written.load(std::memory_order_seq_cst) == read_)
    sleep_on(positions_->reader_sleeps, 1, milliseconds);
  positions_->reader_sleeps.store(0, std::memory_order_relaxed);
  awake_.note_pause(std::chrono::steady_clock::now() - began);
}

bool RingReader::peek(std::span<std::byte> beginning) const {
  const std::uint64_t available = positions_->written.load(std::memory_order_acquire) - read_;
  if (available > bytes_.size() || available < beginning.size()) return false;
  copy_out(read_, beginning);
  return true;
}

void RingReader::copy_out(std::uint64_t from, std::span<std::byte> to) const {
  const std::size_t at = from % bytes_.size();
  const std::size_t first = std::min(to.size(), bytes_.size() - at);
  std::memcpy(to.data(), bytes_.data() + at, first);
  std::memcpy(to.data() + first, bytes_.data(), to.size() - first);
}

}  // namespace wm::runtime

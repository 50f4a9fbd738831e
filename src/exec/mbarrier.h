// The 64-bit object behind mbarrier instructions, in shared memory.
//
// PTX leaves its bits to the implementation. Here they are the arrivals that the current phase still waits for, the
// arrivals of a phase, the bytes of asynchronous copies that are expected, and the number of the phase. A phase ends
// when there is nothing more to wait for.
#pragma once

#include <cstdint>

namespace wm::exec {

class Mbarrier {
 public:
  static constexpr std::uint32_t kMaxCount = (1U << 20) - 1;

  explicit Mbarrier(std::uint64_t word) : word_(word) {}
  static Mbarrier initial(std::uint32_t count);

  [[nodiscard]] std::uint64_t word() const { return word_; }
  [[nodiscard]] std::uint32_t pending() const { return static_cast<std::uint32_t>(word_) & kMaxCount; }
  [[nodiscard]] std::uint32_t expected() const { return static_cast<std::uint32_t>(word_ >> 20) & kMaxCount; }
  // Bytes that are expected and not yet complete; below 0 if more completed than were expected.
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(word_ << 3) >> 43; }
  [[nodiscard]] std::uint32_t phase() const { return static_cast<std::uint32_t>(word_ >> 61); }

  // These return false if the program made a mistake: more arrivals than are pending, or more bytes than an object
  // counts.
  [[nodiscard]] bool arrive(std::uint32_t count);
  // Later phases expect fewer arrivals.
  [[nodiscard]] bool drop(std::uint32_t count);
  [[nodiscard]] bool expect(std::uint32_t bytes) { return count_bytes(std::int64_t{bytes}); }
  [[nodiscard]] bool complete(std::uint32_t bytes);

 private:
  [[nodiscard]] bool count_bytes(std::int64_t by);
  void set(std::uint32_t pending, std::uint32_t expected, std::int64_t bytes, std::uint32_t phase);
  void end_phase();

  std::uint64_t word_;
};

}  // namespace wm::exec

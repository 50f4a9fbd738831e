// The epochs that a policy has requested, and the times at which idle warps are sampled within one.
//
// An epoch is due at an exact cycle: if one ends late because of a quantum, the next is shorter by that time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wm::sim {

class EpochTimer {
 public:
  static constexpr std::uint64_t kSamples = 100;  // samples per epoch, as in the QoS paper (section 4.1)

  [[nodiscard]] bool running() const { return length_ != 0; }
  [[nodiscard]] std::uint64_t began() const { return began_; }
  // When the epoch ends; ~0: there are no epochs.
  [[nodiscard]] std::uint64_t due() const { return length_ != 0 ? due_ : ~std::uint64_t{0}; }
  // Epochs of that length from `now` on; 0: none.
  void set(std::uint64_t length, std::uint64_t now) {
    length_ = length;
    due_ = now + length;
    begin(now);
  }
  // Begins an epoch and ends all earlier ones.
  void begin(std::uint64_t now) {
    began_ = now;
    samples_ = 0;
    next_sample_ = now;
  }
  // The epoch that was due at `due` has ended. It is followed by another one unless one was set meanwhile.
  void ended(std::uint64_t due, std::uint64_t now) {
    if (due_ == due) due_ = std::max(due + length_, now + 1);
  }

  [[nodiscard]] std::uint64_t next_sample() const { return next_sample_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  // True: the caller must sample idle warps now.
  [[nodiscard]] bool take_sample(std::uint64_t now) {
    if (now < next_sample_) return false;
    next_sample_ = now + std::max<std::uint64_t>(1, length_ / kSamples);
    ++samples_;
    return true;
  }

 private:
  std::uint64_t began_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t due_ = 0;
  std::uint64_t samples_ = 0;  // samples in this epoch
  std::uint64_t next_sample_ = 0;
};

}  // namespace wm::sim

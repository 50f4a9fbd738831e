// Seeded random numbers, the same bits on every host and compiler (SplitMix64).
//
// The standard's distributions differ between libraries, so the few shapes we need are written out here.
#pragma once

#include <cstdint>

namespace wm {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound); bound > 0. The bias of a 64-bit multiply-shift is below 2^-32 for bounds of 32 bits.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

  // Uniform in [low, high), with 24 random bits: exact in float.
  constexpr float uniform(float low, float high) {
    const float unit = static_cast<float>(next() >> 40) * 0x1p-24F;
    return low + (high - low) * unit;
  }

  // Uniform in [0, 1), with 53 random bits.
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace wm

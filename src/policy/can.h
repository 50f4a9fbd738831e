// Capabilities: the named actions and views that a machine may offer. A machine publishes a set, a policy declares the
// ones it needs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace wm::policy {

enum class Can : std::uint8_t {
  own_sms,             // give an SM to one kernel
  drain,               // … by letting the blocks on it end
  switch_context,      // … by saving their context
  switch_some,         // save the context of n blocks of a kernel on an SM
  cap_blocks,          // limit a kernel's blocks on an SM
  quotas,              // limit a kernel's instructions on an SM
  gate_power,          // switch an SM off
  order_launches,      // set the order in which kernels start blocks
  count_instructions,  // instructions per SM and kernel
  sample_warps,        // idle warps per SM and kernel
  sample_stalls,       // memory stalls per SM and kernel
  count_traffic,       // L2 and DRAM traffic per SM and kernel
  see_blocks           // tells of each block that ends
};
inline constexpr Can kLastCan = Can::see_blocks;

// "own_sms", and its meaning in a sentence that begins "cannot …".
std::string_view name(Can can);
std::string_view meaning(Can can);

class Cans {
 public:
  constexpr Cans() = default;
  constexpr Cans(std::initializer_list<Can> all) {
    for (const Can can : all) bits_ |= bit(can);
  }
  static constexpr Cans all() { return Cans((bit(kLastCan) << 1) - 1); }

  [[nodiscard]] constexpr bool has(Can can) const { return (bits_ & bit(can)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  // The capabilities of this set that `other` does not have.
  [[nodiscard]] constexpr Cans without(Cans other) const { return Cans(bits_ & ~other.bits_); }
  friend constexpr Cans operator|(Cans a, Cans b) { return Cans(a.bits_ | b.bits_); }
  friend constexpr bool operator==(Cans, Cans) = default;

  // "own_sms, drain"
  [[nodiscard]] std::string to_string() const;

 private:
  explicit constexpr Cans(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Can can) { return std::uint32_t{1} << static_cast<unsigned>(can); }
  std::uint32_t bits_ = 0;
};

}  // namespace wm::policy

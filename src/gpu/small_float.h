// f16 and bf16 as the host reads and writes them: in buffers, arguments and messages.
#pragma once

#include <cstdint>

namespace wm::gpu {

// The format's bits; arithmetic happens in double, which holds every value exactly.
struct Half {
  std::uint16_t bits = 0;
};
struct Bfloat {
  std::uint16_t bits = 0;
};

// The nearest value, ties to even; beyond the largest one, infinity.
Half to_half(double value);
Bfloat to_bfloat(double value);
double to_double(Half value);
double to_double(Bfloat value);

}  // namespace wm::gpu

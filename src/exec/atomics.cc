// atom and red: lanes in order, each reading, combining and writing back before the next.
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/lane/formats.h"
#include "exec/warp.h"

namespace wm::exec {

namespace {

using ptx::Type;

struct Wide {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Wide&, const Wide&) = default;
};

// Integers: the new value from the old one and the operands.
template <typename T>
T integer(Mode mode, T old, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (mode) {
    case Mode::add:
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
    case Mode::min:
      return b < old ? b : old;
    case Mode::max:
      return b > old ? b : old;
    case Mode::and_:
      return static_cast<T>(old & b);
    case Mode::or_:
      return static_cast<T>(old | b);
    case Mode::xor_:
      return static_cast<T>(old ^ b);
    case Mode::inc:
      return static_cast<T>(old >= b ? T{0} : static_cast<T>(static_cast<U>(old) + 1));
    case Mode::dec:
      return static_cast<T>(old == 0 || old > b ? b : static_cast<T>(static_cast<U>(old) - 1));
    case Mode::exch:
      return b;
    case Mode::cas:
      return old == b ? c : old;
    default:
      return old;
  }
}

// f32 additions flush subnormals in global memory and keep them in shared memory.
float add_float(float a, float b, bool ftz) {
  if (!ftz) return canonical(a + b);
  return flush<true>(canonical(flush<true>(a) + flush<true>(b)));
}

template <typename F>
std::uint16_t add_small(std::uint16_t a, std::uint16_t b) {
  return bits_of(narrow<F, Rounding::rn>(widen(F{a}) + widen(F{b})));
}

template <typename F>
std::uint32_t add_pair(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t low = add_small<F>(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  const std::uint32_t high = add_small<F>(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
  return high << 16 | low;
}

std::uint32_t update32(Type type, Mode mode, bool ftz, std::uint32_t old, std::uint32_t b, std::uint32_t c) {
  switch (type) {
    case Type::f32:
      return mode == Mode::add ? bits_of(add_float(from_bits<float>(old), from_bits<float>(b), ftz)) : b;
    case Type::f16x2:
      return add_pair<Half>(old, b);
    case Type::bf16x2:
      return add_pair<Brain>(old, b);
    case Type::s32:
      return static_cast<std::uint32_t>(
          integer(mode, static_cast<std::int32_t>(old), static_cast<std::int32_t>(b), static_cast<std::int32_t>(c)));
    default:
      return integer(mode, old, b, c);
  }
}

std::uint64_t update64(Type type, Mode mode, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  switch (type) {
    case Type::f64:
      return mode == Mode::add ? bits_of(canonical(from_bits<double>(old) + from_bits<double>(b))) : b;
    case Type::s64:
      return static_cast<std::uint64_t>(
          integer(mode, static_cast<std::int64_t>(old), static_cast<std::int64_t>(b), static_cast<std::int64_t>(c)));
    default:
      return integer(mode, old, b, c);
  }
}

std::uint16_t update16(Type type, Mode mode, std::uint16_t old, std::uint16_t b, std::uint16_t c) {
  switch (type) {
    case Type::f16:
      return add_small<Half>(old, b);
    case Type::bf16:
      return add_small<Brain>(old, b);
    default:
      return integer(mode, old, b, c);
  }
}

// Other parties that may update the word at the same moment: none, or the application that the kernel runs in.
enum class Beside { nothing, application };

template <typename T, typename Update>
void update(std::byte* at, Beside beside, const Frame& frame, RegisterRow to, RegisterRow b, RegisterRow c, int lane,
            Update&& next) {
  const T operand = frame.source<T>(b)[lane];
  const T replacement = c.none() ? T{} : frame.source<T>(c)[lane];
  if constexpr (sizeof(T) <= sizeof(std::uint64_t)) {
    if (beside == Beside::application) {
      std::atomic_ref<T> word(*reinterpret_cast<T*>(at));
      T old = word.load();
      while (!word.compare_exchange_weak(old, next(old, operand, replacement))) {
      }
      if (!to.none()) frame.destination<T>(to)[lane] = old;
      return;
    }
  }
  T old;
  std::memcpy(&old, at, sizeof(T));
  const T value = next(old, operand, replacement);
  std::memcpy(at, &value, sizeof(T));
  if (!to.none()) frame.destination<T>(to)[lane] = old;
}

void update_lane(const Op& op, std::byte* at, Beside beside, bool ftz, const Frame& frame, RegisterRow to,
                 RegisterRow b, RegisterRow c, int lane) {
  const Type type = op.memory.type;
  const Mode mode = op.mode;
  switch (op.memory.bytes) {
    case 2:
      return update<std::uint16_t>(at, beside, frame, to, b, c, lane,
                                   [&](auto o, auto x, auto y) { return update16(type, mode, o, x, y); });
    case 4:
      return update<std::uint32_t>(at, beside, frame, to, b, c, lane,
                                   [&](auto o, auto x, auto y) { return update32(type, mode, ftz, o, x, y); });
    case 8:
      return update<std::uint64_t>(at, beside, frame, to, b, c, lane,
                                   [&](auto o, auto x, auto y) { return update64(type, mode, o, x, y); });
    default:
      return update<Wide>(at, beside, frame, to, b, c, lane, [&](auto o, auto x, auto y) {
        if (mode == Mode::exch) return x;
        return o == x ? y : o;
      });
  }
}

}  // namespace

void PendingAtomic::apply(Mask which) {
  const Frame frame{rows.data(), nullptr, which};
  const Memory& memory = op->memory;
  const RegisterRow c = op->operands.source[1].none() ? RegisterRow{} : kC;
  for (Mask m = which & lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    for (std::uint32_t e = 0; e < memory.count; ++e)
      update_lane(*op, at[static_cast<std::size_t>(lane)] + e * memory.bytes, Beside::nothing, true, frame,
                  element(kOld, memory, e), element(kB, memory, e), c, lane);
  }
}

void PendingAtomic::complete() const {
  if (destination == nullptr) return;
  const std::size_t bytes = op->memory.bytes;
  for (std::uint32_t e = 0; e < op->memory.count; ++e) {
    if (registers != nullptr && op->operands.more[e].none()) continue;
    std::byte* to = registers != nullptr ? registers + op->operands.more[e].offset() : destination;
    const std::byte* from = rows.data() + element(kOld, op->memory, e).offset();
    for (Mask m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      std::memcpy(to + lane * bytes, from + lane * bytes, bytes);
    }
  }
}

bool Warp::atomic(const Op& op, const Frame& frame) {
  const Memory& memory = op.memory;
  const Window window = locate(op, memory, frame);
  if (!ported()) return atomic_at_once(op, frame, window);
  Frame part = frame;
  part.active = global_lanes(frame.active);
  if (part.active != 0 && !defer_atomic(op, part, window)) return false;
  part.active = frame.active & ~part.active;
  return part.active == 0 || atomic_at_once(op, part, window);
}

bool Warp::atomic_at_once(const Op& op, const Frame& frame, const Window& window) {
  const Memory& memory = op.memory;
  const Access& access = block_->access_;
  const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
  std::unique_lock<std::mutex> lock;
  Beside beside = Beside::nothing;
  if (grid_->atomics != nullptr && access.space != ptx::Space::shared) {
    lock = std::unique_lock(*grid_->atomics);
    beside = Beside::application;  // the application does not take the lock
  }
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t address = access.address[lane];
    std::byte* at = window.inside ? window.at(address, lane) : host_of(op, access.space, lane, address, bytes, true);
    if (at == nullptr) return false;
    const bool ftz =
        access.space == ptx::Space::global || (access.space == ptx::Space::generic && address < kParamWindow);
    if (memory.count == 1) {
      update_lane(op, at, beside, ftz, frame, op.operands.destination[0], op.operands.source[0], op.operands.source[1],
                  lane);
      continue;
    }
    // Vectors: destinations first, then the operands of each element.
    const std::size_t first_source = op.kind == Kind::atomic ? memory.count : 0;
    for (std::size_t e = 0; e < memory.count; ++e) {
      const RegisterRow to = op.kind == Kind::atomic ? op.operands.more[e] : RegisterRow{};
      update_lane(op, at + e * memory.bytes, beside, ftz, frame, to, op.operands.more[first_source + e], RegisterRow{},
                  lane);
    }
  }
  return true;
}

}  // namespace wm::exec

#include "exec/texture_sample.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "exec/lane/formats.h"

namespace wm::exec {

namespace {

constexpr std::int64_t kBorder = -1;
constexpr double kFarthest = 1e12;  // texel numbers beyond any texture

// One coordinate as texel numbers: `index[0]` with weight 1 - weight, `index[1]` with `weight`.
struct Axis {
  std::array<std::int64_t, 2> index{};
  double weight = 0;
};

double within_range(double x) { return std::isnan(x) ? 0 : std::clamp(x, -kFarthest, kFarthest); }

std::int64_t resolve(std::int64_t i, std::int64_t size, AddressMode mode) {
  switch (mode) {
    case AddressMode::wrap:
      return (i % size + size) % size;
    case AddressMode::mirror: {
      const std::int64_t m = (i % (2 * size) + 2 * size) % (2 * size);
      return m < size ? m : 2 * size - 1 - m;
    }
    case AddressMode::border:
      return i < 0 || i >= size ? kBorder : i;
    default:
      return std::clamp<std::int64_t>(i, 0, size - 1);
  }
}

// A normalised coordinate in texels. Wrapping and mirroring take place before the multiplication.
double denormalized(double x, std::int64_t size, AddressMode mode) {
  const double period = std::floor(x);
  if (mode == AddressMode::wrap) x -= period;
  if (mode == AddressMode::mirror) x = std::fmod(period, 2) == 0 ? x - period : 1 - (x - period);
  return within_range(x * static_cast<double>(size));
}

Axis axis_of(const TextureHeader& texture, const TexturePoint& point, std::size_t axis, std::int64_t size,
             bool filters) {
  AddressMode mode = texture.modes[axis];
  const bool is_normalized = texture.has_normalized_coordinates != 0 && !point.is_index;
  // Without normalised coordinates there is no wrapping: the modes that need it clamp.
  if (!is_normalized && mode != AddressMode::border) mode = AddressMode::clamp;
  double x = within_range(point.at[axis]);
  if (is_normalized) x = denormalized(x, size, mode);
  Axis result;
  if (!filters) {
    result.index.fill(resolve(static_cast<std::int64_t>(std::floor(x)), size, mode));
    return result;
  }
  const double lower = std::floor(x - 0.5);
  result.weight = std::floor((x - 0.5 - lower) * 256 + 0.5) / 256;
  for (std::size_t k = 0; k < 2; ++k)
    result.index[k] = resolve(static_cast<std::int64_t>(lower) + static_cast<std::int64_t>(k), size, mode);
  return result;
}

bool reads_floats(const TextureHeader& t) { return is_float_format(t.format) || t.reads_normalized != 0; }

float normalized(TexelFormat format, std::int64_t value) {
  switch (format) {
    case TexelFormat::u8:
      return static_cast<float>(static_cast<double>(value) / 255);
    case TexelFormat::u16:
      return static_cast<float>(static_cast<double>(value) / 65535);
    case TexelFormat::s8:
      return static_cast<float>(std::max(static_cast<double>(value) / 127, -1.0));
    case TexelFormat::s16:
      return static_cast<float>(std::max(static_cast<double>(value) / 32767, -1.0));
    default:
      return static_cast<float>(value);
  }
}

template <typename T>
T value_at(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// One channel as the bits of the register.
std::uint32_t channel_at(const TextureHeader& t, const std::byte* from) {
  std::int64_t value = 0;
  switch (t.format) {
    case TexelFormat::f32:
      return value_at<std::uint32_t>(from);
    case TexelFormat::f16:
      return std::bit_cast<std::uint32_t>(static_cast<float>(widen(Half{value_at<std::uint16_t>(from)})));
    case TexelFormat::u8:
      value = value_at<std::uint8_t>(from);
      break;
    case TexelFormat::s8:
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign of 8-bit texels is meant to spread
      value = value_at<std::int8_t>(from);
      break;
    case TexelFormat::u16:
      value = value_at<std::uint16_t>(from);
      break;
    case TexelFormat::s16:
      value = value_at<std::int16_t>(from);
      break;
    default:
      return value_at<std::uint32_t>(from);
  }
  if (t.reads_normalized != 0) return std::bit_cast<std::uint32_t>(normalized(t.format, value));
  return static_cast<std::uint32_t>(value);
}

Texel border_of(const TextureHeader& t) {
  Texel out;
  for (std::size_t c = 0; c < out.size(); ++c) {
    const double value = within_range(t.border[c]);
    out[c] = reads_floats(t) ? std::bit_cast<std::uint32_t>(t.border[c])
                             : static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  }
  return out;
}

class Fetch {
 public:
  Fetch(const TextureHeader& texture, const AddressSpace& memory, const TexturePoint& point)
      : texture_(texture),
        memory_(memory),
        point_(point),
        filters_(texture.filters != 0 && !point.is_index && reads_floats(texture)) {}

  std::uint64_t first = 0;

  // The texels around the point on one level.
  void locate(std::uint32_t level, bool filters) {
    level_ = level;
    axes_.fill({});
    const std::array<std::uint32_t, 3> sizes{texture_.width_of(level), texture_.height_of(level),
                                             texture_.depth_of(level)};
    for (std::size_t axis = 0; axis < texture_.dimensions; ++axis)
      axes_[axis] = axis_of(texture_, point_, axis, sizes[axis], filters);
    if (texture_.is_layered != 0) axes_[2].index.fill(std::min(point_.layer, texture_.depth - 1));
  }

  bool texel(std::size_t dx, std::size_t dy, std::size_t dz, Texel& out) {
    const std::int64_t x = axes_[0].index[dx], y = axes_[1].index[dy], z = axes_[2].index[dz];
    if (x == kBorder || y == kBorder || z == kBorder) {
      out = border_of(texture_);
      return true;
    }
    const std::uint64_t bytes = texture_.texel_bytes();
    const std::uint64_t address = texture_.address_of(level_, static_cast<std::uint64_t>(x) * bytes,
                                                      static_cast<std::uint64_t>(y), static_cast<std::uint64_t>(z));
    const std::byte* from = memory_.at(address, bytes);
    if (from == nullptr) return false;
    if (first == 0) first = address;
    out = {0, 0, 0, reads_floats(texture_) ? std::bit_cast<std::uint32_t>(1.0F) : 1U};
    for (std::size_t c = 0; c < texture_.channels; ++c)
      out[c] = channel_at(texture_, from + c * format_bytes(texture_.format));
    return true;
  }

  bool on_level(std::uint32_t level, Texel& out) {
    locate(level, filters_);
    if (!filters_) return texel(0, 0, 0, out);
    std::array<double, 4> sum{};
    for (std::size_t corner = 0; corner < std::size_t{1} << texture_.dimensions; ++corner) {
      const std::array<std::size_t, 3> side{corner & 1U, corner >> 1 & 1U, corner >> 2 & 1U};
      double weight = 1;
      for (std::size_t axis = 0; axis < texture_.dimensions; ++axis)
        weight *= side[axis] != 0 ? axes_[axis].weight : 1 - axes_[axis].weight;
      if (weight == 0) continue;
      Texel one;
      if (!texel(side[0], side[1], side[2], one)) return false;
      for (std::size_t c = 0; c < one.size(); ++c) sum[c] += weight * std::bit_cast<float>(one[c]);
    }
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[c]));
    return true;
  }

  bool run(Texel& out) {
    const double last = texture_.levels - 1.0;
    double level = point_.level;
    if (texture_.levels > 1) {
      level = within_range(level + within_range(texture_.level_bias));
      level = std::min(std::max(level, within_range(texture_.min_level)), within_range(texture_.max_level));
    }
    level = std::min(std::max(within_range(level), 0.0), last);
    if (texture_.blends_levels == 0 || !reads_floats(texture_))
      return on_level(static_cast<std::uint32_t>(std::floor(level + 0.5)), out);
    const auto lower = static_cast<std::uint32_t>(std::floor(level));
    const double weight = std::floor((level - lower) * 256 + 0.5) / 256;
    if (!on_level(lower, out)) return false;
    if (weight == 0) return true;
    Texel upper;
    if (!on_level(std::min(lower + 1, texture_.levels - 1U), upper)) return false;
    for (std::size_t c = 0; c < out.size(); ++c) {
      const double mixed = (1 - weight) * std::bit_cast<float>(out[c]) + weight * std::bit_cast<float>(upper[c]);
      out[c] = std::bit_cast<std::uint32_t>(static_cast<float>(mixed));
    }
    return true;
  }

 private:
  const TextureHeader& texture_;
  const AddressSpace& memory_;
  const TexturePoint& point_;
  const bool filters_;
  std::uint32_t level_ = 0;
  std::array<Axis, 3> axes_{};
};

}  // namespace

bool sample(const TextureHeader& texture, const AddressSpace& memory, const TexturePoint& point, Texel& out,
            std::uint64_t& first) {
  first = 0;
  // Linear memory has no address mode: a fetch outside of it gives zeros.
  if (texture.source == TextureHeader::Source::linear) {
    const double x = within_range(point.at[0]);
    if (x < 0 || x >= texture.width) {
      out = {};
      return true;
    }
  }
  Fetch fetch(texture, memory, point);
  const bool done = fetch.run(out);
  first = fetch.first;
  return done;
}

bool gather(const TextureHeader& texture, const AddressSpace& memory, const TexturePoint& point, std::uint32_t channel,
            Texel& out, std::uint64_t& first) {
  constexpr std::array<std::array<std::size_t, 2>, 4> kOrder{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  Fetch fetch(texture, memory, point);
  fetch.locate(0, true);
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    Texel one;
    if (!fetch.texel(kOrder[i][0], kOrder[i][1], 0, one)) return false;
    out[i] = one[channel];
  }
  first = fetch.first;
  return true;
}

}  // namespace wm::exec

#include "runtime/device/cuda/image_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace wm::runtime::cuda {
namespace {

using rewrite::StoreKind;

constexpr std::uint32_t kFirstOrder = 0x10B0, kLastOrder = 0x10C3, kFirstType = 0x10D0, kLastType = 0x10DF;

// The components of a read, each the number of a channel, or a constant.
constexpr int kZero = 4, kOne = 5;
struct Order {
  std::uint32_t number;
  std::uint32_t channels;
  std::array<int, 4> components;        // that a read returns
  std::array<std::uint32_t, 4> stored;  // the components of a colour that a fill puts into the channels
};
constexpr Order kOrders[] = {
    {0x10B0, 1, {0, kZero, kZero, kOne}, {0, 1, 2, 3}},   // CL_R
    {0x10B1, 1, {kZero, kZero, kZero, 0}, {3, 1, 2, 0}},  // CL_A
    {0x10B2, 2, {0, 1, kZero, kOne}, {0, 1, 2, 3}},       // CL_RG
    {0x10B3, 2, {0, kZero, kZero, 1}, {0, 3, 2, 1}},      // CL_RA
    {0x10B5, 4, {0, 1, 2, 3}, {0, 1, 2, 3}},              // CL_RGBA
    {0x10B6, 4, {2, 1, 0, 3}, {2, 1, 0, 3}},              // CL_BGRA
    {0x10B7, 4, {1, 2, 3, 0}, {3, 0, 1, 2}},              // CL_ARGB
    {0x10B8, 1, {0, 0, 0, 0}, {0, 1, 2, 3}},              // CL_INTENSITY
    {0x10B9, 1, {0, 0, 0, kOne}, {0, 1, 2, 3}},           // CL_LUMINANCE
    {0x10C1, 4, {0, 1, 2, 3}, {0, 1, 2, 3}},              // CL_sRGBA
};
constexpr std::uint32_t kSrgba = 0x10C1;

struct Type {
  std::uint32_t number;
  int array_format;
  std::uint32_t bytes;
  StoreKind store;
};
constexpr Type kTypes[] = {
    {0x10D0, 0x08, 1, StoreKind::snorm},             // CL_SNORM_INT8
    {0x10D1, 0x09, 2, StoreKind::snorm},             // CL_SNORM_INT16
    {0x10D2, 0x01, 1, StoreKind::unorm},             // CL_UNORM_INT8
    {0x10D3, 0x02, 2, StoreKind::unorm},             // CL_UNORM_INT16
    {0x10D7, 0x08, 1, StoreKind::signed_integer},    // CL_SIGNED_INT8
    {0x10D8, 0x09, 2, StoreKind::signed_integer},    // CL_SIGNED_INT16
    {0x10D9, 0x0a, 4, StoreKind::bits},              // CL_SIGNED_INT32
    {0x10DA, 0x01, 1, StoreKind::unsigned_integer},  // CL_UNSIGNED_INT8
    {0x10DB, 0x02, 2, StoreKind::unsigned_integer},  // CL_UNSIGNED_INT16
    {0x10DC, 0x03, 4, StoreKind::bits},              // CL_UNSIGNED_INT32
    {0x10DD, 0x10, 2, StoreKind::half},              // CL_HALF_FLOAT
    {0x10DE, 0x20, 4, StoreKind::bits},              // CL_FLOAT
};
constexpr std::uint32_t kFloatType = 0x10DE, kUnormInt8 = 0x10D2;

template <typename Entry, std::size_t N>
const Entry* find(const Entry (&table)[N], std::uint32_t number) {
  const auto* found =
      std::find_if(std::begin(table), std::end(table), [&](const Entry& e) { return e.number == number; });
  return found != std::end(table) ? found : nullptr;
}

// The half is cut off, as by a write of a kernel (rewrite/ptx/image_functions.cc).
std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  constexpr std::uint16_t kInfinity = 0x7c00, kLargest = 0x7bff, kNotANumber = 0x7e00;
  if (std::isnan(value)) return kNotANumber;
  const float magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (magnitude >= 65536) return sign | (std::isinf(value) ? kInfinity : kLargest);
  // The distance of neighbouring halves: 2^-24 below 2^-14, else 2^-10 of the power of two below the value.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 1, -14) - 10;
  const auto steps = static_cast<std::uint32_t>(std::floor(std::ldexp(magnitude, -step)));
  return static_cast<std::uint16_t>(sign + steps + (static_cast<std::uint32_t>(step + 24) << 10));
}

float srgb_of(float linear) {
  linear = std::clamp(linear, 0.0F, 1.0F);
  return linear <= 0.0031308F ? 12.92F * linear : 1.055F * std::pow(linear, 1 / 2.4F) - 0.055F;
}

// A fraction of 17/32 and more becomes one: it is cut off after this number was added.
constexpr float kRounding = 15.0F / 32;

// Returns a channel's bits, converted as by a write of a kernel.
std::uint32_t stored(const ImageFormat& format, std::uint32_t value) {
  const std::uint32_t max = format.channel_bytes == 4 ? ~0U : (1U << 8 * format.channel_bytes) - 1;
  const auto signed_max = static_cast<std::int32_t>(max >> 1);
  const auto normalized = [&](float low, std::uint32_t scale) {
    const float v = std::bit_cast<float>(value);
    const float clamped = std::isnan(v) ? 0 : std::clamp(v, low, 1.0F);
    const float scaled = clamped * static_cast<float>(scale);
    return static_cast<std::uint32_t>(
        static_cast<std::int32_t>(std::copysign(std::floor(std::fabs(scaled) + kRounding), scaled)));
  };
  switch (format.store) {
    case StoreKind::half:
      return half_of(std::bit_cast<float>(value));
    case StoreKind::unorm:
      return normalized(0, max);
    case StoreKind::snorm:
      return normalized(-1, max >> 1);
    case StoreKind::signed_integer:
      return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(value), -signed_max - 1, signed_max));
    case StoreKind::unsigned_integer:
      return std::min(value, max);
    default:
      return value;
  }
}

}  // namespace

bool is_format(std::uint32_t order, std::uint32_t type) {
  return order >= kFirstOrder && order <= kLastOrder && type >= kFirstType && type <= kLastType;
}

std::optional<ImageFormat> image_format(std::uint32_t order, std::uint32_t type) {
  const Order* const o = find(kOrders, order);
  const Type* const t = find(kTypes, type);
  if (o == nullptr || t == nullptr || (order == kSrgba && type != kUnormInt8)) return std::nullopt;
  const bool is_integer = t->store == StoreKind::signed_integer || t->store == StoreKind::unsigned_integer ||
                          (t->bytes == 4 && type != kFloatType);
  return ImageFormat{order, type, t->array_format, o->channels, t->bytes, is_integer, order == kSrgba, t->store};
}

void set_format(const ImageFormat& format, rewrite::ImageRecord& record) {
  record.channel_order = format.order;
  record.channel_type = format.type;
  const Order& order = *find(kOrders, format.order);
  record.store_format =
      rewrite::store_format(format.store, std::countr_zero(format.channel_bytes), std::countr_zero(format.channels));
  const std::uint32_t one = format.is_integer ? 1 : std::bit_cast<std::uint32_t>(1.0F);
  const auto& components = order.components;
  record.swizzles = 0;
  for (std::size_t c = 0; c < components.size(); ++c) {
    const int from = components[c];
    record.mask[c] = {};
    record.constant[c] = from == kOne ? one : 0;
    if (from < kZero) record.mask[c][static_cast<std::size_t>(from)] = ~0U;
    if (from != static_cast<int>(c)) record.swizzles = 1;
  }
}

std::vector<std::byte> element_of(const ImageFormat& format, std::span<const std::byte> colour) {
  std::array<std::uint32_t, 4> components{};
  std::memcpy(components.data(), colour.data(), std::min(colour.size(), sizeof components));
  std::vector<std::byte> element(format.element_bytes());
  for (std::uint32_t k = 0; k < format.channels; ++k) {
    const std::uint32_t c = find(kOrders, format.order)->stored[k];
    std::uint32_t value = components[c];
    if (format.is_srgb && c < 3) value = std::bit_cast<std::uint32_t>(srgb_of(std::bit_cast<float>(value)));
    const std::uint32_t bits = stored(format, value);
    std::memcpy(element.data() + std::size_t{k} * format.channel_bytes, &bits, format.channel_bytes);
  }
  return element;
}

}  // namespace wm::runtime::cuda

#include "inputs.h"

#include <cstring>

#include "base/random.h"

namespace wm::semantics {

namespace {

using Values = std::vector<std::uint64_t>;

std::uint64_t bits(double x) {
  std::uint64_t result = 0;
  std::memcpy(&result, &x, sizeof(x));
  return result;
}
std::uint64_t bits(float x) {
  std::uint32_t result = 0;
  std::memcpy(&result, &x, sizeof(x));
  return result;
}

std::uint64_t mask_of(int width) { return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1; }

Values integer_edges(int width) {
  const std::uint64_t all = mask_of(width), top = std::uint64_t{1} << (width - 1);
  Values values = {0,
                   1,
                   2,
                   3,
                   7,
                   8,
                   10,
                   all,
                   all - 1,
                   all - 6,
                   top,
                   top - 1,
                   top + 1,
                   all / 3,
                   all / 3 * 2,
                   0x7f,
                   0x80,
                   0xff,
                   0x100,
                   top >> 1,
                   all >> (width / 2),
                   (all >> (width / 2)) + 1,
                   12345,
                   all - 12344};
  for (auto& value : values) value &= all;
  return values;
}

// Edges of a binary format: `fraction` bits stored, `exponent` bits.
Values float_edges(int fraction, int exponent) {
  const std::uint64_t unit = std::uint64_t{1} << fraction, sign = std::uint64_t{1} << (fraction + exponent);
  const std::uint64_t bias = (std::uint64_t{1} << (exponent - 1)) - 1;
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent) - 1) << fraction;
  const std::uint64_t one = bias << fraction;
  const Values positive = {0,
                           one,
                           infinity,
                           1,                      // smallest subnormal
                           unit - 1,               // largest subnormal
                           unit,                   // smallest normal
                           infinity - 1,           // largest
                           one - unit,             // 0.5
                           one + unit / 2,         // 1.5
                           one + unit + unit / 4,  // 2.5
                           one + 1,                // just above 1
                           one - 1,                // just below 1
                           one + unit + unit / 2,  // 3
                           one - 2 * unit + unit / 3};
  Values values;
  for (const auto value : positive) values.insert(values.end(), {value, value | sign});
  values.insert(values.end(), {infinity | unit / 2, infinity | 1, infinity | sign | (unit - 1)});  // NaNs
  return values;
}

// Critical values of conversions to integers: the ends of the integer types, and halves.
Values integral_turns() {
  Values values;
  for (const double x :
       {127.5, 128.0, 255.5, 256.0, 32767.5, 32768.0, 65535.5, 65536.0, 2147483647.5, 2147483648.0, 4294967295.5,
        4294967296.0, 9223372036854775808.0, 18446744073709551616.0, 0.49999999, 126.5, 3.5, 1e30})
    values.insert(values.end(), {bits(x), bits(-x)});
  return values;
}

Values pool_of_floats(const std::string& pool) {
  if (pool == "f64") {
    Values values = float_edges(52, 11), turns = integral_turns();
    for (std::size_t i = 0; i < turns.size(); i += 5) values.push_back(turns[i]);
    values.push_back(bits(1e-40)), values.push_back(bits(0x1.fffffefp127)), values.push_back(bits(65519.999));
    values.push_back(bits(0x1.fffffep-127)), values.push_back(bits(0x1.ffffffp-127)),
        values.push_back(bits(0x1.ffffffcp-127));
    return values;
  }
  if (pool == "f32") {
    Values values = float_edges(23, 8);
    for (const float x :
         {2147483648.0F, -2147483648.0F, 4294967296.0F, 65504.0F, 65520.0F, 6e-8F, 3e-8F, 8388607.5F, 3.3895314e38F})
      values.push_back(bits(x));
    return values;
  }
  return pool == "f16" ? float_edges(10, 5) : float_edges(7, 8);
}

Values pairs_of(const Values& halves) {
  Values values;
  for (std::size_t i = 0; i < halves.size(); ++i)
    values.push_back(halves[i] | halves[(i * 7 + 3) % halves.size()] << 16);
  return values;
}

std::string half_of(const std::string& pool) { return pool.substr(0, pool.size() - 2); }
bool is_pair(const std::string& pool) { return pool.size() > 2 && pool.substr(pool.size() - 2) == "x2"; }

int width_of(const std::string& pool) {
  const std::string reg = register_of(pool);
  return reg == "b64" ? 64 : reg == "b16" ? 16 : 32;
}

// A float of any size: all bits, or of a size near 1 so that sums meet, or a small number of quarters, or sparse bits
// (subnormal ones of f64).
std::uint64_t random_float(Random& random, int fraction, int exponent) {
  const std::uint64_t any = random.next() & mask_of(fraction + exponent + 1);
  const std::uint64_t unit = std::uint64_t{1} << fraction, bias = (std::uint64_t{1} << (exponent - 1)) - 1;
  const std::uint64_t sign = any & (std::uint64_t{1} << (fraction + exponent));
  switch (random.below(4)) {
    case 0:
      return any;
    case 1:
      return sign | (bias - 4 + random.below(9)) << fraction | (any & (unit - 1));
    case 2:
      return sign | (bias + random.below(5)) << fraction | ((any & (unit - 1)) & ~(unit / 8 - 1));
    default:
      return sign |
             (std::uint64_t{1} + random.below(static_cast<std::uint32_t>(2 * bias)))
                 << (fraction == 52 ? 20 : fraction) |
             (any & (unit - 1) & (any >> 7));
  }
}

// Magnitudes that a chain of sums keeps within all formats.
std::uint64_t small_float(Random& random, const std::string& pool) {
  const float value = random.uniform(-4.0F, 4.0F) * (random.below(4) == 0 ? 0x1p-6F : 1.0F);
  if (pool == "smallf64") return bits(static_cast<double>(value));
  if (pool == "smallf32") return bits(value) & ~std::uint64_t{0x1fff};  // exact in tf32
  const std::uint64_t single = bits(value);
  if (pool == "smallbf16x2") return single >> 16 | (bits(random.uniform(-4.0F, 4.0F)) >> 16 << 16);
  const auto half = [](std::uint64_t s) {  // cut, not rounded: any half near it will do
    const std::uint64_t exponent = (s >> 23 & 0xff) - 112;
    const bool tiny = (s >> 23 & 0xff) < 113;
    return (s >> 16 & 0x8000) | (tiny ? 0 : exponent << 10 | (s >> 13 & 0x3ff));
  };
  return half(single) | half(bits(random.uniform(-4.0F, 4.0F))) << 16;
}

// Metadata of a sparse product: each four bits name two columns of four in ascending order, and both halves of one
// column of two for tf32.
std::uint64_t random_metadata(Random& random, bool tf32) {
  constexpr std::uint64_t kPairs[] = {0x4, 0xe, 0x8, 0xc, 0x9, 0xd};
  std::uint64_t value = 0;
  for (int group = 0; group < 8; ++group) value |= kPairs[random.below(tf32 ? 2 : 6)] << (4 * group);
  return value;
}

std::uint64_t random_value(Random& random, const std::string& pool) {
  if (pool == "metadata" || pool == "metadata2") return random_metadata(random, pool == "metadata2");
  if (pool == "pred") return random.below(2);
  if (pool.substr(0, 5) == "small") return small_float(random, pool);
  if (pool == "shift") return random.below(8) == 0 ? random.next() & 0xffffffffU : random.below(70);
  if (pool == "lane") return random.below(34);
  if (pool == "offset") return (random.below(24) - 12U) & 0xffffffffU;
  if (pool == "angle") return bits(random.uniform(-1.0F, 1.0F) * (random.below(2) == 0 ? 6.283185F : 314.159F));
  if (is_pair(pool) && pool != "f8x2")
    return random_value(random, half_of(pool)) | random_value(random, half_of(pool)) << 16;
  if (pool == "f64") return random_float(random, 52, 11);
  if (pool == "f32") return random_float(random, 23, 8);
  if (pool == "f16") return random_float(random, 10, 5);
  if (pool == "bf16") return random_float(random, 7, 8);
  const std::uint64_t any = random.next() & mask_of(width_of(pool));
  return random.below(3) == 0 ? any >> random.below(static_cast<std::uint32_t>(width_of(pool))) : any;
}

std::uint64_t seed_of(const Form& form) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : form.name + " " + form.operands) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::uint64_t pick(Random& random, const std::string& pool) {
  const Values values = edges(pool);
  if (values.empty() || random.below(2) == 0) return random_value(random, pool);
  return values[random.below(static_cast<std::uint32_t>(values.size()))];
}

// Edge values crossed for one and two sources; the remaining elements are random.
std::vector<Element> crossed(const Form& form) {
  std::vector<Element> elements;
  if (form.sources.size() > 2) return elements;
  const Values first = edges(form.sources[0].pool);
  if (form.sources.size() == 1) {
    for (const auto a : first) elements.push_back({a});
    if (form.sources[0].pool.substr(0, 1) == "f" && form.sources[0].pool != "f8x2" && form.name.substr(0, 3) == "cvt")
      for (const auto turn : integral_turns())
        if (form.sources[0].pool == "f64") elements.push_back({turn});
    return elements;
  }
  for (const auto a : first)
    for (const auto b : edges(form.sources[1].pool)) elements.push_back({a, b});
  return elements;
}

// Products and quotients that are just below the smallest normal number, where .ftz has to decide: significands whose
// product misses a power of two by little, of a format with `fraction` bits stored.
std::vector<Element> just_below_normal(int fraction, int exponent) {
  const std::uint64_t unit = std::uint64_t{1} << fraction, bias = (std::uint64_t{1} << (exponent - 1)) - 1;
  const std::uint64_t low = (bias / 2 + 1) << fraction, high = (bias - bias / 2 - 1) << fraction;  // 2^-bias together
  std::vector<Element> elements;
  for (std::uint64_t i = 3; elements.size() < 12; i += 7) {
    const std::uint64_t first = unit + i * i % unit, second = 2 * unit * unit / first;
    if (second < unit || first * second == 2 * unit * unit) continue;
    elements.push_back({low | (first - unit), high | (second - unit)});
  }
  const std::uint64_t almost_two = 2 * unit - 1;  // (2 - ulp) 2^(1 - bias)
  elements.push_back({almost_two, (bias + 1) << fraction});
  elements.push_back({almost_two, (bias - 1) << fraction});
  return elements;
}

void add_flushing(const Form& form, std::vector<Element>& elements) {
  const std::string& pool = form.sources[0].pool;
  if (form.name.find(".ftz") == std::string::npos || form.sources.size() < 2) return;
  if ((pool != "f32" && pool != "f16") || form.sources[1].pool != pool) return;
  for (Element element : pool == "f32" ? just_below_normal(23, 8) : just_below_normal(10, 5)) {
    while (element.size() < form.sources.size()) element.push_back(0);
    elements.push_back(element);
  }
}

// Values for the matrix pools: any magnitude, zeros, and occasionally a NaN or an infinity.
std::uint64_t wide_float(Random& random, const std::string& pool) {
  if (is_pair(pool)) return wide_float(random, half_of(pool)) | wide_float(random, half_of(pool)) << 16;
  const bool brain = pool == "smallbf16", half = pool == "smallf16", twice = pool == "smallf64";
  const int fraction = twice ? 52 : brain ? 7 : half ? 10 : 23, exponent = twice ? 11 : half ? 5 : 8;
  std::uint64_t value = random_float(random, fraction, exponent);
  if (random.below(8) == 0) value &= std::uint64_t{1} << (fraction + exponent);
  const std::uint64_t full = ((std::uint64_t{1} << exponent) - 1) << fraction;
  if (random.below(300) != 0 && (value & full) == full) value &= ~(std::uint64_t{1} << (fraction + exponent - 1));
  return value;
}

}  // namespace

std::vector<std::uint64_t> edges(const std::string& pool) {
  if (pool == "pred") return {0, 1};
  if (pool == "shift") return {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x80000000U, 0xffffffffU};
  if (pool == "lane") return {0, 1, 15, 31, 32, 0xffffffffU};
  if (pool == "offset") return {0, 1, 2, 32, 33, 0xffffffffU, 0xffffffe0U, 0x80000000U};
  if (pool == "angle")
    return {bits(0.0F),  bits(-0.0F), bits(1.5707964F), bits(3.1415927F), 0x7f800000U, 0xff800000U,
            0x7fc00000U, 1,           0x80000001U,      0x00800000U};
  if (pool.substr(0, 5) == "small" || pool.substr(0, 8) == "metadata") return {};
  if (pool == "f8x2") {
    Values values;
    for (std::uint64_t i = 0; i < 256; ++i) values.push_back(i | (255 - i) << 8);
    return values;
  }
  if (is_pair(pool)) return pairs_of(edges(half_of(pool)));
  if (pool[0] == 'f' || pool == "bf16") return pool_of_floats(pool);
  return integer_edges(width_of(pool));
}

std::vector<Element> inputs(const Form& form) {
  Random random(seed_of(form));
  std::vector<Element> elements = crossed(form);
  const bool matrix = form.name.substr(0, 3) == "mma";
  add_flushing(form, elements);
  const std::size_t drawn = matrix ? 512 : form.sources.size() == 1 ? 512 : form.sources.size() == 2 ? 480 : 1536;
  const std::size_t count = (elements.size() + drawn) / 32 * 32;
  while (elements.size() < count) {
    Element element;
    for (const Place& source : form.sources) {
      const bool wide = source.pool.substr(0, 5) == "small" && elements.size() >= 256;
      element.push_back(wide ? wide_float(random, source.pool) : pick(random, source.pool));
    }
    elements.push_back(element);
  }
  return elements;
}

}  // namespace wm::semantics

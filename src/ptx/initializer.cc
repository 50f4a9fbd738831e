#include "ptx/initializer.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "ptx/declaration.h"

namespace wm::ptx {
namespace {

constexpr std::size_t kDeepest = 8;

class Initializer {
 public:
  Initializer(TokenStream& tokens, Variable& variable)
      : tokens_(tokens), variable_(variable), element_(static_cast<std::size_t>(bytes(variable.type))) {
    // Elements below each level of braces: {4}[2] of .v2 has 8, 4, 2.
    std::uint64_t below = variable.vector;
    rows_.push_back(below);
    for (std::size_t i = variable.shape.size(); i > 1; --i) rows_.push_back(below *= variable.shape[i - 1]);
    open_ = !variable.shape.empty() && variable.shape[0] == 0;
    if (!variable.shape.empty()) below *= variable.shape[0];
    capacity_ = open_ ? kLargestVariable / element_ : below;
  }

  void parse() {
    if (tokens_.current().is('{')) {
      braces(0);
    } else {
      value();
    }
    finish_mask();
    if (open_) variable_.shape[0] = (next_ + rows_.back() - 1) / rows_.back();
    trim();
  }

 private:
  // A value written far into a large array would have us hold the zeros before it.
  static constexpr std::size_t kLargestValue = std::size_t{1} << 26;

  void braces(std::size_t depth) {
    const Position at = tokens_.advance().position;
    if (depth == kDeepest) tokens_.fail(at, "braces nest too deeply");
    // Inner braces begin and end a row.
    const std::uint64_t row = depth == 0 ? 0 : rows_[rows_.size() > depth ? rows_.size() - depth : 0];
    const std::uint64_t begin = next_;
    while (!tokens_.current().is('}')) {
      if (tokens_.current().is('{')) {
        braces(depth + 1);
      } else {
        value();
      }
      if (!tokens_.accept(',')) break;
    }
    tokens_.expect('}', "after the values");
    if (row == 0) return;
    if (next_ > begin + row) tokens_.fail(at, fmt::format("too many values in these braces: at most {}", row));
    next_ = begin + row;
    if (next_ > capacity_) tokens_.fail(at, fmt::format("too many values for '{}'", variable_.name));
  }

  void value() {
    if (next_ >= capacity_) {
      tokens_.fail(tokens_.current().position, fmt::format("too many values for '{}'", variable_.name));
    }
    if (tokens_.current().kind == TokenKind::identifier) {
      finish_mask();
      address(element_);
    } else if (tokens_.current().kind == TokenKind::number && tokens_.peek().is('(')) {
      mask();
    } else {
      finish_mask();
      number();
    }
    ++next_;
  }

  void number() {
    const bool negative = tokens_.accept('-');
    Literal value = tokens_.expect_number("a value");
    std::uint64_t bits = value.bits;
    if (variable_.type == Type::f64) bits = value.kind == Literal::Kind::integer ? from_integer(bits) : f64_bits(value);
    if (variable_.type == Type::f32) {
      bits =
          value.kind == Literal::Kind::integer ? f32_bits({Literal::Kind::f64, from_integer(bits)}) : f32_bits(value);
    }
    if (negative && is_float(variable_.type)) bits ^= std::uint64_t{1} << (bits_of(variable_.type) - 1);
    if (negative && !is_float(variable_.type)) bits = ~bits + 1;
    store(bits);
  }

  static int bits_of(Type type) { return ptx::bits(type); }
  static std::uint64_t from_integer(std::uint64_t value);

  void store(std::uint64_t bits) {
    if (bits == 0) return;
    const std::size_t at = next_ * element_;
    if (at >= kLargestValue) {
      tokens_.fail(tokens_.current().position, fmt::format("an initial value lies beyond {} bytes", kLargestValue));
    }
    if (variable_.initial.size() < at + element_) variable_.initial.resize(at + element_);
    for (std::size_t i = 0; i < element_ && i < 8; ++i) {
      variable_.initial[at + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  }

  // symbol, symbol+4, generic(symbol)+4
  void address(std::size_t size) {
    Relocation relocation;
    const Token first = tokens_.advance();
    if (size != 4 && size != 8) {
      tokens_.fail(first.position, fmt::format("an address does not fit .{}", name(variable_.type)));
    }
    relocation.offset = next_ * element_;
    relocation.size = static_cast<std::uint32_t>(size);
    relocation.generic = first.text == "generic" && tokens_.current().is('(');
    Token symbol = first;
    if (relocation.generic) {
      tokens_.advance();
      symbol = tokens_.expect_identifier("a symbol");
    }
    relocation.symbol = std::string(symbol.text);
    if (!relocation.generic) addend(relocation);
    if (relocation.generic) {
      addend(relocation);  // generic(symbol+4) and generic(symbol)+4 are both written
      tokens_.expect(')', "after the symbol");
      addend(relocation);
    }
    variable_.relocations.push_back(std::move(relocation));
  }

  void addend(Relocation& relocation) {
    while (tokens_.current().is('+') || tokens_.current().is('-')) {
      const bool subtracts = tokens_.advance().is('-');
      const bool minus = subtracts != tokens_.accept('-');
      const auto value = static_cast<std::int64_t>(tokens_.expect_integer("an offset", kLargestOffset));
      relocation.addend += minus ? -value : value;
      if (relocation.addend > kLargestOffset || relocation.addend < -kLargestOffset) {
        tokens_.fail(tokens_.current().position, "the offset is too large");
      }
    }
  }
  static constexpr std::int64_t kLargestOffset = std::int64_t{1} << 40;

  // 0xFF00(symbol): one byte of an address. Eight of them in order are the address.
  void mask() {
    const Position at = tokens_.current().position;
    const std::uint64_t bits = tokens_.expect_number("a mask").bits;
    if (element_ != 1) tokens_.fail(at, "a mask of an address is one byte, this variable's elements are wider");
    if (bits != std::uint64_t{0xff} << (8 * masked_)) {
      tokens_.fail(at, fmt::format("the masks of an address go from 0xFF up by bytes, expected 0x{:X}",
                                   std::uint64_t{0xff} << (8 * masked_)));
    }
    tokens_.expect('(', "after a mask");
    const std::size_t before = variable_.relocations.size();
    address(8);
    tokens_.expect(')', "after the masked address");
    if (masked_ > 0) {
      Relocation again = std::move(variable_.relocations.back());
      variable_.relocations.pop_back();
      const Relocation& first = variable_.relocations[before - 1];
      again.offset = first.offset;
      if (!(again == first)) tokens_.fail(at, "the bytes of one address must name one symbol");
    }
    masked_ = (masked_ + 1) % 8;
    mask_position_ = at;
  }

  void finish_mask() {
    if (masked_ != 0) tokens_.fail(mask_position_, "the address ends here before its eighth byte");
  }

  // Zeros at the end say nothing.
  void trim() {
    auto& data = variable_.initial;
    while (!data.empty() && data.back() == 0) data.pop_back();
    data.resize((data.size() + element_ - 1) / element_ * element_);
  }

  TokenStream& tokens_;
  Variable& variable_;
  std::size_t element_;
  std::vector<std::uint64_t> rows_;
  std::uint64_t capacity_ = 1;
  std::uint64_t next_ = 0;
  bool open_ = false;
  unsigned masked_ = 0;
  Position mask_position_;
};

constexpr std::string_view kAddressModes[] = {"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"};

void parse_sampler_member(TokenStream& tokens, SamplerState& sampler) {
  const Token member = tokens.expect_identifier("a member of a sampler");
  tokens.expect('=', "after the member of a sampler");
  if (member.text == "force_unnormalized_coords") {
    sampler.force_unnormalized_coords = tokens.expect_integer("0 or 1", 1) != 0;
    return;
  }
  const Token value = tokens.expect_identifier("the value of a sampler's member");
  const std::string_view axis = member.text.starts_with("addr_mode_") ? member.text.substr(10) : "";
  if (axis == "0" || axis == "1" || axis == "2") {
    const auto* const mode = std::find(std::begin(kAddressModes), std::end(kAddressModes), value.text);
    if (mode != std::end(kAddressModes)) {
      sampler.address[static_cast<std::size_t>(axis[0] - '0')] =
          static_cast<SamplerState::Address>(mode - std::begin(kAddressModes));
      return;
    }
  } else if (member.text == "filter_mode" && (value.text == "nearest" || value.text == "linear")) {
    sampler.filters = value.text == "linear";
    return;
  }
  tokens.fail(member.position, fmt::format("a sampler has no '{} = {}'", member.text, value.text));
}

SamplerState parse_sampler(TokenStream& tokens) {
  SamplerState sampler;
  tokens.expect('{', "before the members of a sampler");
  do {
    parse_sampler_member(tokens, sampler);
  } while (tokens.accept(','));
  tokens.expect('}', "after the members of a sampler");
  return sampler;
}

std::uint64_t Initializer::from_integer(std::uint64_t value) {
  return std::bit_cast<std::uint64_t>(static_cast<double>(value));
}

}  // namespace

void parse_initializer(TokenStream& tokens, Variable& variable) {
  const Position at = tokens.current().position;
  if (variable.space != Space::global && variable.space != Space::constant) {
    tokens.fail(at, "only .global and .const variables have initial values");
  }
  if (variable.type == Type::samplerref) {
    variable.sampler = parse_sampler(tokens);
    return;
  }
  if (bytes(variable.type) > 8) tokens.fail(at, fmt::format("no initial value for .{}", name(variable.type)));
  Initializer(tokens, variable).parse();
}

std::string sampler_text(const SamplerState& sampler) {
  std::string text = "{ ";
  for (std::size_t i = 0; i < sampler.address.size(); ++i) {
    text += fmt::format("addr_mode_{} = {}, ", i, kAddressModes[static_cast<std::size_t>(sampler.address[i])]);
  }
  text += fmt::format("filter_mode = {}", sampler.filters ? "linear" : "nearest");
  return text + (sampler.force_unnormalized_coords ? ", force_unnormalized_coords = 1 }" : " }");
}

}  // namespace wm::ptx

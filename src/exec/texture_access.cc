#include "exec/texture_access.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

#include "exec/texture_header.h"
#include "exec/texture_sample.h"
#include "exec/texture_shape.h"

namespace wm::exec {

namespace {

// The texture that lanes access: a header is read once for all lanes with the same handle.
class BoundTexture {
 public:
  explicit BoundTexture(const AddressSpace& memory) : memory_(memory) {}

  [[nodiscard]] const TextureHeader& header() const { return header_; }
  // False: the handle is none.
  bool bind(const Op& op, const Frame& frame, int lane) {
    const std::uint64_t handle =
        frame.source<std::uint64_t>(op.memory.base)[lane] + static_cast<std::uint64_t>(op.memory.offset);
    if (is_bound_ && handle == handle_) return true;
    handle_ = handle;
    const std::byte* from = memory_.at(handle, sizeof header_);
    if (from != nullptr) std::memcpy(&header_, from, sizeof header_);
    return is_bound_ = from != nullptr && header_.is_valid();
  }
  [[nodiscard]] TextureFault no_handle(int lane) const {
    return {Fault::Kind::out_of_bounds, lane, fmt::format("{:#x} is the handle of no texture or surface", handle_)};
  }
  [[nodiscard]] bool has_shape(const TextureShape& shape) const {
    return header_.dimensions == shape.dimensions && (header_.is_layered != 0) == shape.is_layered;
  }
  [[nodiscard]] TextureFault wrong_shape(int lane) const {
    const char* what = header_.is_surface != 0                           ? "surface"
                       : header_.source == TextureHeader::Source::linear ? "texture of linear memory"
                                                                         : "texture";
    return {
        Fault::Kind::illegal_instruction, lane,
        fmt::format("a {} of {} dimension{}{} is accessed by an instruction for another kind", what, header_.dimensions,
                    header_.dimensions == 1 ? "" : "s", header_.is_layered != 0 ? " with layers" : "")};
  }

 private:
  const AddressSpace& memory_;
  TextureHeader header_;
  std::uint64_t handle_ = 0;
  bool is_bound_ = false;
};

// Lanes without an access get the address of one that has one: a simulator may look at all of them.
void fill_addresses(Access& access, Mask lanes) {
  if (lanes == 0) return;
  const std::uint64_t any = access.address[static_cast<std::size_t>(std::countr_zero(lanes))];
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if ((lanes >> lane & 1U) == 0) access.address[lane] = any;
}

TexturePoint point_of(const Op& op, const TextureShape& shape, const Frame& frame, std::size_t lane) {
  TexturePoint point;
  point.is_index = shape.has_index;
  const auto number = [&](RegisterRow row) {
    const std::uint32_t bits = frame.source<std::uint32_t>(row)[lane];
    return shape.has_index ? static_cast<double>(static_cast<std::int32_t>(bits)) : std::bit_cast<float>(bits);
  };
  auto rows = op.operands.more.last(shape.coordinates());
  if (shape.is_layered) {
    point.layer = frame.source<std::uint32_t>(rows.front())[lane];
    rows = rows.subspan(1);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) point.at[i] = number(rows[i]);
  if (!op.operands.source[0].none()) point.level = number(op.operands.source[0]);
  return point;
}

std::uint32_t answer(const TextureHeader& t, Mode mode) {
  switch (mode) {
    case Mode::query_width:
      return t.width;
    case Mode::query_height:
      return t.dimensions > 1 ? t.height : 0;
    case Mode::query_depth:
      return t.dimensions > 2 ? t.depth : 0;
    case Mode::query_layers:
      return t.is_layered != 0 ? t.depth : 0;
    case Mode::query_levels:
      return t.levels;
    default:
      return t.has_normalized_coordinates;
  }
}

struct SurfacePlace {
  std::int64_t x = 0, y = 0, z = 0;
};

SurfacePlace place_of(const Op& op, const TextureShape& shape, const Frame& frame, std::size_t lane) {
  const auto rows = op.operands.more.last(shape.coordinates());
  const auto number = [&](std::size_t i) -> std::int64_t { return frame.source<std::int32_t>(rows[i])[lane]; };
  const std::size_t first = shape.is_layered ? 1 : 0;
  SurfacePlace place{.x = number(first)};
  if (shape.dimensions > 1) place.y = number(first + 1);
  if (shape.dimensions > 2) place.z = number(first + 2);
  if (shape.is_layered) place.z = number(0);
  return place;
}

// Moves the place onto the surface; false: it was outside.
bool clamp_to(const TextureHeader& t, std::int64_t bytes, SurfacePlace& place) {
  const SurfacePlace before = place;
  const std::int64_t row = std::int64_t{t.width} * t.texel_bytes();
  place.x = std::clamp<std::int64_t>(place.x, 0, std::max<std::int64_t>(0, row - bytes));
  place.y = std::clamp<std::int64_t>(place.y, 0, std::int64_t{t.height} - 1);
  place.z = std::clamp<std::int64_t>(place.z, 0, std::int64_t{t.depth} - 1);
  return place.x == before.x && place.y == before.y && place.z == before.z && bytes <= row;
}

}  // namespace

std::optional<TextureFault> fetch_texels(const Op& op, const Frame& frame, const AddressSpace& memory, Access& access) {
  const TextureShape shape = TextureShape::unpack(op.targets);
  access.space = ptx::Space::global;
  access.lanes = 0;
  BoundTexture texture(memory);
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (!texture.bind(op, frame, lane)) return texture.no_handle(lane);
    const TextureHeader& t = texture.header();
    const bool fetches = t.is_surface == 0 && (shape.has_index || t.source != TextureHeader::Source::linear);
    if (!fetches || !texture.has_shape(shape)) return texture.wrong_shape(lane);
    Texel texel{};
    std::uint64_t address = 0;
    const TexturePoint point = point_of(op, shape, frame, static_cast<std::size_t>(lane));
    const bool is_read = shape.gathers ? gather(t, memory, point, shape.channel, texel, address)
                                       : sample(t, memory, point, texel, address);
    if (!is_read)
      return TextureFault{Fault::Kind::out_of_bounds, lane,
                          fmt::format("the memory of the texture at {:#x} is not allocated", t.address[0])};
    for (std::size_t c = 0; c < texel.size(); ++c)
      if (!op.operands.more[c].none()) frame.destination<std::uint32_t>(op.operands.more[c])[lane] = texel[c];
    if (address == 0) continue;
    access.bytes = static_cast<std::uint8_t>(t.texel_bytes());
    access.lanes |= Mask{1} << lane;
    access.address[static_cast<std::size_t>(lane)] = address;
  }
  fill_addresses(access, access.lanes);
  return std::nullopt;
}

std::optional<TextureFault> query_texture(const Op& op, const Frame& frame, const AddressSpace& memory) {
  BoundTexture texture(memory);
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (!texture.bind(op, frame, lane)) return texture.no_handle(lane);
    frame.destination<std::uint32_t>(op.operands.destination[0])[lane] = answer(texture.header(), op.mode);
  }
  return std::nullopt;
}

std::optional<TextureFault> place_on_surface(const Op& op, const Frame& frame, const AddressSpace& memory,
                                             Access& access, Mask& inside) {
  const TextureShape shape = TextureShape::unpack(op.targets);
  const std::int64_t bytes = std::int64_t{op.memory.bytes} * op.memory.count;
  access.space = ptx::Space::global;
  access.bytes = static_cast<std::uint8_t>(bytes);
  BoundTexture surface(memory);
  inside = 0;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (!surface.bind(op, frame, lane)) return surface.no_handle(lane);
    const TextureHeader& t = surface.header();
    if (t.is_surface == 0 || !surface.has_shape(shape)) return surface.wrong_shape(lane);
    const SurfacePlace given = place_of(op, shape, frame, static_cast<std::size_t>(lane));
    SurfacePlace place = given;
    const bool is_inside = clamp_to(t, bytes, place);
    if (!is_inside && shape.outside == TextureShape::Outside::zero) continue;
    if (!is_inside && shape.outside == TextureShape::Outside::trap)
      return TextureFault{Fault::Kind::out_of_bounds, lane,
                          fmt::format("{} bytes at byte {}, row {}, slice {} are outside of a surface of {} x {} x {} "
                                      "texels of {} bytes",
                                      bytes, given.x, given.y, given.z, t.width, t.height, t.depth, t.texel_bytes())};
    access.address[static_cast<std::size_t>(lane)] =
        t.address_of(0, static_cast<std::uint64_t>(place.x), static_cast<std::uint64_t>(place.y),
                     static_cast<std::uint64_t>(place.z));
    inside |= Mask{1} << lane;
  }
  access.lanes = inside;
  fill_addresses(access, inside);
  return std::nullopt;
}

}  // namespace wm::exec

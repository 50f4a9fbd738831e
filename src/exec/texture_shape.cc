#include "exec/texture_shape.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Suffix;

TextureShape texture_shape(const ptx::Instruction& i) {
  TextureShape shape;
  shape.is_layered = i.has(Suffix::a1d) || i.has(Suffix::a2d);
  shape.dimensions = i.has(Suffix::d3) ? 3 : i.has(Suffix::d2) || i.has(Suffix::a2d) ? 2 : 1;
  shape.gathers = i.opcode == Opcode::tld4;
  shape.channel = i.has(Suffix::g) ? 1 : i.has(Suffix::b) ? 2 : i.has(Suffix::a) ? 3 : 0;
  if (i.has(Suffix::clamp)) shape.outside = TextureShape::Outside::clamp;
  if (i.has(Suffix::zero)) shape.outside = TextureShape::Outside::zero;
  return shape;
}

Mode surface_reduction(const ptx::Instruction& i) {
  if (i.has(Suffix::add)) return Mode::add;
  if (i.has(Suffix::min)) return Mode::min;
  if (i.has(Suffix::max)) return Mode::max;
  return i.has(Suffix::and_) ? Mode::and_ : Mode::or_;
}

Mode texture_query(const ptx::Instruction& i) {
  if (i.has(Suffix::width)) return Mode::query_width;
  if (i.has(Suffix::height)) return Mode::query_height;
  if (i.has(Suffix::depth)) return Mode::query_depth;
  if (i.has(Suffix::array_size)) return Mode::query_layers;
  return i.has(Suffix::num_mipmap_levels) ? Mode::query_levels : Mode::query_normalized;
}

}  // namespace wm::exec

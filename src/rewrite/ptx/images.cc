#include "rewrite/ptx/images.h"

#include <algorithm>
#include <array>
#include <bit>

#include "ptx/build.h"
#include "rewrite/ptx/function_editor.h"
#include "rewrite/ptx/image_functions.h"
#include "rewrite/ptx/image_record.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;
using Kind = KernelImages::Parameter::Kind;

constexpr std::uint64_t kAndOr = 0xEA;  // (a & b) | c, as lop3 takes it

ptx::Variable bytes_parameter(std::string name, std::uint64_t bytes) {
  ptx::Variable v;
  v.name = std::move(name);
  v.space = ptx::Space::param;
  v.type = Type::b8;
  v.align = 8;
  v.shape = {bytes};
  return v;
}

std::uint32_t query_offset(const Instruction& i) {
  if (i.has(Suffix::width)) return offsetof(ImageRecord, width);
  if (i.has(Suffix::height)) return offsetof(ImageRecord, height);
  if (i.has(Suffix::depth)) return offsetof(ImageRecord, depth);
  if (i.has(Suffix::array_size)) return offsetof(ImageRecord, layers);
  return i.has(Suffix::channel_order) ? offsetof(ImageRecord, channel_order) : offsetof(ImageRecord, channel_type);
}

std::vector<Operand> elements_of(const Operand& operand) {
  return operand.kind == Operand::Kind::vector ? operand.elements : std::vector<Operand>{operand};
}

class ImageRewriter {
 public:
  ImageRewriter(const ptx::Module& module, Function& kernel, const KernelImages& images)
      : module_(module), kernel_(kernel), images_(images), editor_(kernel) {}

  void run() {
    replace_parameters();
    while (!editor_.at_end()) {
      const Instruction i = editor_.current();
      switch (i.opcode) {
        case Opcode::tex:
          instead_of(i, [&] { fetch(i); });
          break;
        case Opcode::sust_p:
          instead_of(i, [&] { write(i); });
          break;
        case Opcode::txq:
        case Opcode::suq:
          editor_.replace(query(i));
          break;
        default:
          editor_.keep();
      }
    }
    editor_.finish();
  }

 private:
  void replace_parameters() {
    for (std::uint32_t p = 0; p < images_.parameters.size(); ++p) {
      ptx::Variable& v = kernel_.parameters[p];
      const Kind kind = images_.parameters[p].kind;
      if (kind == Kind::other) continue;
      v = kind == Kind::sampler ? bytes_parameter(v.name, sizeof(std::uint64_t))
                                : bytes_parameter(v.name, sizeof(ImageRecord));
    }
    if (images_.textures.empty()) return;
    textures_ = editor_.add_parameter(bytes_parameter("wm_textures", 8 * images_.textures.size()));
  }

  // Code in the place of an instruction, which threads that its guard leaves out jump over.
  template <typename Emit>
  void instead_of(const Instruction& i, const Emit& emit) {
    editor_.place_labels();
    std::optional<std::uint32_t> after;
    if (i.guard.present) {
      after = editor_.add_label("$wm_no_image");
      editor_.emit(build::only_if({i.guard.reg}, i.guard.negated, build::branch(*after)));
    }
    emit();
    editor_.skip();
    if (after) editor_.place(*after);
  }

  build::Reg word(const char* name) { return editor_.add_register(name, Type::b32); }

  Operand record(std::uint32_t parameter, std::size_t offset) {
    return build::at(build::variable(Operand::Scope::parameter, parameter), static_cast<std::int64_t>(offset));
  }
  build::Reg load(const Operand& from, Type type, const char* name) {
    const build::Reg to = editor_.add_register(name, type);
    editor_.emit(build::make(Opcode::ld, {Suffix::param}, {type}, {build::operand(to), from}));
    return to;
  }

  Instruction query(const Instruction& i) {
    const std::uint32_t image = *images_.parameter_of(i.operands[1].elements[0]);
    Instruction load =
        build::make(Opcode::ld, {Suffix::param}, {Type::b32}, {i.operands[0], record(image, query_offset(i))});
    load.guard = i.guard;
    return load;
  }

  // --- reads
  std::uint32_t texture_number(const Instruction& i) const {
    const Operand& place = i.operands[1];
    TextureUse use{.image = *images_.parameter_of(place.elements[0]), .by_texels = i.types.back() == Type::s32};
    const Operand& sampler = place.elements[1];
    use.sampler_parameter = images_.parameter_of(sampler);
    if (!use.sampler_parameter) use.sampler = *module_.variables[sampler.index].sampler;
    const auto found = std::find(images_.textures.begin(), images_.textures.end(), use);
    return static_cast<std::uint32_t>(found - images_.textures.begin());
  }

  // A coordinate in texels as a float. Immediates have no register to convert from.
  Operand as_float(const Operand& coordinate) {
    const build::Reg to = editor_.add_register("%wm_at", Type::f32);
    if (coordinate.kind == Operand::Kind::integer) {
      Operand value;
      value.kind = Operand::Kind::f32;
      value.bits = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(coordinate.bits)));
      editor_.emit(build::mov(to, value, Type::f32));
    } else {
      editor_.emit(build::make(Opcode::cvt, {Suffix::rn}, {Type::f32, Type::s32}, {build::operand(to), coordinate}));
    }
    return build::operand(to);
  }

  using Texel = std::array<build::Reg, 4>;

  void emit_fetch(const Instruction& i, const Texel& texel, build::Reg texture, std::vector<Operand> place,
                  Type coordinates) {
    Operand to;
    to.kind = Operand::Kind::vector;
    for (const build::Reg r : texel) to.elements.push_back(build::operand(r));
    Operand at;
    at.kind = Operand::Kind::vector;
    at.elements = std::move(place);
    Operand from;
    from.kind = Operand::Kind::texture;
    from.elements = {build::operand(texture), std::move(at)};
    editor_.emit(build::make(Opcode::tex, i.suffixes, {i.types.front(), coordinates}, {to, from}));
  }

  void fetch(const Instruction& i) {
    const Operand& from = i.operands[1];
    const std::uint32_t image = *images_.parameter_of(from.elements[0]);
    const build::Reg texture = load(record(textures_, 8 * std::size_t{texture_number(i)}), Type::b64, "%wm_texture");
    const Texel texel{word("%wm_c"), word("%wm_c"), word("%wm_c"), word("%wm_c")};
    std::vector<Operand> place = elements_of(from.elements[2]);
    if (i.types.back() != Type::s32) {
      emit_fetch(i, texel, texture, place, Type::f32);
    } else {
      fetch_texel(i, image, texel, texture, place);
    }
    swizzle(image, texel);
    for (std::size_t c = 0; c < texel.size(); ++c) {
      const Operand& to = i.operands[0].elements[c];
      if (to.kind != Operand::Kind::reg) continue;
      editor_.emit(build::make(Opcode::mov, {}, {Type::b32}, {to, build::operand(texel[c])}));
    }
  }

  // Coordinates in texels. Layers are whole numbers in any case; images of buffers are fetched by whole numbers only.
  void fetch_texel(const Instruction& i, std::uint32_t image, const Texel& texel, build::Reg texture,
                   const std::vector<Operand>& place) {
    std::optional<std::uint32_t> done;
    if (i.has(Suffix::d1)) {
      done = editor_.add_label("$wm_fetched");
      const std::uint32_t in_array = editor_.add_label("$wm_in_array");
      const build::Reg linear = load(record(image, offsetof(ImageRecord, is_linear)), Type::b32, "%wm_linear");
      editor_.emit(build::only_if(is_zero(linear), true, build::branch(in_array)));
      emit_fetch(i, texel, texture, place, Type::s32);
      editor_.emit(build::branch(*done));
      editor_.place(in_array);
    }
    const bool has_layer = i.has(Suffix::a1d) || i.has(Suffix::a2d);
    std::vector<Operand> floats = place;
    for (std::size_t n = has_layer ? 1 : 0; n < floats.size(); ++n) floats[n] = as_float(floats[n]);
    emit_fetch(i, texel, texture, std::move(floats), Type::f32);
    if (done) editor_.place(*done);
  }

  build::Reg is_zero(build::Reg word) {
    const build::Reg predicate = editor_.add_register("%wm_p", Type::pred);
    editor_.emit(build::make(Opcode::setp, {Suffix::eq}, {Type::u32},
                             {build::operand(predicate), build::operand(word), build::number(0)}));
    return predicate;
  }

  // Puts channels into the places of the components that they are.
  void swizzle(std::uint32_t image, const Texel& texel) {
    const std::uint32_t done = editor_.add_label("$wm_in_place");
    const build::Reg swizzles = load(record(image, offsetof(ImageRecord, swizzles)), Type::b32, "%wm_swizzles");
    editor_.emit(build::only_if(is_zero(swizzles), true, build::branch(done)));
    Texel moved;
    for (std::size_t c = 0; c < moved.size(); ++c) {
      moved[c] = load(record(image, offsetof(ImageRecord, constant) + 4 * c), Type::b32, "%wm_s");
      for (std::size_t k = 0; k < texel.size(); ++k) {
        const build::Reg mask = load(record(image, offsetof(ImageRecord, mask) + 16 * c + 4 * k), Type::b32, "%wm_m");
        editor_.emit(build::make(Opcode::lop3, {}, {Type::b32},
                                 {build::operand(moved[c]), build::operand(texel[k]), build::operand(mask),
                                  build::operand(moved[c]), build::number(kAndOr)}));
      }
    }
    for (std::size_t c = 0; c < moved.size(); ++c) {
      editor_.emit(build::mov(texel[c], build::operand(moved[c])));
    }
    editor_.place(done);
  }

  // --- writes
  void write(const Instruction& i) {
    const Operand& to = i.operands[0];
    const std::uint32_t image = *images_.parameter_of(to.elements[0]);
    const ImageShape shape = images_.parameters[image].shape;
    const std::vector<Operand> place = elements_of(to.elements[1]);
    const Operand zero = build::number(0), one = build::number(1);
    const bool has_layers = shape == ImageShape::d1_array || shape == ImageShape::d2_array;
    const bool has_rows = shape == ImageShape::d2 || shape == ImageShape::d3 || shape == ImageShape::d2_array;
    const std::size_t first = has_layers ? 1 : 0;  // the layer comes before x
    const Operand& x = place[first];
    const Operand& y = has_rows ? place[first + 1] : zero;
    const Operand z = has_layers ? place[0] : shape == ImageShape::d3 ? place[2] : zero;
    const auto field = [&](std::size_t offset, const char* name) {
      return build::operand(load(record(image, offset), Type::b32, name));
    };
    std::vector<Operand> arguments;
    arguments.push_back(build::operand(load(record(image, offsetof(ImageRecord, surface)), Type::b64, "%wm_surface")));
    arguments.push_back(field(offsetof(ImageRecord, store_format), "%wm_format"));
    arguments.push_back(field(offsetof(ImageRecord, width), "%wm_width"));
    arguments.push_back(has_rows ? field(offsetof(ImageRecord, height), "%wm_rows") : one);
    arguments.push_back(has_layers                ? field(offsetof(ImageRecord, layers), "%wm_slices")
                        : shape == ImageShape::d3 ? field(offsetof(ImageRecord, depth), "%wm_slices")
                                                  : one);
    arguments.insert(arguments.end(), {x, y, z});
    std::vector<Operand> components = elements_of(i.operands[1]);
    components.resize(4, zero);
    arguments.insert(arguments.end(), components.begin(), components.end());
    call(write_function_name(shape), arguments);
  }

  void call(const std::string& name, const std::vector<Operand>& values) {
    const auto callee = std::find_if(module_.functions.begin(), module_.functions.end(),
                                     [&](const Function& f) { return !f.entry && f.name == name; });
    Operand function, results, arguments;
    function.kind = Operand::Kind::function;
    function.index = static_cast<std::uint32_t>(callee - module_.functions.begin());
    results.kind = arguments.kind = Operand::Kind::arguments;
    for (std::size_t n = 0; n < values.size(); ++n) {
      const Type type = n == 0 ? Type::b64 : Type::b32;
      const Operand place = argument(type);
      editor_.emit(build::make(Opcode::st, {Suffix::param}, {type}, {build::at(place), values[n]}));
      arguments.elements.push_back(place);
    }
    editor_.emit(build::make(Opcode::call, {}, {}, {results, function, arguments}));
  }

  Operand argument(Type type) {
    ptx::Variable v;
    v.name = "wm_argument";
    v.space = ptx::Space::param;
    v.type = type;
    v.align = static_cast<std::uint32_t>(ptx::bytes(type));
    return build::variable(Operand::Scope::local, editor_.add_variable(std::move(v)));
  }

  const ptx::Module& module_;
  Function& kernel_;
  const KernelImages& images_;
  FunctionEditor editor_;
  std::uint32_t textures_ = 0;  // the parameter
};

}  // namespace

void rewrite_images(const ptx::Module& module, Function& kernel, const KernelImages& images) {
  ImageRewriter(module, kernel, images).run();
}

}  // namespace wm::rewrite

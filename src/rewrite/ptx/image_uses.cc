// Finds the images and samplers of a kernel.
#include <algorithm>

#include "ptx/def_use.h"
#include "ptx/opaque.h"
#include "rewrite/ptx/images.h"
#include "rewrite/ptx/operands.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;
using Kind = KernelImages::Parameter::Kind;

Type opaque_type(const ptx::Variable& v) {
  if (v.pointer && v.pointee != Type::none) return v.pointee;
  return ptx::is_opaque(v.type) ? v.type : Type::none;
}

Kind kind_of(Type type) {
  switch (type) {
    case Type::texref:
      return Kind::read_image;
    case Type::surfref:
      return Kind::written_image;
    case Type::samplerref:
      return Kind::sampler;
    default:
      return Kind::other;
  }
}

ImageShape shape_of(const Instruction& i) {
  if (i.has(Suffix::d1)) return ImageShape::d1;
  if (i.has(Suffix::d1_buffer)) return ImageShape::d1_buffer;
  if (i.has(Suffix::d2)) return ImageShape::d2;
  if (i.has(Suffix::d3)) return ImageShape::d3;
  if (i.has(Suffix::a1d)) return ImageShape::d1_array;
  return i.has(Suffix::a2d) ? ImageShape::d2_array : ImageShape::unknown;
}

// Why an instruction on images is not supported; null: it is.
const char* obstacle(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::tld4:
      return "it gathers texels (tld4)";
    case Opcode::suld_b:
      return "it reads and writes one image";
    case Opcode::sust_b:
    case Opcode::sured_b:
      return "it writes the bytes of an image";
    case Opcode::tex:
      return i.has(Suffix::level) ? "it reads mip levels of an image" : nullptr;
    case Opcode::txq:
    case Opcode::suq:
      return i.has(Suffix::num_mipmap_levels) || i.has(Suffix::normalized_coords)
                 ? "it asks for the levels or coordinates of an image"
                 : nullptr;
    default:
      return nullptr;
  }
}

class ImageFinder {
 public:
  ImageFinder(const ptx::Module& module, const Function& kernel) : module_(module), kernel_(kernel) {
    for (const ptx::Variable& v : kernel.parameters) images_.parameters.push_back({kind_of(opaque_type(v)), {}});
  }

  Result<KernelImages> run() {
    find_handle_registers();
    for (const Instruction& i : kernel_.body) {
      if (refusal_.empty()) look_at(i);
    }
    if (!refusal_.empty()) return Error{refusal_};
    return std::move(images_);
  }

 private:
  void refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
  }

  void look_at(const Instruction& i) {
    switch (i.opcode) {
      case Opcode::tex:
      case Opcode::tld4:
      case Opcode::suld_b:
      case Opcode::sust_b:
      case Opcode::sust_p:
      case Opcode::sured_b:
      case Opcode::txq:
      case Opcode::suq:
        break;
      default:
        return look_at_other(i);
    }
    if (const char* why = obstacle(i)) return refuse(why);
    if (i.opcode == Opcode::tex) return look_at_fetch(i);
    const Operand& handle = i.operands[i.opcode == Opcode::sust_p ? 0 : 1].elements[0];
    const auto image = image_of(handle, i.opcode == Opcode::txq ? Kind::read_image : Kind::written_image);
    if (!image) return refuse("an image that it accesses is not one of its parameters");
    if (i.opcode != Opcode::sust_p) return;
    access(*image, shape_of(i));
    images_.written.insert(shape_of(i));
    if (shape_of(i) == ImageShape::d1) images_.parameters[*image].needs_array = true;
  }

  void look_at_fetch(const Instruction& i) {
    const auto& operands = i.operands[1].elements;
    if (operands.size() != 3) return refuse("it reads a texture without a sampler");
    const auto image = image_of(operands[0], Kind::read_image);
    if (!image) return refuse("an image that it reads is not one of its parameters");
    access(*image, shape_of(i));
    TextureUse use{.image = *image, .by_texels = i.types.back() == Type::s32};
    const Operand& sampler = operands[1];
    if (is_module_variable(sampler) && module_.variables[sampler.index].sampler) {
      use.sampler = *module_.variables[sampler.index].sampler;
    } else if (const auto parameter = image_of(sampler, Kind::sampler)) {
      use.sampler_parameter = parameter;
    } else {
      return refuse("a sampler that it uses is neither a parameter nor a literal");
    }
    // Linear memory is fetched without a sampler, as images of buffers are.
    if (!use.by_texels || use.sampler_parameter) images_.parameters[*image].needs_array = true;
    if (std::find(images_.textures.begin(), images_.textures.end(), use) == images_.textures.end()) {
      images_.textures.push_back(use);
    }
  }

  // Other instructions may only load the pointer to an image that shows a buffer.
  void look_at_other(const Instruction& i) {
    if (is_handle_load(i)) return;
    visit_operands(i, [&](const Operand& o) {
      const bool is_opaque = o.kind == Operand::Kind::variable && o.scope == Operand::Scope::parameter &&
                             images_.parameters[o.index].kind != Kind::other;
      if (is_opaque) refuse("an image or a sampler is used as a value");
    });
  }

  [[nodiscard]] bool is_handle_load(const Instruction& i) const {
    if (i.opcode != Opcode::ld || !i.has(Suffix::param) || i.operands[0].kind != Operand::Kind::reg) return false;
    const Operand& base = i.operands[1].elements[0];
    return base.kind == Operand::Kind::variable && base.scope == Operand::Scope::parameter &&
           i.operands[1].offset == 0 && ptx::bytes(i.type()) == 8 && kernel_.parameters[base.index].pointer &&
           images_.parameters[base.index].kind != Kind::other;
  }

  [[nodiscard]] std::optional<std::uint32_t> image_of(const Operand& handle, Kind kind) const {
    const auto parameter = images_.parameter_of(handle);
    return parameter && images_.parameters[*parameter].kind == kind ? parameter : std::nullopt;
  }

  // Only registers with one definition: the others may hold one image or another.
  void find_handle_registers() {
    std::map<std::uint32_t, int> definitions;
    for (const Instruction& i : kernel_.body) {
      ptx::for_each_definition(i, [&](std::uint32_t r) {
        ++definitions[r];
        if (is_handle_load(i)) images_.handle_registers[r] = i.operands[1].elements[0].index;
      });
    }
    std::erase_if(images_.handle_registers, [&](const auto& handle) { return definitions[handle.first] != 1; });
  }

  void access(std::uint32_t parameter, ImageShape shape) {
    ImageShape& known = images_.parameters[parameter].shape;
    if (known != ImageShape::unknown && known != shape) refuse("an image is accessed as two kinds of images");
    known = shape;
  }

  const ptx::Module& module_;
  const Function& kernel_;
  KernelImages images_;
  std::string refusal_;
};

}  // namespace

bool KernelImages::any() const {
  return std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.kind != Kind::other; });
}

std::optional<std::uint32_t> KernelImages::parameter_of(const Operand& handle) const {
  if (handle.kind == Operand::Kind::variable && handle.scope == Operand::Scope::parameter) return handle.index;
  if (handle.kind != Operand::Kind::reg) return std::nullopt;
  const auto found = handle_registers.find(handle.index);
  return found != handle_registers.end() ? std::optional(found->second) : std::nullopt;
}

Result<KernelImages> find_images(const ptx::Module& module, const ptx::Function& kernel) {
  return ImageFinder(module, kernel).run();
}

void remove_samplers(ptx::Module& module) {
  for (ptx::Variable& v : module.variables) {
    if (v.type != Type::samplerref) continue;
    // The variable stays, so that operands keep their numbers.
    v.type = Type::u32;
    v.align = 4;
    v.sampler.reset();
  }
}

}  // namespace wm::rewrite

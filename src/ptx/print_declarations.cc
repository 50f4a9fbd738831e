#include "ptx/print_declarations.h"

#include <fmt/format.h>

#include "ptx/declaration.h"
#include "ptx/initializer.h"

namespace wm::ptx {
namespace {

std::string shape_text(const Variable& variable) {
  std::string text;
  for (const std::uint64_t n : variable.shape) text += n == 0 ? "[]" : fmt::format("[{}]", n);
  return text;
}

std::string head_text(const Variable& variable) {
  std::string text = fmt::format(".{}", name(variable.space));
  if (variable.managed) text += " .attribute(.managed)";
  const auto natural = static_cast<std::uint32_t>(bytes(variable.type)) * variable.vector;
  if (variable.align != natural) text += fmt::format(" .align {}", variable.align);
  if (variable.vector != 1) text += fmt::format(" .v{}", variable.vector);
  return text + fmt::format(" .{}", name(variable.type));
}

// The elements of an initial value, one after the other.
class Values {
 public:
  explicit Values(const Variable& variable)
      : variable_(variable), element_(static_cast<std::size_t>(bytes(variable.type))) {
    std::size_t end = variable.initial.size();
    for (const Relocation& r : variable.relocations) end = std::max<std::size_t>(end, r.offset + r.size);
    count_ = (end + element_ - 1) / element_;
  }

  std::string text() {
    if (variable_.shape.empty() && variable_.vector == 1) return next();
    std::uint64_t row = variable_.vector;
    std::vector<std::uint64_t> rows;
    if (variable_.vector != 1) rows.push_back(row);
    for (std::size_t i = variable_.shape.size(); i > 1; --i) rows.push_back(row *= variable_.shape[i - 1]);
    if (variable_.shape.empty()) {
      rows.pop_back();
      count_ = variable_.vector;
    }
    return braces(rows, rows.size(), count_);
  }

 private:
  // Up to `limit` elements in braces; inner braces for each row below.
  std::string braces(const std::vector<std::uint64_t>& rows, std::size_t level, std::uint64_t limit) {
    std::string text = "{";
    // Rows may be cut short, vectors may not.
    const bool fill_vector = level == 0 && variable_.vector != 1;
    for (std::uint64_t done = 0; done < limit && (fill_vector || at_ < count_);) {
      if (done != 0) text += ", ";
      if (level == 0) {
        text += next();
        ++done;
      } else {
        text += braces(rows, level - 1, rows[level - 1]);
        done += rows[level - 1];
      }
    }
    return text + "}";
  }

  std::string next() {
    const std::size_t offset = at_++ * element_;
    if (relocation_ < variable_.relocations.size()) {
      const Relocation& r = variable_.relocations[relocation_];
      if (offset >= r.offset && offset < r.offset + r.size) return address(r, offset - r.offset);
    }
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < element_ && offset + i < variable_.initial.size(); ++i) {
      bits |= static_cast<std::uint64_t>(variable_.initial[offset + i]) << (8 * i);
    }
    if (variable_.type == Type::f32) return fmt::format("0f{:08X}", bits);
    if (variable_.type == Type::f64) return fmt::format("0d{:016X}", bits);
    return fmt::format("{}", bits);
  }

  std::string address(const Relocation& r, std::size_t byte) {
    std::string text = r.generic ? fmt::format("generic({})", r.symbol) : r.symbol;
    if (r.addend != 0) text += fmt::format("{}{}", r.addend < 0 ? "-" : "+", r.addend < 0 ? -r.addend : r.addend);
    if (byte + element_ >= r.size) ++relocation_;
    return element_ == 1 ? fmt::format("0x{:X}({})", std::uint64_t{0xff} << (8 * byte), text) : text;
  }

  const Variable& variable_;
  std::size_t element_;
  std::size_t count_ = 0;
  std::size_t at_ = 0;
  std::size_t relocation_ = 0;
};

}  // namespace

std::string_view keyword(Linkage linkage) {
  switch (linkage) {
    case Linkage::internal:
      return "";
    case Linkage::visible:
      return ".visible ";
    case Linkage::external:
      return ".extern ";
    case Linkage::weak:
      return ".weak ";
    case Linkage::common:
      return ".common ";
  }
  return "";
}

std::string print_parameter(const Variable& variable) {
  std::string text = head_text(variable);
  if (variable.pointer) {
    text += " .ptr";
    if (variable.pointer_space != Space::generic) text += fmt::format(" .{}", name(variable.pointer_space));
    if (variable.pointee != Type::none) text += fmt::format(" .{}", name(variable.pointee));
    if (variable.pointer_align != 0) text += fmt::format(" .align {}", variable.pointer_align);
  }
  return fmt::format("{} {}{}", text, variable.name, shape_text(variable));
}

std::string print_variable(const Variable& variable) {
  std::string text =
      fmt::format("{}{} {}{}", keyword(variable.linkage), head_text(variable), variable.name, shape_text(variable));
  if (variable.sampler) text += " = " + sampler_text(*variable.sampler);
  if (!variable.initial.empty() || !variable.relocations.empty()) text += " = " + Values(variable).text();
  return text + ";";
}

}  // namespace wm::ptx

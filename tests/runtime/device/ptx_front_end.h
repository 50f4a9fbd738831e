// A compiler whose sources are PTX, as NVIDIA's OpenCL would have compiled them: the CUDA backend runs in tests without
// an OpenCL compiler.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>

#include "runtime/device/cuda/front_end.h"

namespace wm::runtime::cuda {

struct PtxProgram final : ProgramObject {
  std::string text;
  BinaryType type = BinaryType::none;
};
struct PtxKernel final : KernelObject {
  std::uint32_t parameters = 0;
};

class PtxCompilation final : public Compilation {
 public:
  // `max_items`: the limit of a group that it tells of every kernel.
  explicit PtxCompilation(std::uint64_t max_items) : max_items_(max_items) {}
  Made<ProgramHandle> program_from_source(std::string_view source) override {
    auto program = std::make_shared<PtxProgram>();
    program->text = source;
    return {status::kSuccess, std::move(program)};
  }
  Made<ProgramHandle> program_from_binary(std::string_view binary) override { return program_from_source(binary); }
  Status build(const ProgramObject& program, const std::string&) override {
    const_cast<PtxProgram&>(of(program)).type = BinaryType::executable;
    return status::kSuccess;
  }
  // Headers come before the text.
  Status compile(const ProgramObject& program, const std::string&, std::span<const Header> headers) override {
    auto& compiled = const_cast<PtxProgram&>(of(program));
    for (const Header& h : headers) compiled.text.insert(0, of(*h.program).text);
    compiled.type = BinaryType::object;
    return status::kSuccess;
  }
  // The texts one after the other. The option "library" makes a library, "fail" nothing.
  Made<ProgramHandle> link(std::span<const ProgramHandle> inputs, const std::string& options) override {
    if (options == "fail") return {status::kLinkProgramFailure, nullptr};
    auto linked = std::make_shared<PtxProgram>();
    for (const ProgramHandle& input : inputs) linked->text += of(*input).text;
    linked->type = options == "library" ? BinaryType::library : BinaryType::executable;
    return {status::kSuccess, std::move(linked)};
  }
  [[nodiscard]] bool build_failed(const ProgramObject& program) const override { return of(program).text == "failed"; }
  [[nodiscard]] BinaryType binary_type(const ProgramObject& program) const override { return of(program).type; }
  Status binary(const ProgramObject& program, std::string& answer) const override {
    answer = of(program).text;
    return answer == "no binary" ? status::kInvalidProgram : status::kSuccess;
  }
  [[nodiscard]] std::string build_log(const ProgramObject&) const override { return {}; }
  [[nodiscard]] std::optional<std::string> kernel_names(const ProgramObject&) const override { return std::nullopt; }
  Status program_info(const ProgramObject&, PropertyName, std::vector<std::byte>&) const override {
    return status::kInvalidValue;
  }
  // The compiler has nothing to say: an empty log, no error.
  Status build_info(const ProgramObject&, PropertyName, std::vector<std::byte>& answer) const override {
    answer.assign(sizeof(std::int32_t), std::byte{});
    return status::kSuccess;
  }
  Made<KernelHandle> create_kernel(const ProgramObject& program, const std::string& name) override {
    const std::string& text = of(program).text;
    const std::size_t at = text.find(".entry " + name + "(");
    if (at == std::string::npos) return {status::kInvalidValue, nullptr};
    auto kernel = std::make_shared<PtxKernel>();
    const std::string_view list = std::string_view(text).substr(at, text.find('{', at) - at);
    for (std::size_t p = list.find(".param"); p != list.npos; p = list.find(".param", p + 1)) ++kernel->parameters;
    return {status::kSuccess, std::move(kernel)};
  }
  [[nodiscard]] KernelInfo properties(const KernelObject& kernel) const override {
    KernelInfo info;
    info.max_items = max_items_;
    info.parameters.resize(static_cast<const PtxKernel&>(kernel).parameters, ParameterKind::unknown);
    return info;
  }
  Status kernel_info(const KernelObject&, PropertyName, std::vector<std::byte>&) const override {
    return status::kInvalidValue;
  }
  Status argument_info(const KernelObject&, std::uint32_t, PropertyName, std::vector<std::byte>&) const override {
    return status::kInvalidValue;
  }
  Status group_info(const KernelObject&, PropertyName, std::vector<std::byte>&) const override {
    return status::kInvalidValue;
  }

 private:
  static const PtxProgram& of(const ProgramObject& program) { return static_cast<const PtxProgram&>(program); }
  const std::uint64_t max_items_;
};

class PtxFrontEnd final : public FrontEnd {
 public:
  explicit PtxFrontEnd(std::uint64_t max_items = 1024) : compilation_(max_items) {}
  Compilation& compilation() override { return compilation_; }
  Status device_info(PropertyName, std::vector<std::byte>&) const override { return status::kInvalidValue; }
  [[nodiscard]] std::string platform_name() const override { return "PTX"; }
  [[nodiscard]] std::string compiler_name() const override { return "none"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] bool always_argument_info() override { return false; }
  [[nodiscard]] bool reports_registers() const override { return false; }
  [[nodiscard]] bool has_images() const override { return true; }
  // As an OpenCL driver lists them: some orders have some types only, and one order is for images that are only read.
  Status image_formats(MemoryFlags flags, ImageType, std::vector<std::byte>& answer) const override {
    constexpr MemoryFlags kReadOnly = 1 << 2;
    constexpr std::uint32_t kR = 0x10B0, kRA = 0x10B3, kRGBA = 0x10B5, kBGRA = 0x10B6, kARGB = 0x10B7,
                            kIntensity = 0x10B8, kLuminance = 0x10B9, kDepth = 0x10BD, kSrgba = 0x10C1;
    constexpr std::uint32_t kUnorm8 = 0x10D2, kSint8 = 0x10D7, kUint8 = 0x10DA, kFloat = 0x10DE;
    std::vector<std::array<std::uint32_t, 2>> formats;
    for (std::uint32_t type = 0x10D0; type <= kFloat; ++type) {
      for (std::uint32_t order = kR; order <= kRA; ++order) formats.push_back({order, type});
      formats.push_back({kRGBA, type});
      const bool is_integer = type >= kSint8 && type <= 0x10DC;
      for (const std::uint32_t order : {kIntensity, kLuminance}) {
        if (!is_integer) formats.push_back({order, type});
      }
      for (const std::uint32_t order : {kBGRA, kARGB}) {
        if (type == kUnorm8 || type == kSint8 || type == kUint8) formats.push_back({order, type});
      }
    }
    formats.push_back({kDepth, kFloat});
    if (flags == kReadOnly) formats.push_back({kSrgba, kUnorm8});
    const auto bytes = std::as_bytes(std::span(formats));
    answer.assign(bytes.begin(), bytes.end());
    return status::kSuccess;
  }

 private:
  PtxCompilation compilation_;
};

// PTX as an OpenCL compiler writes it: a module for `texmode_independent`, kernels with `.ptr` parameters.
inline std::string opencl_ptx(const std::string& kernels) {
  return ".version 7.5\n.target sm_75, texmode_independent\n.address_size 64\n" + kernels;
}
inline std::string ptx_kernel(const std::string& name, const std::string& parameters, const std::string& body) {
  return fmt::format(
      ".entry {}({})\n{{\n.reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %d<16>;\n.reg .f32 %f<8>;\n{}\n}}\n", name,
      parameters, body);
}

}  // namespace wm::runtime::cuda

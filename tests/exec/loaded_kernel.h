// A kernel loaded for a test that steps its blocks itself.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/snippet.h"

namespace wm::exec {

// A client with one module loaded, and a buffer "out".
class LoadedKernel {
 public:
  LoadedKernel(const std::string& text, std::size_t words) : words_(words) {
    auto module = ptx::parse(text, "k.ptx");
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    module_ = std::move(*module);
    auto out = memory_.allocate(words * 4, "out");
    EXPECT_TRUE(out.ok());
    out_ = *out;
    EXPECT_TRUE(memory_.fill(out_, std::byte{0}, words * 4).ok());
    auto image = Image::load(module_, memory_);
    EXPECT_TRUE(image.ok());
    auto program = decode(module_, "k", "k.ptx");
    EXPECT_TRUE(program.ok()) << program.error().to_string();
    program_ = *program;
    auto constants = image->link(*program_);
    EXPECT_TRUE(constants.ok());
    constants_ = *constants;
  }

  Grid grid(gpu::Dim3 blocks, gpu::Dim3 threads, bool cooperative = false) {
    const std::uint64_t buffers[] = {out_};
    const gpu::Launch launch{"k", blocks, threads, {gpu::buffer({0})}, 0, cooperative};
    auto made = make_grid(program_, constants_, memory_, launch, buffers);
    EXPECT_TRUE(made.ok()) << made.error().to_string();
    return std::move(*made);
  }

  std::vector<std::uint32_t> out() {
    std::vector<std::uint32_t> words(words_);
    EXPECT_TRUE(memory_.read(out_, reinterpret_cast<std::byte*>(words.data()), words_ * 4).ok());
    return words;
  }

 private:
  std::size_t words_;
  ptx::Module module_;
  AddressSpace memory_;
  std::uint64_t out_ = 0;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Constants> constants_;
};

}  // namespace wm::exec

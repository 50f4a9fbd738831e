// Runs small PTX kernels to their end, for the tests of the executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "exec/run.h"
#include "gpu/application.h"
#include "ptx/parse.h"

namespace wm::exec {

// One buffer "out" that every snippet gets as its first argument, others after it.
struct Snippet {
  std::string text;  // a complete module, or (with `body`) made by kernel()
  gpu::Dim3 grid{1, 1, 1};
  gpu::Dim3 block{32, 1, 1};
  std::size_t out_words = 32;
  std::size_t shared = 0;
  std::uint64_t limit = 1000000;
  std::vector<std::vector<std::uint32_t>> inputs;
};

struct Outcome {
  std::vector<std::uint32_t> out;
  std::vector<LaunchRecord> launches;
  std::string printed;
  std::string error;  // empty: it ran to its end
};

// A module of one kernel `k(.u64 out)` with enough registers, whose body is `body`. %out holds the buffer's address,
// %thread the flat thread index in its block, %at the address of the thread's word of `out`.
inline std::string kernel(const std::string& body, const std::string& before = {}, int inputs = 0) {
  std::string parameters = ".param .u64 out";
  std::string loads = "ld.param.u64 %out, [out];\n";
  for (int i = 0; i < inputs; ++i) {
    parameters += ", .param .u64 in" + std::to_string(i);
    loads += "ld.param.u64 %in" + std::to_string(i) + ", [in" + std::to_string(i) + "];\n";
  }
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + before + "\n.visible .entry k(" + parameters + ")\n{\n" +
         ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %d<16>;\n.reg .f64 "
         "%fd<8>;\n"
         ".reg .b64 %out, %at;\n.reg .b64 %in<4>;\n.reg .b32 %thread, %lane;\n" +
         loads +
         "mov.u32 %thread, %tid.x;\nmov.u32 %lane, %laneid;\nmul.wide.u32 %at, %thread, 4;\nadd.u64 %at, %at, %out;\n" +
         body + "\n}\n";
}

inline Outcome run(const Snippet& s) {
  Outcome result;
  auto module = ptx::parse(s.text, "k.ptx");
  if (!module) {
    result.error = module.error().to_string();
    return result;
  }
  gpu::Application app;
  std::vector<gpu::Argument> arguments;
  const auto out = app.add("out", std::vector<std::uint32_t>(s.out_words, 0));
  app.upload(out);
  arguments.push_back(gpu::buffer(out));
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const auto in = app.add("in" + std::to_string(i), s.inputs[i]);
    app.upload(in);
    arguments.push_back(gpu::buffer(in));
  }
  app.launch({"k", s.grid, s.block, arguments, s.shared});
  RunOptions options;
  options.max_instructions = s.limit;
  options.print = [&](std::string_view text) { result.printed += text; };
  auto ran = run_application(*module, app, options, "k.ptx");
  if (!ran) {
    result.error = ran.error().to_string();
    return result;
  }
  result.launches = ran->launches;
  result.out.resize(s.out_words);
  std::memcpy(result.out.data(), ran->buffers[0].data(), ran->buffers[0].size());
  return result;
}

// Runs `body` in one kernel and gives the words of `out`; a test fails where it did not end well.
inline std::vector<std::uint32_t> words(const std::string& body, Snippet s = {}) {
  if (s.text.empty()) s.text = kernel(body, "", static_cast<int>(s.inputs.size()));
  Outcome outcome = run(s);
  EXPECT_EQ(outcome.error, "");
  outcome.out.resize(s.out_words);
  return outcome.out;
}

// {f(0), f(1), …}
template <typename F>
std::vector<std::uint32_t> table(std::uint32_t count, F&& f) {
  std::vector<std::uint32_t> t(count);
  for (std::uint32_t i = 0; i < count; ++i) t[i] = static_cast<std::uint32_t>(f(i));
  return t;
}

}  // namespace wm::exec

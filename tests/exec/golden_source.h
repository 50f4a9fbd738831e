// PTX sources whose execution is written down in golden_execution.csv.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "exec/execution_digest.h"
#include "exec/snippet.h"

namespace wm::exec::test {

// `body` is the kernel's, `before` has functions and variables of the module.
struct Source {
  std::string body;
  std::string before;
};

inline constexpr const char* kStore = "st.global.u32 [%at], %r0;\nret;";

inline void expect_golden(const std::map<std::string, Source>& sources) {
  for (const auto& [name, source] : sources) {
    const auto module = ptx::parse(kernel(source.body, source.before), "input");
    ASSERT_TRUE(module.ok()) << name << ": " << module.error().to_string();
    Digest digest;
    const std::string row = executed(*module, "k", digest);
    expect_row(name, fmt::format("{},{}", row, digest.hex()));
  }
}

}  // namespace wm::exec::test

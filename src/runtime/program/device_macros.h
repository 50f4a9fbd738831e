// The macros that the device's compiler defines. The rewriter preprocesses programs with another compiler, which may
// define other macros; where a program depends on a macro, the device's compiler is asked, and its answer is kept.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/program.h"
#include "runtime/device/backend.h"

namespace wm::runtime {

class DeviceMacros {
 public:
  explicit DeviceMacros(Compilation& compilation) : compilation_(compilation) {}

  // Adds to `device` the macros that the device's compiler defines differently than was assumed, and returns their
  // number; nothing where one cannot be determined. `options`: those of the build, without the program's own
  // definitions.
  std::optional<std::size_t> correct(rewrite::Device& device, const std::string& options,
                                     const std::vector<rewrite::Assumption>& assumptions);

 private:
  struct Macro {
    bool defined = false;
    bool with_value = false;             // its value was requested too
    std::optional<std::uint64_t> value;  // as a number in an #if condition
  };
  struct Query {
    std::string name;
    bool with_value = false;
  };
  // Probes all macros with one program. If that does not build, because a macro is not a number, probes each by itself.
  void determine(const std::string& options, const std::vector<Query>& queries);
  std::optional<std::vector<Macro>> probe(const std::string& options, const std::vector<Query>& queries) const;

  // The kernel names of a program; nothing where it does not build.
  [[nodiscard]] std::optional<std::string> kernel_names(const std::string& source, const std::string& options) const;

  Compilation& compilation_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Macro> known_;  // by options and name
};

}  // namespace wm::runtime

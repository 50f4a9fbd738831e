// What the device's compiler defines. A program's second form is preprocessed by another compiler, which may answer its
// conditions otherwise; this one is asked when it matters, and what it said is remembered.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/program.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime {

class DeviceMacros {
 public:
  explicit DeviceMacros(const Native& native) : native_(native) {}

  // Adds to `device` what holds here otherwise than was assumed; how many there were, nothing where one cannot be told.
  // `options`: those of the build, without what is the program's own.
  std::optional<std::size_t> correct(rewrite::Device& device, const std::string& options,
                                     const std::vector<rewrite::Assumption>& assumptions);

 private:
  struct Macro {
    bool defined = false;
    bool valued = false;                 // it was asked for its value
    std::optional<std::uint64_t> value;  // as a condition takes it
  };
  struct Question {
    std::string name;
    bool valued = false;
  };
  // In one program; where one of them is no number that does not build, and each is asked for by itself.
  void ask(const std::string& options, const std::vector<Question>& questions);
  std::optional<std::vector<Macro>> probe(const std::string& options, const std::vector<Question>& questions) const;

  // Their names, of a program that builds.
  [[nodiscard]] std::optional<std::string> kernels_of(const std::string& source, const std::string& options) const;

  const Native& native_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Macro> known_;  // by options and name
};

}  // namespace wm::runtime

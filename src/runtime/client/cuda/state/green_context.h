// Sets of SMs, and green contexts: the streams of a green context run their kernels on the SMs of its set only. They
// are streams of the primary context in all other respects.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace wm::cuda {

class Context;

class SmSet {
 public:
  explicit SmSet(std::vector<std::uint32_t> sms)
      : sms_(std::make_shared<const std::vector<std::uint32_t>>(std::move(sms))) {}
  [[nodiscard]] const std::shared_ptr<const std::vector<std::uint32_t>>& sms() const { return sms_; }

 private:
  std::shared_ptr<const std::vector<std::uint32_t>> sms_;
};

class GreenContext {
 public:
  GreenContext(std::shared_ptr<Context> primary, SmSet sms) : primary_(std::move(primary)), sms_(std::move(sms)) {}
  [[nodiscard]] Context& primary() const { return *primary_; }
  [[nodiscard]] const SmSet& sms() const { return sms_; }

 private:
  const std::shared_ptr<Context> primary_;
  const SmSet sms_;
};

}  // namespace wm::cuda

// The PTX of an image, kept after the program has freed the image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/simulated/fat_binary.h"

namespace wm::gates {

class KeptPtx {
 public:
  // Copies what is needed of the image.
  static KeptPtx from(const void* image);

  // The text for an architecture (90 for compute_90), or the reason why there is none.
  [[nodiscard]] Result<std::string> text(std::uint32_t architecture) const;

 private:
  struct Entry {
    runtime::FatBinaryEntry about;  // its payload is empty
    std::vector<std::byte> payload;
  };
  [[nodiscard]] static KeptPtx refused(std::string reason);
  [[nodiscard]] static KeptPtx from_fat_binary(const void* image);

  std::string text_;  // an image that is PTX
  std::vector<Entry> entries_;
  std::string reason_;
};

}  // namespace wm::gates

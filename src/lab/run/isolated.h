// Rates of isolated runs, cached on disk by content, so that each is measured once.
//
// The key of a run is a digest of everything that determines its result: the GPU's configuration, the PTX, the
// application with its inputs, the limits, and the version of the simulator's code. An entry is written to a temporary
// file and renamed, so that processes can share a folder; an entry that cannot be read, or whose checksum is wrong, is
// measured again. If the folder cannot be written, the rate is measured in every run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "lab/run/measured_region.h"

namespace wm::gpu {
struct GpuConfig;
}

namespace wm::lab {

struct Participant;

struct IsolatedRate {
  std::uint64_t instructions = 0;  // thread instructions
  std::uint64_t cycles = 0;

  [[nodiscard]] double ipc() const {
    return cycles == 0 ? 0 : static_cast<double>(instructions) / static_cast<double>(cycles);
  }
  friend constexpr bool operator==(const IsolatedRate&, const IsolatedRate&) = default;
};

class IsolatedCache {
 public:
  // A cache that stores nothing.
  IsolatedCache() = default;
  explicit IsolatedCache(std::string folder) : folder_(std::move(folder)) {}

  // $XDG_CACHE_HOME/warpmux, or ~/.cache/warpmux; empty where neither is known.
  static std::string default_folder();

  [[nodiscard]] bool enabled() const { return !folder_.empty(); }
  [[nodiscard]] std::optional<IsolatedRate> find(const std::string& key) const;
  // Returns whether the rate was stored.
  bool keep(const std::string& key, const IsolatedRate& rate) const;
  [[nodiscard]] std::string path(const std::string& key) const;

 private:
  std::string folder_;
};

// The key of an isolated run under a limit of `cycles` (0: none). Empty where the configuration has no source text and
// therefore cannot be distinguished from another.
std::string isolated_key(const gpu::GpuConfig& gpu, const Participant& participant, std::uint64_t cycles,
                         RegionStart region = {});

}  // namespace wm::lab

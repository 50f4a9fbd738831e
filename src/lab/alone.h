// What a kernel does alone, kept on disk by content, so that a co-run measures it once and never again.
//
// A run's name is a digest of all that decides its result: the GPU's configuration, the PTX, the application with its
// inputs, the limits, and the version of the simulator's code. Entries are written beside their place and renamed, so
// that any number of processes share a folder; one that cannot be read, or whose sum is wrong, is measured again. A
// folder that cannot be written to costs time, never a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace wm::gpu {
struct GpuConfig;
}

namespace wm::lab {

struct Participant;

struct Alone {
  std::uint64_t instructions = 0;  // of threads
  std::uint64_t cycles = 0;

  [[nodiscard]] double ipc() const {
    return cycles == 0 ? 0 : static_cast<double>(instructions) / static_cast<double>(cycles);
  }
  friend constexpr bool operator==(const Alone&, const Alone&) = default;
};

class AloneCache {
 public:
  // Remembers nothing.
  AloneCache() = default;
  explicit AloneCache(std::string folder) : folder_(std::move(folder)) {}

  // $XDG_CACHE_HOME/warpmux, or ~/.cache/warpmux; empty where neither is known.
  static std::string default_folder();

  [[nodiscard]] bool enabled() const { return !folder_.empty(); }
  [[nodiscard]] std::optional<Alone> find(const std::string& key) const;
  // Whether it was kept.
  bool keep(const std::string& key, const Alone& alone) const;
  [[nodiscard]] std::string path(const std::string& key) const;

 private:
  std::string folder_;
};

// The name of a run alone under a limit of `cycles` (0: none); empty where the configuration does not say what it was
// read from, and so cannot be told from another.
std::string alone_key(const gpu::GpuConfig& gpu, const Participant& participant, std::uint64_t cycles);

}  // namespace wm::lab

// How long the launches of a client take isolated, by kernel and number of groups.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace wm::runtime {

class IsolatedTimes {
 public:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // the kernel's function, groups

  void note(Key key, double nanoseconds);
  // Such a launch took so long beside other clients' kernels: isolated it takes no longer. A first launch that included
  // the loading of its code is corrected here where its client was never isolated again.
  void limit(Key key, double nanoseconds);
  // Nothing where such a launch has not been measured.
  [[nodiscard]] std::optional<double> find(Key key) const;

 private:
  struct Entry {
    double known = 0;
    double sum = 0;  // sum over launches that are not in `known` yet
    std::uint32_t count = 0;
  };
  std::map<Key, Entry> times_;
};

}  // namespace wm::runtime

// The kernels of executable graphs, so that the launch of a graph counts as the launches of its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <shared_mutex>

#include "runtime/client/cuda/interface/types.h"

namespace wm::forward {

class GraphKernels {
 public:
  static GraphKernels& get();

  // Counts the kernels of the graph, those of graphs in it included. Bodies of conditional nodes are not known.
  void add(CUgraphExec executable, CUgraph graph);
  void remove(CUgraphExec executable);
  // One at least: a graph of copies is work too, as is one that came by a way that is not seen here.
  [[nodiscard]] std::uint64_t launches(CUgraphExec executable) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<CUgraphExec, std::uint64_t> kernels_;
};

}  // namespace wm::forward

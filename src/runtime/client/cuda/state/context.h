// A context: its streams and the order of their work, its limits, and the error that ended it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/cuda/state/device.h"
#include "runtime/client/cuda/state/operation.h"
#include "runtime/client/cuda/state/stream.h"
#include "runtime/simulated/work_queue.h"

namespace wm::cuda {

class Context : public std::enable_shared_from_this<Context> {
 public:
  Context(Device& device, unsigned flags, bool is_primary, std::uint64_t id);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool is_primary() const { return is_primary_; }
  unsigned flags;

  // The error of a kernel that faulted. It stays: every later call of this context returns it.
  [[nodiscard]] CUresult error() const { return error_.load(); }
  void fail(CUresult error);

  std::shared_ptr<Stream> make_stream(unsigned flags, int priority);
  void forget(Stream& stream);
  // The stream of a handle; nullptr names the default stream. Empty: no stream of any context.
  std::shared_ptr<Stream> stream(CUstream handle);

  // Appends work to a stream, or a node to the graph that the stream is captured into; a node has no ticket. The legacy
  // default stream waits for all streams that are not non-blocking, and they for it.
  runtime::WorkTicket enqueue(Stream& stream, const Operation& operation);
  // Appends operations that follow the stream's work and each other as they say; later work follows all of them.
  void enqueue_graph(Stream& stream, std::vector<GraphOperation> operations);
  // Later work of the stream follows `ticket` too.
  void add_dependency(Stream& stream, const runtime::WorkTicket& ticket);
  // The tickets that stand for all work of a stream so far.
  std::vector<runtime::WorkTicket> position(Stream& stream);
  // Waits until the work of the stream, or of all streams, is done. Returns the context's error.
  CUresult synchronize(Stream& stream);
  CUresult synchronize();
  // The same, whatever is captured.
  CUresult wait(Stream& stream);
  CUresult drain();
  [[nodiscard]] bool is_idle(Stream& stream);
  [[nodiscard]] static bool is_capturing(const Stream& stream);

  std::array<std::atomic<std::size_t>, 8> limits{};

 private:
  void collect_dependencies(Stream& stream, std::vector<runtime::WorkTicket>& after);
  runtime::WorkTicket submit(const std::vector<runtime::WorkTicket>& after, const Operation& operation);
  // Submits a node of a graph; the work keeps `kept`.
  runtime::WorkTicket submit_node(std::vector<runtime::WorkTicket> after, const Operation& node,
                                  const std::shared_ptr<const std::vector<GraphOperation>>& kept);
  CUresult wait_for(const std::vector<runtime::WorkTicket>& tickets);

  Device& device_;
  const bool is_primary_;
  const std::uint64_t id_;
  std::atomic<CUresult> error_{CUDA_SUCCESS};
  std::mutex order_;  // guards the streams' positions
  std::shared_ptr<Stream> legacy_;
  std::vector<std::shared_ptr<Stream>> streams_;  // in the order of their creation
  std::vector<runtime::WorkTicket> orphaned_;     // last work of non-blocking streams that were destroyed meanwhile
};

}  // namespace wm::cuda

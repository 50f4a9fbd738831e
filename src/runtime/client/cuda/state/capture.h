// Captures: the work of streams becomes nodes of a graph and does not run. A stream that waits for an event of a
// capturing stream takes part.
//
// A call that breaks a rule of captures returns an error and invalidates the captures that it concerns: their streams
// accept no work until the capture is ended, which gives no graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/client/cuda/state/graph.h"
#include "runtime/client/cuda/state/stream.h"

namespace wm::cuda {

// A capture in progress: the graph that grows, and the streams that take part.
struct Capture {
  std::shared_ptr<Graph> graph;
  std::uint64_t id = 0;
  int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread = std::this_thread::get_id();
  bool is_invalid = false;
  bool is_ended = false;
  std::vector<Stream*> streams;  // the first one began it
  std::vector<GraphNode*> left;  // the last nodes of streams that were destroyed meanwhile
};

// The place in a capture's graph that the next work of a stream follows.
struct CapturePosition {
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> last;
};

// All captures of the process.
class Captures {
 public:
  static Captures& instance();

  // Begins a capture that appends to `graph`, behind nodes of it.
  CUresult begin(Stream& stream, std::shared_ptr<Graph> graph, std::vector<GraphNode*> after, int mode,
                 std::uint64_t id);
  CUresult end(Stream& stream, std::shared_ptr<Graph>& graph);
  // The stream takes part from now on, behind nodes that an event stands for.
  CUresult join(Stream& stream, const CapturePosition& event);
  // Adds an operation to the capture of the stream; nullptr: it takes part in none.
  GraphNode* append(Stream& stream, const Operation& operation);
  // Without a capture where the stream takes part in none.
  CapturePosition position(const Stream& stream);
  // Sets the nodes that the stream's next work follows, or adds to them.
  CUresult move(Stream& stream, const std::vector<GraphNode*>& nodes, bool adds);
  // A stream is destroyed.
  void forget(Stream& stream);
  // Ends every capture of the context's streams without a graph.
  void forget(const Context& context);

  // Whether work may be added to a stream: not after its capture was invalidated, and not to the legacy stream while a
  // stream captures that it would wait for.
  CUresult check_work(const Stream& stream);
  // Whether the application may wait for a stream, or ask whether it is done.
  CUresult check_wait(const Stream& stream);
  // The same for all streams of a context.
  CUresult check_wait(const Context& context);
  // Whether the calling thread may make a call that a capture does not see, as an allocation.
  CUresult check_unsafe_call();
  // Whether the legacy stream stands still because a stream captures.
  bool blocks_legacy(const Stream& stream);
  void invalidate(const Stream& stream);
  void invalidate(Capture& capture);

  // The mode of the calling thread.
  static int exchange_mode(int mode);

 private:
  template <typename Which>
  bool invalidate_if(Which&& which);

  std::atomic<std::size_t> active_{0};  // read without the lock by every call
  std::mutex mutex_;                    // guards captures and the streams' places in them
  std::vector<std::shared_ptr<Capture>> captures_;
};

}  // namespace wm::cuda

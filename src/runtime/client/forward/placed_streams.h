// Launches on the SMs of a green context in place of the program's own stream.
//
// A placed launch runs in a stream of the green context that belongs to the program's stream. Events order it behind
// the work of the program's stream and before its later work, so that the program's stream, its events and its waits
// mean what they meant before: the program's stream is not done before the placed launch is.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "runtime/client/forward/green_contexts.h"

namespace wm::forward {

class PlacedStreams {
 public:
  static PlacedStreams& get();

  // A stream of the set for the launch, and the two events that order it; empty: this launch cannot be placed. `stream`
  // is a handle for calls whose default stream is the legacy one.
  struct Place {
    CUstream own = nullptr, placed = nullptr;
    CUevent before = nullptr, after = nullptr;
    std::uint64_t generation = 0;
  };
  [[nodiscard]] std::optional<Place> begin(CUfunction function, CUstream stream, GreenContexts::Set set);
  // After the launch in the placed stream: the program's stream waits for it.
  [[nodiscard]] static CUresult follow(const Place& place);
  // The events may be used again.
  void end(const Place& place);

  // The driver takes the kernel in the program's stream, but not in a placed one.
  void refused(CUfunction function);
  // After the driver has destroyed the program's stream: its placed streams are destroyed too.
  void destroyed(CUstream stream);

 private:
  // The thread counts for its own default stream only.
  using Key = std::tuple<CUstream, std::thread::id, std::uint64_t>;  // with the groups
  [[nodiscard]] CUstream placed(CUstream stream, GreenContexts::Set set);
  [[nodiscard]] bool take_events(Place& place);
  void forget_old();

  std::mutex mutex_;
  std::map<Key, CUstream> streams_;  // null: launches in this stream cannot be placed
  std::vector<std::pair<CUevent, CUevent>> events_;
  std::set<CUfunction> refused_;
  std::uint64_t generation_ = 0;
};

// The outcome of an attempt to place a launch. One that is not placed must be made as the program asked.
struct PlacedLaunch {
  enum class State { placed, not_tried, refused };  // refused: the driver does not take it in the placed stream
  State state = State::not_tried;
  CUresult result = CUDA_SUCCESS;  // valid where the launch is placed
};

// Calls `launch` with a stream of the set if the launch can be placed.
template <typename Launch>
PlacedLaunch launch_placed(CUfunction function, CUstream stream, GreenContexts::Set set, Launch&& launch) {
  PlacedStreams& streams = PlacedStreams::get();
  const auto place = streams.begin(function, stream, set);
  if (!place) return {};
  const bool is_launched = launch(place->placed) == CUDA_SUCCESS;
  const CUresult result = is_launched ? PlacedStreams::follow(*place) : CUDA_SUCCESS;
  streams.end(*place);
  return {is_launched ? PlacedLaunch::State::placed : PlacedLaunch::State::refused, result};
}

}  // namespace wm::forward

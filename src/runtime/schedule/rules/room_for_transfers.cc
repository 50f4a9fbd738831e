#include "runtime/schedule/rules/room_for_transfers.h"

#include <algorithm>

namespace wm::runtime {

CommandPtr RoomForTransfers::makes_room(const ActiveKernels& kernels) const {
  CommandPtr chosen;
  std::size_t max_batches = 0;
  for (const auto& [id, command] : kernels.all()) {
    if (!command->workers) continue;
    const auto& batches = command->workers->batches;
    // Workers that were told to leave will free a compute unit.
    if (std::any_of(batches.begin(), batches.end(),
                    [](const auto& b) { return b->state == WorkerBatch::State::leaving; }))
      return nullptr;
    if (batches.size() <= max_batches) continue;
    max_batches = batches.size();
    chosen = command;
  }
  return chosen;
}

}  // namespace wm::runtime

// Asynchronous copies of a warp, in the groups its program commits.
#include <algorithm>

#include "sim/cycle/sm/sm.h"

namespace wm::sim {

// Into the open group; returns its number.
std::uint32_t Sm::issue_copy(WarpSlot& w, const Lsu::Issued& issued) {
  if (w.copies.empty()) w.copies.emplace_back();
  CopyGroup& open = w.copies.back();
  if (issued.load == kNoLoad)
    open.ready = std::max(open.ready, issued.ready);
  else
    ++open.pending;
  return w.copies_gone + static_cast<std::uint32_t>(w.copies.size() - 1);
}

// An empty group counts like any other. Groups that are there are forgotten from the oldest on.
void Sm::commit_copies(WarpSlot& w, std::uint64_t now) {
  if (w.copies.empty()) w.copies.emplace_back();
  const auto kept = std::find_if(w.copies.begin(), w.copies.end(),
                                 [&](const CopyGroup& g) { return g.pending != 0 || g.ready > now; });
  w.copies_gone += static_cast<std::uint32_t>(kept - w.copies.begin());
  w.copies.erase(w.copies.begin(), kept);
  w.copies.emplace_back();
}

void Sm::finish_copy(WarpSlot& w, std::uint32_t group, std::uint64_t at) {
  CopyGroup& g = w.copies[group - w.copies_gone];
  --g.pending;
  g.ready = std::max(g.ready, at);
}

bool Sm::waits(const WarpSlot& w, const TimedOp& op, std::uint64_t& at) {
  if (op.copies == CopyRole::none) return w.loads != 0;
  const std::size_t left = op.copies == CopyRole::wait_all ? 0 : std::size_t{op.groups} + 1;  // and the open one
  for (std::size_t i = 0; i + left < w.copies.size(); ++i) {
    if (w.copies[i].pending != 0) return true;
    at = std::max(at, w.copies[i].ready);
  }
  return false;
}

}  // namespace wm::sim

// Time slicing: the behaviour of NVIDIA GPUs with processes that do not share a context. One process has all SMs for a
// slice; then the contexts of its blocks are saved and the next process that has a kernel takes over. A process that
// has had no kernel for some time yields the rest of its slice: launches that follow each other are one piece of work
// for the GPU. Kernels of one process, which are in one context, share its slice: SMs that the oldest has no more
// blocks for go to the next.
//
// Defaults are those of an H200 at 1980 MHz: slices of 2048 us, and about 150 us between two processes in which the GPU
// does nothing (measured from 100 to 200). Saving and restoring contexts takes the machine's own time on top.
#include <algorithm>
#include <map>
#include <optional>

#include "policy/algorithm/demand.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class TimeSlice final : public Policy {
 public:
  explicit TimeSlice(const Values& v)
      : slice_(v.cycles("slice")), switch_(v.cycles("switch")), idle_(v.cycles("idle")) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    const auto [known, added] = first_clients_.try_emplace(gpu.find(e.kernel)->process, e.kernel);
    if (!added) known->second = std::min(known->second, e.kernel);
  }
  void on(const KernelSetChanged&, Machine& gpu) override {
    if (current_ && oldest_of(gpu, *current_) != nullptr) {
      yields_at_.reset();
      share_slice(gpu);
    } else if (!current_ || idle_.count == 0 || (yields_at_ && gpu.now() >= *yields_at_)) {
      rotate(gpu);
    } else if (!yields_at_) {
      yields_at_ = gpu.now() + idle_;
      gpu.wake_at(*yields_at_, tag(Stage::idle));
    }
  }
  void on(const SmIdle&, Machine& gpu) override { share_slice(gpu); }
  // A wake-up of a slice that has ended in the meantime is ignored.
  void on(const Wake& e, Machine& gpu) override {
    if (e.tag == tag(Stage::switching)) {
      begin_slice(gpu);
    } else if (e.tag == tag(Stage::running) || (e.tag == tag(Stage::idle) && yields_at_ && gpu.now() >= *yields_at_)) {
      rotate(gpu);
    }
  }

 private:
  enum class Stage : std::uint64_t { switching, running, idle, count };
  [[nodiscard]] std::uint64_t tag(Stage stage) const {
    return slices_ * static_cast<std::uint64_t>(Stage::count) + static_cast<std::uint64_t>(stage);
  }

  static const Kernel* oldest_of(const Machine& gpu, std::uint32_t process) {
    const auto all = gpu.kernels();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Kernel& k) { return k.process == process; });
    return found == all.end() ? nullptr : &*found;
  }

  // The next process that has a kernel, by its first client's number; the present one again where no other has.
  [[nodiscard]] std::optional<std::uint32_t> next_process(const Machine& gpu) const {
    std::optional<std::uint32_t> next;
    std::optional<std::uint32_t> first;
    const auto number = [&](std::uint32_t process) { return first_clients_.at(process); };
    for (const Kernel& k : gpu.kernels()) {
      if (!first || number(k.process) < number(*first)) first = k.process;
      if (!current_ || !(number(k.process) > number(*current_))) continue;
      if (!next || number(k.process) < number(*next)) next = k.process;
    }
    return next ? next : first;
  }

  void rotate(Machine& gpu) {
    const auto next = next_process(gpu);
    if (!next) return;
    ++slices_;
    yields_at_.reset();
    const bool first = !current_;
    if (next == current_) return begin_slice(gpu);
    limit(gpu, kNoCap);
    current_ = next;
    owner_ = oldest_of(gpu, *next)->id;
    for (const Sm& sm : gpu.sms()) gpu.give(sm.id, owner_, Preempt::switch_context);
    if (first || switch_.count == 0) return begin_slice(gpu);
    limit(gpu, 0);
    switching_ = true;
    gpu.wake_at(gpu.now() + switch_, tag(Stage::switching));
  }

  void begin_slice(Machine& gpu) {
    switching_ = false;
    limit(gpu, kNoCap);
    gpu.wake_at(gpu.now() + slice_, tag(Stage::running));
  }

  void share_slice(Machine& gpu) const {
    if (switching_ || !current_) return;
    for (const Kernel& k : gpu.kernels())
      if (k.process == *current_) give_idle(gpu, k, Preempt::switch_context);
  }

  // Limits the client that the SMs were given to; the process's others have none while the GPU does nothing.
  void limit(Machine& gpu, std::uint32_t blocks) const {
    if (owner_ == kNoKernel) return;
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, owner_, blocks);
  }

  Cycles slice_;
  Cycles switch_;
  Cycles idle_;
  std::optional<Cycles> yields_at_;       // the present process has no kernel and keeps its slice until then
  std::optional<std::uint32_t> current_;  // process
  KernelId owner_ = kNoKernel;            // its client that got all SMs when the slice began
  bool switching_ = false;
  std::map<std::uint32_t, KernelId> first_clients_;  // by process
  std::uint64_t slices_ = 0;
};

}  // namespace

WM_POLICY(TimeSlice, {.name = "time_slice",
                      .about = "one process at a time on all SMs, in turn",
                      .paper = "NVIDIA GPUs without MPS",
                      .waits = Waits::for_earlier,
                      .needs = {Can::own_sms, Can::switch_context, Can::cap_blocks},
                      .parameters = {cycles("slice", 4'055'040, {1'000, 1'000'000'000}, "length of a slice", ""),
                                     cycles("switch", 297'000, {0, 100'000'000},
                                            "time between two processes in which the GPU does nothing", ""),
                                     cycles("idle", 19'800, {0, 100'000'000},
                                            "time without a kernel after which a process yields its slice", "")}})

}  // namespace wm::policy

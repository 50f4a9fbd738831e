// Time slicing: the behaviour of NVIDIA GPUs with processes that do not share a context. One client has all SMs for a
// slice; then the contexts of its blocks are saved and the next client that has a kernel takes over. A client that has
// had no kernel for some time yields the rest of its slice: launches that follow each other are one piece of work for
// the GPU.
//
// Defaults are those of an H200 at 1980 MHz: slices of 2048 us, and about 150 us between two clients in which the GPU
// does nothing (measured from 100 to 200). Saving and restoring contexts takes the machine's own time on top.
#include <optional>

#include "policy/policy.h"

namespace wm::policy {
namespace {

class TimeSlice final : public Policy {
 public:
  explicit TimeSlice(const Values& v)
      : slice_(v.cycles("slice")), switch_(v.cycles("switch")), idle_(v.cycles("idle")) {}

  void on(const KernelSetChanged&, Machine& gpu) override {
    if (gpu.find(current_) != nullptr) {
      yields_at_.reset();
    } else if (current_ == kNoKernel || idle_.count == 0 || (yields_at_ && gpu.now() >= *yields_at_)) {
      rotate(gpu);
    } else if (!yields_at_) {
      yields_at_ = gpu.now() + idle_;
      gpu.wake_at(*yields_at_, tag(Stage::idle));
    }
  }
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

  // The next client by number that has a kernel; the present one again where no other has.
  static KernelId after(const Machine& gpu, KernelId current) {
    KernelId next = kNoKernel;
    KernelId first = kNoKernel;
    for (const Kernel& k : gpu.kernels()) {
      if (first == kNoKernel || k.id < first) first = k.id;
      if (current != kNoKernel && k.id > current && (next == kNoKernel || k.id < next)) next = k.id;
    }
    return next == kNoKernel ? first : next;
  }

  void rotate(Machine& gpu) {
    const KernelId next = after(gpu, current_);
    if (next == kNoKernel) return;
    ++slices_;
    yields_at_.reset();
    const bool first = current_ == kNoKernel;
    if (next == current_) return begin_slice(gpu);
    limit(gpu, current_, kNoCap);
    current_ = next;
    for (const Sm& sm : gpu.sms()) gpu.give(sm.id, current_, Preempt::switch_context);
    if (first || switch_.count == 0) return begin_slice(gpu);
    limit(gpu, current_, 0);
    gpu.wake_at(gpu.now() + switch_, tag(Stage::switching));
  }

  void begin_slice(Machine& gpu) {
    limit(gpu, current_, kNoCap);
    gpu.wake_at(gpu.now() + slice_, tag(Stage::running));
  }

  static void limit(Machine& gpu, KernelId client, std::uint32_t blocks) {
    if (client == kNoKernel) return;
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, client, blocks);
  }

  Cycles slice_;
  Cycles switch_;
  Cycles idle_;
  std::optional<Cycles> yields_at_;  // the present client has no kernel and keeps its slice until then
  KernelId current_ = kNoKernel;
  std::uint64_t slices_ = 0;
};

}  // namespace

WM_POLICY(TimeSlice, {.name = "time_slice",
                      .about = "one client at a time on all SMs, in turn",
                      .paper = "NVIDIA GPUs without MPS",
                      .waits = Waits::for_earlier,
                      .needs = {Can::own_sms, Can::switch_context, Can::cap_blocks},
                      .parameters = {cycles("slice", 4'055'040, {1'000, 1'000'000'000}, "length of a slice", ""),
                                     cycles("switch", 297'000, {0, 100'000'000},
                                            "time between two clients in which the GPU does nothing", ""),
                                     cycles("idle", 19'800, {0, 100'000'000},
                                            "time without a kernel after which a client yields its slice", "")}})

}  // namespace wm::policy

// Warped-Slicer: measure how each kernel's speed grows with its blocks on an SM, then divide every SM so that the
// kernel that loses most loses least. Xu et al., ISCA 2016, section IV.
//
//   warm up   the SMs are divided among the kernels; a kernel's i-th SM runs i blocks of it and no others (figure 4)
//   sample    for 5K cycles; where there are fewer SMs than block counts, in rounds, which only add blocks
//   decide    scale for bandwidth (equations 2 to 4), water-fill (algorithm 1), or spatial sharing
//   watch     a kernel whose speed changes, and stays changed for as long as a measurement takes, starts a new one
//             (section IV.B)
//
// A new kernel starts a new measurement too; blocks above a new cap run to their end. A kernel that was measured before
// is not measured again. A client whose launches alternate between functions is measured as a whole. While a client
// pauses between two launches for at most `pause`, measurements and decisions wait for it.
#include <algorithm>
#include <cmath>
#include <map>

#include "policy/algorithm/alternating_clients.h"
#include "policy/algorithm/members.h"
#include "policy/algorithm/paused_clients.h"
#include "policy/algorithm/water_filling.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class WarpedSlicer final : public Policy {
 public:
  explicit WarpedSlicer(const Values& v)
      : warmup_(v.cycles("warmup")),
        sample_(v.cycles("sample")),
        delay_(v.cycles("delay")),
        loss_(v.number("loss")),
        phase_change_(v.number("phase_change")),
        phase_samples_(static_cast<std::uint64_t>(v.integer("phase_samples"))),
        psi_(v.choice<Psi>("psi")),
        pauses_(v.cycles("pause")) {}

  void on(const KernelSetChanged&, Machine& gpu) override {
    if (!members_.changed(gpu)) return;
    const bool is_measuring = stage_ == Stage::warming || stage_ == Stage::sampling;
    has_another_function_ |= alternating_.note(gpu, is_measuring);
    adapt(gpu);
  }

  void on(const Wake& e, Machine& gpu) override {
    if (e.tag == PausedClients::kTag) return adapt(gpu);
    if (e.tag == plan_ && pauses_.some_absent()) return gpu.wake_at(gpu.now() + sample_, plan_);
    if (e.tag == plan_ && stage_ == Stage::warming) {
      // Blocks above their targets run to their end before the sample begins.
      if (!settled(gpu)) return takes_too_long(gpu) ? keep_partition(gpu) : gpu.wake_at(gpu.now() + sample_, plan_);
      stage_ = Stage::sampling;
      begin_sample(gpu);
      gpu.set_epoch(sample_);
    } else if (e.tag == plan_ && stage_ == Stage::deciding) {
      end_measurement(gpu);
    }
  }

  void on(const Epoch& e, Machine& gpu) override {
    if (stage_ == Stage::sampling) {
      if (!pauses_.some_absent()) {
        read_sample(gpu, e.length);
        next_round(gpu);
      }
      begin_sample(gpu);
    } else if (stage_ == Stage::sharing && !pauses_.some_absent()) {
      watch(gpu);
    }
  }

 private:
  enum class Stage { isolated, warming, sampling, deciding, sharing };
  enum class Psi { bandwidth, shares, printed };  // the first is the default

  struct Curve {
    std::vector<double> ipc;           // on one SM with 1, 2, … blocks
    std::vector<std::uint32_t> times;  // number of samples of each
  };
  using Key = std::pair<KernelId, std::uint32_t>;  // client and function
  static constexpr std::uint32_t kAllFunctions = 0xffffffffU;
  [[nodiscard]] Key key(const Kernel& k) const {
    return {k.id, alternating_.contains(k.id) ? kAllFunctions : k.function};
  }

  void adapt(Machine& gpu) {
    if (pauses_.postpones(gpu)) return;
    if (pauses_.differs(gpu) || has_another_function_) regroup(gpu);
  }

  void regroup(Machine& gpu) {
    const auto kernels = by_client(gpu);
    pauses_.note_plan(gpu);
    has_another_function_ = false;
    curves_of_last_phase_.clear();
    ++plan_;
    if (kernels.size() < 2) {
      stage_ = Stage::isolated;
      for (const Kernel& k : kernels) {
        for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, k.id, kNoCap);
      }
      return;
    }
    if (measured(kernels)) return partition(gpu);
    begin_profile(gpu);
  }

  void begin_profile(Machine& gpu) {
    for (const Kernel& k : by_client(gpu)) curves_.erase(key(k));
    round_ = 0;
    repeats_ = 0;
    measuring_since_ = gpu.now();
    place(gpu);
    stage_ = Stage::warming;
    gpu.wake_at(gpu.now() + warmup_, plan_);
  }

  // Long blocks may hold up the measurement of a new phase for longer than the phase lasts, while few blocks run. The
  // partition is as good as it was, so that it is kept where they have not ended within a second warm-up. New kernels
  // have no partition to keep.
  [[nodiscard]] bool takes_too_long(const Machine& gpu) const {
    return !curves_of_last_phase_.empty() && gpu.now() - measuring_since_ >= warmup_ + warmup_;
  }
  void keep_partition(Machine& gpu) {
    curves_ = std::move(curves_of_last_phase_);
    end_measurement(gpu);
  }

  // Figure 4: each kernel by itself on its part of the SMs, with one block more on every next SM.
  void place(Machine& gpu) {
    const auto kernels = by_client(gpu);
    const std::size_t sms = gpu.sms().size();
    std::vector<std::uint32_t> place(kernels.size(), 0);
    targets_.assign(sms, {});
    for (std::uint32_t i = 0; i < sms; ++i) {
      const std::size_t mine = part_of(i, sms, kernels.size());
      const std::size_t parts = std::max<std::size_t>(sms / kernels.size(), 1);
      const auto count = static_cast<std::uint32_t>(round_ * parts + place[mine]++);
      const std::uint32_t max_blocks = alternating_.max_blocks(kernels[mine]);
      // Later rounds must not remove blocks: those would still be resident when the sample begins.
      targets_[i] = {kernels[mine].id, round_ == 0 ? count % max_blocks + 1 : std::min(count + 1, max_blocks)};
      for (const Kernel& k : kernels) gpu.cap({i}, k.id, k.id == kernels[mine].id ? targets_[i].blocks : 0);
    }
  }

  // Whether no SM holds more than its target, nor blocks of another kernel.
  [[nodiscard]] bool settled(const Machine& gpu) const {
    return std::all_of(gpu.sms().begin(), gpu.sms().end(), [&](const Sm& sm) {
      const Target& target = targets_[sm.index];
      const std::uint32_t mine = gpu.residents(sm.id)[target.kernel.index].resident;
      return sm.resident == mine && mine <= target.blocks;
    });
  }

  void begin_sample(const Machine& gpu) {
    launches_.clear();
    for (const Kernel& k : gpu.kernels()) launches_[k.id] = k.launch;
  }

  // Whether the SM held its target number of blocks. At the end of a launch a kernel has none to start in place of
  // those that end; otherwise blocks that ended are being replaced.
  [[nodiscard]] bool held_target(const Machine& gpu, const Sm& sm, const Kernel& k) const {
    const std::uint32_t mine = gpu.residents(sm.id)[k.id.index].resident;
    const std::uint32_t target = targets_[sm.index].blocks;
    const auto launch = launches_.find(k.id);
    const bool one_launch = launch != launches_.end() && launch->second == k.launch;
    return one_launch && sm.resident == mine && (mine == target || (mine < target && k.waiting > 0));
  }

  void read_sample(Machine& gpu, Cycles length) {
    for (const Kernel& k : by_client(gpu)) {
      double sum = 0;  // for CTA_avg
      int sampled = 0;
      for (const Sm& sm : gpu.sms()) {
        if (targets_[sm.index].kernel != k.id) continue;
        sum += targets_[sm.index].blocks;
        ++sampled;
      }
      Curve& curve = curves_[key(k)];
      const std::uint32_t max_blocks = alternating_.max_blocks(k);
      curve.ipc.resize(max_blocks, 0);
      curve.times.resize(max_blocks, 0);
      for (const Sm& sm : gpu.sms()) {
        const Target& target = targets_[sm.index];
        if (target.kernel != k.id || target.blocks > max_blocks || (repeats_ < kMaxRepeats && !held_target(gpu, sm, k)))
          continue;
        const double scaled =
            scaled_ipc(gpu, gpu.residents(sm.id)[k.id.index].counters, length, target.blocks, sum / sampled);
        const std::size_t at = target.blocks - 1;
        curve.ipc[at] = (curve.ipc[at] * curve.times[at] + scaled) / (curve.times[at] + 1);
        ++curve.times[at];
      }
    }
  }

  // The sampled rate, corrected to the case that every SM runs as many blocks of the kernel: by equation 2 where
  // bandwidth is counted, otherwise by equations 3 and 4. phi_mem has no part in the former: an SM that has more than
  // its equal part of the bandwidth hardly stalls in the sample, and would when all SMs run as many blocks.
  [[nodiscard]] double scaled_ipc(const Machine& gpu, const Counters& c, Cycles length, double blocks,
                                  double average_blocks) const {
    const auto cycles = static_cast<double>(length.count);
    const double ipc = static_cast<double>(c.thread_instructions) / cycles;
    const double peak = gpu.can(Can::count_traffic) ? gpu.dram_bytes_per_cycle() : 0;
    if (psi_ == Psi::bandwidth && peak > 0) {
      const double sms = static_cast<double>(gpu.sms().size());
      return ipc * part_kept_at(static_cast<double>(c.dram_bytes) / cycles, peak / sms);
    }
    const double stalls = std::min(static_cast<double>(c.memory_stall_cycles) / cycles, 1.0);  // phi_mem
    const double psi =
        psi_ == Psi::printed ? psi_as_printed(blocks, average_blocks) : psi_of_shares(blocks, average_blocks);
    return scale_for_bandwidth(ipc, stalls, psi);
  }

  // Whether every count of blocks of every kernel was sampled.
  [[nodiscard]] bool measured(const std::vector<Kernel>& kernels) const {
    return std::all_of(kernels.begin(), kernels.end(), [this](const Kernel& k) {
      const auto curve = curves_.find(key(k));
      return curve != curves_.end() &&
             std::find(curve->second.times.begin(), curve->second.times.end(), 0U) == curve->second.times.end();
    });
  }

  // "Time sharing one SM to run with a different number of CTAs sequentially", until every count of every kernel was
  // seen.
  void next_round(Machine& gpu) {
    if (measured(by_client(gpu))) {
      stage_ = Stage::deciding;
      gpu.wake_at(gpu.now() + delay_, plan_);
      return;
    }
    if (!round_measured(gpu)) {
      ++repeats_;
      return;
    }
    ++round_;
    repeats_ = 0;
    place(gpu);
  }

  // Whether the sample of every SM of this round was taken.
  [[nodiscard]] bool round_measured(const Machine& gpu) const {
    const auto kernels = by_client(gpu);
    return std::all_of(targets_.begin(), targets_.end(), [&](const Target& target) {
      const auto k =
          std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& other) { return other.id == target.kernel; });
      if (k == kernels.end()) return true;
      const auto curve = curves_.find(key(*k));
      // Another function of the client may hold fewer blocks than the one for which the SM was prepared.
      return curve != curves_.end() &&
             (target.blocks > curve->second.times.size() || curve->second.times[target.blocks - 1] > 0);
    });
  }

  void end_measurement(Machine& gpu) {
    measurement_ = gpu.now() - measuring_since_;
    partition(gpu);
  }

  void partition(Machine& gpu) {
    const auto kernels = by_client(gpu);
    std::vector<std::vector<double>> curves;
    std::vector<Sharer> sharers;
    for (const Kernel& k : kernels) curves.push_back(normalized(curves_[key(k)].ipc));
    for (std::size_t i = 0; i < kernels.size(); ++i) sharers.push_back({curves[i], kernels[i].footprint});
    const auto blocks = water_fill(sharers, gpu.limits().total);
    bool together = blocks.has_value();
    for (std::size_t i = 0; together && i < kernels.size(); ++i) {
      // "The performance loss threshold of any single kernel is 1/K x 120%", which is printed for two: whole SMs cost
      // each of K kernels 1 - 1/K of its rate, and no more than 120% of that may be lost.
      const double lost = 1 - curves[i][(*blocks)[i] - 1];
      together = lost <= loss_ * (1 - 1 / static_cast<double>(kernels.size()));
    }
    const std::size_t sms = gpu.sms().size();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (std::uint32_t sm = 0; sm < sms; ++sm) {
        const bool mine = part_of(sm, sms, kernels.size()) == i;
        gpu.cap({sm}, kernels[i].id, together ? (*blocks)[i] : mine ? kNoCap : 0);
      }
    }
    stage_ = Stage::sharing;
    curves_of_last_phase_.clear();
    alternating_.note_measured();
    usual_.clear();
    gpu.set_epoch(sample_);
  }

  // Section IV.B: a change that is large, and stays for "at least the length of profile run", is a new phase. That run
  // is the whole measurement, warm-up and waiting included: this is what a new one would cost.
  void watch(Machine& gpu) {
    if (!within_caps(gpu)) return;  // blocks of the sampling phase are still leaving
    for (const Kernel& k : by_client(gpu)) {
      if (k.waiting == 0) continue;  // a launch that runs out of blocks is no phase
      const double ipc = gpu.epoch_ipc(k.id);
      Usual& usual = usual_[k.id];
      if (usual.samples < kSettling) {
        ++usual.samples;
        usual.ipc = ipc;
        continue;
      }
      const bool off = std::abs(ipc - usual.ipc) > phase_change_ * usual.ipc;
      usual.strange = off ? usual.strange + 1 : 0;
      if (usual.strange >= phase_samples_ && usual.strange * sample_.count >= measurement_.count) {
        ++plan_;
        curves_of_last_phase_ = curves_;
        return begin_profile(gpu);
      }
    }
  }

  [[nodiscard]] static bool within_caps(const Machine& gpu) {
    return std::all_of(gpu.sms().begin(), gpu.sms().end(), [&gpu](const Sm& sm) {
      const auto residents = gpu.residents(sm.id);
      return std::all_of(residents.begin(), residents.end(),
                         [](const ResidentKernel& r) { return r.resident <= r.cap; });
    });
  }

  struct Target {
    KernelId kernel;
    std::uint32_t blocks = 0;
  };
  struct Usual {
    double ipc = 0;
    int samples = 0;
    std::uint64_t strange = 0;  // samples in a row
  };
  static constexpr int kSettling = 4;
  static constexpr std::uint32_t kMaxRepeats = 4;  // repetitions of a sample in which an SM did not hold its target

  Cycles warmup_;
  Cycles sample_;
  Cycles delay_;
  double loss_;
  double phase_change_;
  std::uint64_t phase_samples_;
  Psi psi_;
  Members members_;
  AlternatingClients alternating_;
  PausedClients pauses_;
  bool has_another_function_ = false;  // since the last plan
  Stage stage_ = Stage::isolated;
  std::uint64_t plan_ = 0;  // tag of wake-ups, by which outdated ones are recognised
  std::size_t round_ = 0;
  std::uint32_t repeats_ = 0;                   // repetitions of this round's sample
  std::vector<Target> targets_;                 // by SM, while sampling
  std::map<KernelId, std::uint32_t> launches_;  // that ran when the sample began
  std::map<Key, Curve> curves_;
  std::map<Key, Curve> curves_of_last_phase_;  // while a new phase is measured
  Cycles measuring_since_;
  Cycles measurement_;  // length of the last one
  std::map<KernelId, Usual> usual_;
};

}  // namespace

WM_POLICY(WarpedSlicer,
          {.name = "warped_slicer",
           .about = "divides every SM so that the kernel that loses most loses least",
           .paper = "Xu et al. (Warped-Slicer), ISCA 2016",
           .needs = {Can::cap_blocks, Can::count_instructions},
           .uses = {Can::sample_stalls, Can::count_traffic},
           .parameters = {
               cycles("warmup", 20'000, {0, 10'000'000}, "wait before sampling, while blocks in the way end", "V"),
               cycles("sample", 5'000, {100, 10'000'000}, "length of a sample", "IV.A"),
               cycles("delay", 0, {0, 10'000'000}, "from the last sample to the new partition", "V.H"),
               number("loss", 1.2, {0, 100},
                      "spatial sharing where a kernel would lose more than this times what whole SMs cost it", "IV"),
               number("phase_change", 0.5, {0, 100}, "change of a kernel's rate that may be a new phase", "IV.B"),
               integer("phase_samples", 2, {1, 1000}, "samples it must last, and as long as a measurement", "IV.B"),
               added_later(choice("psi", {{"bandwidth"}, {"shares"}, {"printed"}},
                                  "correction of bandwidth: measured, by equal shares, or as equation 4 is printed",
                                  "eq. 3, 4")),
               added_later(cycles("pause", 0, {0, 1'000'000'000},
                                  "a plan is kept for clients that have no launch for at most so long", ""))}})

}  // namespace wm::policy

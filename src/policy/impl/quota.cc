// Quality of service by instruction quotas: a kernel with a goal gets just enough of every SM, the others get the rest.
// Wang et al., "Quality of Service Support for Fine-Grained Sharing on GPUs", ISCA 2017, section 3.
//
//   naive          an epoch's quota from the goal; the unused part is lost (3.4.1)
//   history        … multiplied by the goal over the rate so far, if that is lower (3.4.2)
//   elastic        … and where all kernels have spent theirs, the next epoch begins at once (3.4.3)
//   rollover       … or the unused part of a QoS kernel's quota is added to its next one (3.4.4)
//   rollover_time  … and other kernels wait until the QoS kernels have spent theirs (4.5)
//
// Kernels without a goal get an artificial one that follows how well the QoS kernels do (3.5). Blocks are divided
// symmetrically and then adjusted by idle warps (3.6).
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "policy/algorithm/members.h"
#include "policy/algorithm/qos_blocks.h"
#include "policy/algorithm/quotas.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Quota final : public Policy {
 public:
  explicit Quota(const Values& v)
      : scheme_(v.choice<Scheme>("scheme")),
        look_back_(scheme_ == Scheme::history || (scheme_ != Scheme::naive && v.choice<OnOff>("history") == OnOff::on)),
        adjust_(v.choice<OnOff>("adjust") == OnOff::on),
        as_printed_(v.choice<Allotted>("allotted") == Allotted::printed),
        surplus_(v.number("surplus")),
        first_ipc_(v.number("first_ipc")),
        epoch_(v.cycles("epoch")) {}

  void on(const Started&, Machine& gpu) override { gpu.set_epoch(epoch_); }

  void on(const KernelArrived& e, Machine&) override { launched_.push_back(e.kernel); }

  // When the set of kernels changes, blocks are divided anew and an epoch begins. A client that goes on with another
  // function has other blocks but the same threads and the same quota, or many short launches would add up to many
  // epochs' worth.
  void on(const KernelSetChanged&, Machine& gpu) override {
    const auto launched = std::exchange(launched_, {});
    if (!members_.changed(gpu)) return spread(gpu, launched);
    const std::size_t known = gpu.sms().empty() ? 0 : gpu.residents({0}).size();
    state_.resize(known, {first_ipc_, 1.0, 0.0});
    refills_.resize(gpu.sms().size());
    make_cells(gpu.sms().size(), known);
    if (!members_.other_clients()) {
      blocks_.divide_again(gpu);
      return spread(gpu, launched);
    }
    blocks_.allocate(gpu);
    gpu.set_epoch(epoch_);
    allocate_quotas(gpu, epoch_);
  }

  void on(const Epoch&, Machine& gpu) override {
    for (const Kernel& k : gpu.kernels()) {
      // A kernel with a rate of almost 0 must be able to recover: its artificial goal is a multiple of this value.
      if (!k.has_goal()) state_[k.id.index].ipc = std::max(gpu.epoch_ipc(k.id), first_ipc_);
    }
    if (adjust_) blocks_.adjust(gpu, paces(gpu));
    allocate_quotas(gpu, gpu.epoch_length());
  }

  // With small quotas this event comes thousands of times per epoch, so the policy uses its own record of earlier
  // events, and reads the machine's tables only if that record does not decide.
  void on(const QuotaSpent& e, Machine& gpu) override {
    at(e.sm.index, e.kernel).spent = true;
    at(e.sm.index, e.kernel).ran = std::min(at(e.sm.index, e.kernel).ran, gpu.epoch_length());
    const auto kernels = gpu.kernels();
    if (waits_surely(kernels, e.sm)) return;
    const bool known = known_spent(kernels, e.sm);  // a kernel whose quota was not reported spent is then not resident
    if (!known && !all_spent(kernels, gpu.residents(e.sm))) return;
    if (scheme_ == Scheme::elastic) return begin_early(gpu, e.sm);
    const std::uint32_t doublings = std::min(refills_[e.sm.index]++ / kTimes, kMaxDoublings);
    for (const Kernel& k : kernels) {
      if (k.has_goal()) continue;
      if (!at(e.sm.index, k.id).spent && (known || gpu.residents(e.sm)[k.id.index].quota > 0)) continue;
      gpu.add_quota(e.sm, k.id, std::max(at(e.sm.index, k.id).quota, kMinRefill) << doublings);
      at(e.sm.index, k.id).spent = false;
    }
  }

 private:
  enum class Scheme { rollover, naive, history, elastic, rollover_time };  // the first is the default
  enum class OnOff { on, off };
  enum class Allotted { quota, printed };
  static constexpr std::int64_t kMinRefill = 32;  // a warp instruction
  // The quota that kernels without a goal get once the others have spent theirs doubles after every fourth time in an
  // epoch: quotas of a few warp instructions would be spent, and asked for again, hundreds of times.
  static constexpr std::uint32_t kTimes = 4;
  static constexpr std::uint32_t kMaxDoublings = 6;
  // The presence of a kernel on an SM: blocks may start there (stays); it has none there and none may start (away); or
  // it has its last blocks there (unknown).
  enum class Place : std::uint8_t { stays, away, unknown };

  // The state of a kernel on an SM. The states of all kernels lie in one or two lines of the host's cache.
  struct Cell {
    std::int64_t quota = 0;  // quota_k of this epoch
    bool spent = false;      // as far as the policy was told
    Cycles ran{0};           // part of the epoch in which the quota was not spent
    Place place = Place::unknown;
  };

  struct State {
    double ipc;    // IPC_epoch of a kernel without a goal
    double alpha;  // factor of a kernel that has a goal
    double quota;  // quota of this epoch on all SMs, and the unused part of earlier ones
  };

  // Whether the kernel's quota must be spent on an SM before others get more there.
  [[nodiscard]] bool waited_for(const Kernel& k) const { return k.has_goal() || scheme_ != Scheme::rollover_time; }

  // Whether some kernel is certainly resident, or will be, and has not spent its quota: its event will follow.
  [[nodiscard]] bool waits_surely(std::span<const Kernel> kernels, SmId sm) const {
    return std::any_of(kernels.begin(), kernels.end(), [&](const Kernel& k) {
      return waited_for(k) && !at(sm.index, k.id).spent && at(sm.index, k.id).place == Place::stays && k.waiting > 0;
    });
  }

  // Whether every kernel has certainly spent its quota or cannot spend any. False: the machine's tables must be read.
  [[nodiscard]] bool known_spent(std::span<const Kernel> kernels, SmId sm) const {
    return std::all_of(kernels.begin(), kernels.end(), [&](const Kernel& k) {
      return !waited_for(k) || at(sm.index, k.id).spent || at(sm.index, k.id).place == Place::away;
    });
  }

  // A kernel that has no block on the SM and will start none does not delay the others.
  [[nodiscard]] bool all_spent(std::span<const Kernel> kernels, std::span<const ResidentKernel> residents) const {
    return std::all_of(kernels.begin(), kernels.end(), [&](const Kernel& k) {
      return !waited_for(k) || absent(k, residents[k.id.index]) || residents[k.id.index].quota <= 0;
    });
  }

  // Keeps the state of clients, except for the presence of their blocks.
  void make_cells(std::size_t sms, std::size_t clients) {
    std::vector<Cell> cells(sms * clients);
    for (std::size_t i = 0; i < cells_.size(); ++i) cells[i / clients_ * clients + i % clients_] = cells_[i];
    for (Cell& c : cells) c.place = Place::unknown;
    cells_ = std::move(cells);
    clients_ = clients;
  }

  [[nodiscard]] Cell& at(std::size_t sm, KernelId id) { return cells_[sm * clients_ + id.index]; }
  [[nodiscard]] const Cell& at(std::size_t sm, KernelId id) const { return cells_[sm * clients_ + id.index]; }

  void set_quota(Machine& gpu, const Sm& sm, KernelId id, std::int64_t instructions) {
    gpu.set_quota(sm.id, id, instructions);
    at(sm.index, id).spent = instructions <= 0;
  }

  // The rate of each kernel if its quota did not hold it back, which is its rate until it had spent its quota, and the
  // rate that spends the quota in an epoch.
  [[nodiscard]] std::vector<Pace> paces(const Machine& gpu) const {
    std::vector<Pace> paces(clients_);
    for (const Kernel& k : gpu.kernels()) {
      Pace& pace = paces[k.id.index];
      pace.needed = state_[k.id.index].quota / static_cast<double>(epoch_.count);
      for (const Sm& sm : gpu.sms()) {
        const Cycles ran = std::min(at(sm.index, k.id).ran, gpu.epoch_length());
        const auto done = static_cast<double>(gpu.residents(sm.id)[k.id.index].counters.thread_instructions);
        if (ran.count > 0) pace.rate += done / static_cast<double>(ran.count);
      }
    }
    return paces;
  }

  // Section 3.4.3: all quotas of the SM are spent, and what would have been the next epoch begins there at once, with
  // alpha as it is now. When that has happened on every SM it is the next epoch of the whole GPU.
  void begin_early(Machine& gpu, SmId sm) {
    for (const Kernel& k : gpu.kernels()) {
      State& s = state_[k.id.index];
      if (k.has_goal()) s.alpha = look_back_ ? history_factor(k.goal, k.history(gpu.now())) : 1.0;
      Cell& cell = at(sm.index, k.id);
      if (k.has_goal()) {
        const std::uint32_t here = gpu.residents(sm)[k.id.index].resident;
        cell.quota = local_quota(epoch_quota(s.alpha, k.goal, epoch_), here, k.resident);
      }
      if (absent(k, gpu.residents(sm)[k.id.index])) continue;
      gpu.add_quota(sm, k.id, std::max(cell.quota, kMinRefill));
      cell.spent = gpu.residents(sm)[k.id.index].quota <= 0;
    }
    ++refills_[sm.index];
    if (std::find(refills_.begin(), refills_.end(), 0U) != refills_.end()) return;
    std::fill(refills_.begin(), refills_.end(), 0);
    for (const Kernel& k : gpu.kernels())
      if (!k.has_goal()) state_[k.id.index].ipc = std::max(gpu.epoch_ipc(k.id), first_ipc_);
    gpu.set_epoch(epoch_);
  }

  // Machines end an epoch some cycles late. Quotas of the stated length would keep a kernel that spends them always
  // below its goal, so a quota is for as many cycles as the epoch before it had.
  void allocate_quotas(Machine& gpu, Cycles length) {
    std::fill(refills_.begin(), refills_.end(), 0);
    for (Cell& c : cells_) c.ran = epoch_;
    double room = 1;  // section 3.5: the product over the QoS kernels
    bool any_goal = false;
    for (const Kernel& k : gpu.kernels()) {
      if (!k.has_goal()) continue;
      any_goal = true;
      State& s = state_[k.id.index];
      const bool ran = gpu.epoch_length().count > 0;
      if (ran) room *= headroom(gpu.epoch_ipc(k.id), 1, allotted(gpu, k, length));
      s.alpha = look_back_ ? history_factor(k.goal, k.history(gpu.now())) : 1.0;
    }
    for (const Kernel& k : gpu.kernels()) {
      const State& s = state_[k.id.index];
      // No other kernel could use the part that a kernel without neighbours leaves.
      if (!any_goal || gpu.kernels().size() == 1) {
        for (const Sm& sm : gpu.sms()) set_quota(gpu, sm, k.id, kNoQuota);
      } else if (k.has_goal()) {
        distribute(gpu, k, epoch_quota(s.alpha, k.goal, length));
      } else {
        distribute(gpu, k, epoch_quota(1, s.ipc * room, length));
      }
    }
  }

  // Section 3.5: the rate that the last epoch allotted a QoS kernel. As printed that is its goal with alpha. Under
  // rollover it then keeps what rolled over for ever if it runs at its goal, because the others' quotas stay as they
  // are. So what rolled over counts, until the kernel is ahead of its goal by `surplus` epochs' quotas: from then on
  // the others need not make way for it.
  [[nodiscard]] double allotted(const Machine& gpu, const Kernel& k, Cycles length) const {
    const State& s = state_[k.id.index];
    const double rate = s.alpha * k.goal;
    if (as_printed_ || !rolls_over()) return rate;
    const auto cycles = static_cast<double>(std::max<std::uint64_t>(length.count, 1));
    const auto life = static_cast<double>((gpu.now() - k.first_arrived).count);
    const double needed = std::max(k.goal * (life + surplus_ * cycles) - static_cast<double>(k.instructions), 0.0);
    const double rolled_over = std::max(s.quota - rate * cycles, 0.0);
    return rate + std::min(rolled_over, needed) / cycles;
  }

  // Section 3.4.1: divides the quota over SMs by resident blocks; before any block runs, by the blocks that fit.
  void distribute(Machine& gpu, const Kernel& k, double quota) {
    const auto blocks = [&](const Sm& sm) {
      const ResidentKernel& on_sm = gpu.residents(sm.id)[k.id.index];
      return k.resident > 0 ? on_sm.resident : std::min(on_sm.cap, k.max_blocks_per_sm);
    };
    std::uint32_t all = 0;
    for (const Sm& sm : gpu.sms()) all += blocks(sm);
    if (k.has_goal() && rolls_over()) quota += unused(gpu, k.id);
    state_[k.id.index].quota = quota;
    for (const Sm& sm : gpu.sms()) {
      const std::int64_t local = local_quota(quota, blocks(sm), all);
      const ResidentKernel& on_sm = gpu.residents(sm.id)[k.id.index];
      at(sm.index, k.id).quota = local;
      at(sm.index, k.id).place = on_sm.cap > 0 ? Place::stays : (on_sm.resident > 0 ? Place::unknown : Place::away);
      if (!k.has_goal() && scheme_ == Scheme::rollover_time && qos_here(gpu, sm.id)) {
        set_quota(gpu, sm, k.id, 0);
      } else {
        set_quota(gpu, sm, k.id, local);
      }
    }
  }

  [[nodiscard]] bool rolls_over() const { return scheme_ == Scheme::rollover || scheme_ == Scheme::rollover_time; }

  // Section 3.4.4: the part of a kernel's quota that is left on all SMs.
  static double unused(const Machine& gpu, KernelId id) {
    double left = 0;
    for (const Sm& sm : gpu.sms()) {
      const std::int64_t here = gpu.residents(sm.id)[id.index].quota;
      if (here > 0 && here != kNoQuota) left += static_cast<double>(here);
    }
    return left;
  }

  // For a client's next launch: the rest of the epoch's quota is on the SMs of the previous launch's last blocks, and
  // is spread over all SMs.
  void spread(Machine& gpu, const std::vector<KernelId>& launched) {
    for (const KernelId id : launched) {
      const Kernel* k = gpu.find(id);
      if (k == nullptr || gpu.residents({0})[id.index].quota == kNoQuota) continue;
      std::int64_t left = 0;
      std::uint32_t all = 0;
      for (const Sm& sm : gpu.sms()) {
        left += gpu.residents(sm.id)[id.index].quota;
        all += std::min(gpu.residents(sm.id)[id.index].cap, k->max_blocks_per_sm);
      }
      for (const Sm& sm : gpu.sms()) {
        const std::uint32_t here = std::min(gpu.residents(sm.id)[id.index].cap, k->max_blocks_per_sm);
        set_quota(gpu, sm, id, local_quota(static_cast<double>(std::max<std::int64_t>(left, 0)), here, all));
      }
    }
  }

  static bool qos_here(const Machine& gpu, SmId sm) {
    const auto residents = gpu.residents(sm);
    return std::any_of(gpu.kernels().begin(), gpu.kernels().end(),
                       [&](const Kernel& k) { return k.has_goal() && !absent(k, residents[k.id.index]); });
  }

  Scheme scheme_;
  bool look_back_;
  bool adjust_;
  bool as_printed_;
  double surplus_;
  double first_ipc_;
  Cycles epoch_;
  Members members_;
  QosBlocks blocks_;
  std::vector<KernelId> launched_;      // since the set of kernels last changed
  std::vector<State> state_;            // by kernel
  std::vector<std::uint32_t> refills_;  // refills in this epoch, by SM
  std::vector<Cell> cells_;             // by SM and kernel
  std::size_t clients_ = 1;
};

}  // namespace

WM_POLICY(Quota,
          {.name = "quota",
           .about = "instruction quotas that just meet the goals, the rest to kernels without one",
           .paper = "Wang et al., ISCA 2017",
           .goals = true,
           .needs = {Can::cap_blocks, Can::quotas, Can::count_instructions},
           .uses = {Can::switch_some, Can::sample_warps},
           .parameters = {choice("scheme", {{"rollover"}, {"naive"}, {"history"}, {"elastic"}, {"rollover_time"}},
                                 "what becomes of quotas at the end of an epoch", "3.4"),
                          cycles("epoch", 10'000, {100, 10'000'000}, "length of an epoch", "4.1"),
                          choice("history", {{"on"}, {"off"}},
                                 "raise quotas by what the past fell short (elastic, rollover)", "3.4.2"),
                          choice("adjust", {{"on"}, {"off"}}, "adjust blocks by idle warps", "3.6"),
                          number("first_ipc", 1, {1e-9, 1'000'000}, "rate a kernel without a goal starts from", "3.5"),
                          added_later(choice("allotted", {{"quota"}, {"printed"}},
                                             "rates of kernels with goals count against their quotas, or against the "
                                             "goal with alpha as printed (rollover)",
                                             "3.5")),
                          added_later(number("surplus", 1, {0, 1'000},
                                             "epochs by which a kernel with a goal is ahead "
                                             "of it before what rolled over stops counting (rollover)",
                                             "3.5"))}})

}  // namespace wm::policy

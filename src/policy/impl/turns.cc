// Processor sharing by turns: one client after the other has the whole machine, the one that was served least first.
//
// Kernels beside each other take cache and bandwidth from each other, so that equal shares of an SM are no equal parts
// of an isolated rate. A client that has the machine for a turn runs as if isolated, and over many turns each of n
// clients has 1/n of its isolated rate: round robin with a bound on who is ahead, as in deficit round robin (Shreedhar
// and Varghese, SIGCOMM 1995).
//
// Blocks are not interrupted. A turn ends once its client is ahead of one that waits by the length of a turn, which is
// a part of what the waiting one was served: a short program does not wait long, and long ones change seldom.
//
// A client keeps its turn between two launches if it sends the next one within `wait`, as it did the last time: else
// one whose launches are short would wait for a launch of another before each of its own. The machine is idle
// meanwhile, which counts as service (anticipatory scheduling: Iyer and Druschel, SOSP 2001). Behind the client whose
// turn it is others may start launches, of lower priority: `at_once` - 1, and more as long as the launches before them
// do not fill the machine.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "policy/policy.h"

namespace wm::policy {
namespace {

class Turns final : public Policy {
 public:
  explicit Turns(const Values& v)
      : first_(static_cast<double>(v.cycles("first").count)),
        turn_(static_cast<double>(v.cycles("turn").count)),
        growth_(v.number("growth")),
        at_once_(static_cast<std::size_t>(v.integer("at_once"))),
        wait_(v.cycles("wait")),
        pause_(v.cycles("pause")) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    charge(gpu);
    const Kernel* kernel = gpu.find(e.kernel);
    if (kernel == nullptr) return;
    const bool is_new = !clients_.contains(e.kernel) || kernel->launch == 0;
    Client& client = clients_[e.kernel];
    // A new or returning client has neither credit nor debt. One whose launches follow each other was not absent.
    if (is_new) {
      client = {};
    } else {
      client.gap = gpu.now() - client.left;
    }
    if (is_new || was_away(client, gpu.now())) client.served = least_served(e.kernel, gpu.now()), client.used = 0;
    client.share = std::max(kernel->share, 1e-9);
    client.priority = kernel->priority;
    client.is_here = true;
    if (is_new) allow(gpu, e.kernel, false);
  }
  void on(const KernelDone& e, Machine& gpu) override {
    charge(gpu);
    clients_[e.kernel].is_here = false;
    clients_[e.kernel].left = gpu.now();
  }
  // After its turn a client has blocks until the last of them ends.
  void on(const BlockDone&, Machine& gpu) override { charge(gpu); }
  void on(const KernelSetChanged&, Machine& gpu) override { choose(gpu); }
  void on(const Wake&, Machine& gpu) override {
    is_due_ = is_due_ && gpu.now() < due_;
    choose(gpu);
  }

 private:
  struct Client {
    double served = 0;  // cycles of the whole machine, over its share
    double used = 0;    // cycles of the whole machine since it came
    double share = 1;
    int priority = 0;
    bool is_here = false;
    bool is_allowed = true;  // to start blocks
    bool has_turn = false;
    double had = 0;  // when the use was last counted: its blocks, as part of those that fill the machine
    Cycles left;     // the end of its last launch
    Cycles gap;      // between the two launches before; 0: there were none
  };

  [[nodiscard]] bool was_away(const Client& client, Cycles now) const {
    return !client.is_here && now > client.left + pause_;
  }

  [[nodiscard]] double least_served(KernelId returning, Cycles now) const {
    std::optional<double> least;
    for (const auto& [id, c] : clients_)
      if (id != returning && !was_away(c, now)) least = std::min(least.value_or(c.served), c.served);
    return least.value_or(0);
  }

  // The part of the machine that so many blocks fill.
  [[nodiscard]] static double part_of(std::uint64_t blocks, const Kernel& kernel, const Machine& gpu) {
    const double places = static_cast<double>(std::max(kernel.max_blocks_per_sm, 1U)) * gpu.sms().size();
    return static_cast<double>(blocks) / places;
  }

  // Clients whose blocks were on the machine since the last call have used parts of the time as large as their parts of
  // the blocks, also after their turns: blocks of another client that have yet to end keep the next one from the
  // machine. Where none had any, the time is that of the clients that could start them or were waited for. A kernel
  // that has ended is not in kernels() any more.
  void charge(const Machine& gpu) {
    const auto passed = static_cast<double>((gpu.now() - charged_).count);
    charged_ = gpu.now();
    const auto had_blocks = [](const auto& c) { return c.second.is_here && c.second.had > 0; };
    const auto could_start = [&](const auto& c) {
      return awaited_ ? c.first == *awaited_ : c.second.is_here && c.second.is_allowed;
    };
    if (std::any_of(clients_.begin(), clients_.end(), had_blocks)) {
      charge_parts(passed, had_blocks, [](const Client& c) { return c.had; });
    } else {
      charge_parts(passed, could_start, [](const Client&) { return 1.0; });
    }
    note_blocks(gpu);
  }

  // The blocks of each client from now on: those on the machine, and those that follow at once where there is room, the
  // first in order first. Where a wave of blocks has just ended, none are there yet.
  void note_blocks(const Machine& gpu) {
    double free = 1;
    for (auto& [id, client] : clients_) {
      const Kernel* kernel = gpu.find(id);
      client.had = kernel == nullptr ? 0 : part_of(kernel->resident, *kernel, gpu);
      free -= client.had;
    }
    for (const KernelId id : order_) {
      const Kernel* kernel = gpu.find(id);
      Client& client = clients_[id];
      if (kernel == nullptr || !client.is_allowed) continue;
      const double more = std::clamp(part_of(kernel->waiting, *kernel, gpu), 0.0, std::max(free, 0.0));
      client.had += more;
      free -= more;
    }
  }

  template <typename Which, typename Weight>
  void charge_parts(double passed, Which which, Weight weight) {
    double all = 0;
    for (const auto& entry : clients_)
      if (which(entry)) all += weight(entry.second);
    for (auto& entry : clients_) {
      if (!which(entry)) continue;
      Client& client = entry.second;
      const double part = passed * weight(client) / all;
      client.used += part;
      client.served += part / client.share;
    }
  }

  // The client's turn ends when it was served so much more, in time over its share, than it is now; none waits: never.
  [[nodiscard]] std::optional<double> rest_of_turn(KernelId id, const std::vector<Kernel>& kernels) {
    const Client& client = clients_[id];
    std::optional<double> rest;
    for (const Kernel& k : kernels) {
      if (k.id == id) continue;
      const Client& other = clients_[k.id];
      const double ahead = std::clamp(other.used * growth_, std::min(first_, turn_), turn_) / other.share;
      const double until = other.served + ahead - client.served;
      rest = rest ? std::min(*rest, until) : until;
    }
    return rest;
  }

  void allow(Machine& gpu, KernelId id, bool may_start) {
    Client& client = clients_[id];
    if (client.is_allowed == may_start) return;
    client.is_allowed = may_start;
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, id, may_start ? kNoCap : 0);
  }

  // The client that has the turn and is about to send its next launch.
  [[nodiscard]] std::optional<KernelId> awaited(const std::vector<Kernel>& kernels, Cycles now) {
    for (const auto& [id, c] : clients_) {
      if (!c.has_turn || c.is_here || c.gap > wait_ || now >= c.left + wait_) continue;
      const bool precedes =
          std::all_of(kernels.begin(), kernels.end(), [&c = c](const Kernel& k) { return k.priority <= c.priority; });
      if (precedes && rest_of_turn(id, kernels).value_or(1) > 0) return id;
    }
    return std::nullopt;
  }

  // Orders the kernels: by priority, then the one whose turn it is, unless its turn has ended, then by what they were
  // served; among equals the latest arrival, since the others have had the machine.
  void choose(Machine& gpu) {
    charge(gpu);
    std::vector<Kernel> kernels(gpu.kernels().begin(), gpu.kernels().end());
    for (const Kernel& k : kernels) {
      Client& client = clients_[k.id];
      client.has_turn = client.has_turn && rest_of_turn(k.id, kernels).value_or(1) > 0;
      client.priority = k.priority;
    }
    awaited_ = awaited(kernels, gpu.now());
    std::stable_sort(kernels.begin(), kernels.end(), [&](const Kernel& a, const Kernel& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      const Client &x = clients_[a.id], &y = clients_[b.id];
      if (x.has_turn != y.has_turn) return x.has_turn;
      return x.served != y.served ? x.served < y.served : a.arrived > b.arrived;
    });
    if (!awaited_ && !kernels.empty())
      for (auto& [id, client] : clients_) client.has_turn = id == kernels.front().id;
    order_.clear();
    double filled = 0;  // by the launches before
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      allow(gpu, kernels[i].id, (i < at_once_ || filled < 1) && !awaited_);
      order_.push_back(kernels[i].id);
      filled += part_of(std::uint64_t{kernels[i].waiting} + kernels[i].resident, kernels[i], gpu);
    }
    gpu.order(order_);
    note_blocks(gpu);
    wake_at_end(gpu, kernels);
  }

  // The end of the turn, or of waiting for its client, is an occasion to choose anew. A kernel that is first only
  // by its priority has no turn that ends.
  void wake_at_end(Machine& gpu, const std::vector<Kernel>& kernels) {
    if (kernels.empty() || (!awaited_ && kernels.size() < 2)) return;
    const KernelId first = awaited_.value_or(kernels.front().id);
    const double rest = rest_of_turn(first, kernels).value_or(turn_) * clients_[first].share;
    const double wait = std::clamp(rest > 0 ? std::max(rest, first_ / 4) : turn_, 1.0, kLongest);
    Cycles end = gpu.now() + Cycles{static_cast<std::uint64_t>(wait)};
    if (awaited_) end = std::min(end, clients_[first].left + wait_);
    if (is_due_ && due_ <= end) return;
    is_due_ = true;
    due_ = end;
    gpu.wake_at(end, 0);
  }

  static constexpr double kLongest = 1e12;  // cycles between two choices, far above the longest turn

  const double first_;
  const double turn_;
  const double growth_;
  const std::size_t at_once_;
  const Cycles wait_;
  const Cycles pause_;
  Cycles charged_;
  bool is_due_ = false;
  Cycles due_;
  std::optional<KernelId> awaited_;
  std::vector<KernelId> order_;  // as it was chosen last
  std::map<KernelId, Client> clients_;
};

}  // namespace

WM_POLICY(Turns,
          {.name = "turns",
           .about = "clients have the whole machine in turn, the one that was served least first",
           .paper = "after deficit round robin",
           .waits = Waits::for_priority,
           .short_launches_unmodified = true,
           .needs = {Can::cap_blocks, Can::order_launches},
           .uses = {Can::see_blocks},
           .parameters = {
               cycles("turn", 200'000, {1000, 1'000'000'000}, "by so much a client gets ahead of one that waits", ""),
               cycles("first", 50'000, {1, 1'000'000'000}, "the least of it, for one that has just come", ""),
               number("growth", 0.1, {0, 1}, "… and otherwise the part of what the waiting one was served", ""),
               integer("at_once", 2, {1, 1000}, "clients that may start launches at the same time, at least", ""),
               cycles("wait", 60'000, {0, 1'000'000'000},
                      "so long the machine is kept idle for the next launch of the client whose turn it is", ""),
               cycles("pause", 2'000'000, {0, 1'000'000'000}, "time without a launch after which a client was away",
                      "")}})

}  // namespace wm::policy

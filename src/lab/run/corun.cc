#include "lab/run/corun.h"

#include <chrono>
#include <fmt/format.h>

#include "lab/run/goal.h"
#include "lab/run/watch.h"
#include "policy/logged_policy.h"
#include "sim/cycle/power/power.h"

namespace wm::lab {

namespace {

using sim::CycleMachine;

OnProgress progress_of(const CorunOptions& options, const std::string& run) {
  if (!options.progress) return {};
  return [run, report = options.progress](double done) { report(run, done); };
}

Result<IsolatedRate> run_isolated(const gpu::GpuConfig& gpu, Participant p, const CorunOptions& options) {
  auto machine = CycleMachine::make(gpu, options.threads, options.seed);
  if (!machine) return machine.error();
  p.arrive = {};
  p.blocks_per_sm = 0;
  if (auto r = (*machine)->add(client_spec(p, 0, 0)); !r) return r.error();
  const auto choice = policy::choose("left_over");
  if (!choice) return choice.error();
  auto policy = policy::make(*choice, (*machine)->cans(), "cycle");
  if (!policy) return policy.error();
  sim::RunLimits limits;
  if (options.cycles != 0) limits.cycles = options.cycles;
  Watch watch(nullptr, progress_of(options, p.name + " isolated"), options.cycles, blocks_of(p));
  MeasuredRegion region(options.region);
  watch.measure(region);
  if (options.progress || options.region.given()) (*machine)->observe(watch);
  if (auto r = (*machine)->run(**policy, limits); !r) return r.error();
  const auto t = region.within(0, p.arrive, (*machine)->totals(0));
  if (!t) return Error{fmt::format("{} isolated: {}", p.name, t.error().what)};
  return IsolatedRate{t->sm.thread_instructions, std::max<std::uint64_t>(1, t->cycles)};
}

// Takes the rate from the cache, or measures it now and stores it there.
Result<IsolatedRate> isolated_rate(const gpu::GpuConfig& gpu, const Participant& p, const CorunOptions& options,
                                   std::uint32_t& measured) {
  const std::string key = options.cache.enabled() ? isolated_key(gpu, p, options.cycles, options.region) : "";
  if (const auto known = options.cache.find(key)) return *known;
  auto ran = run_isolated(gpu, p, options);
  if (!ran) return ran;
  ++measured;
  options.cache.keep(key, *ran);
  return ran;
}

// FNV-1a over numbers.
class Hash {
 public:
  void add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) state_ = (state_ ^ (value >> (8 * i) & 0xff)) * 0x100000001b3ULL;
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

void add_counts(Hash& hash, const sim::ClientTotals& t) {
  for (const std::uint64_t n : {t.sm.warp_instructions, t.sm.thread_instructions, t.sm.issued, t.sm.l1_sectors,
                                t.sm.l1_misses, t.sm.requests, t.memory.l2_misses, t.memory.dram_read_sectors,
                                t.memory.dram_write_sectors, t.cycles, t.blocks, t.launches, t.preemptions})
    hash.add(n);
  for (const std::uint64_t n : t.sm.stalls) hash.add(n);
}

using Buffers = std::vector<std::vector<std::byte>>;

// Only complete runs of an application can be verified: the first one, whose buffers were kept when it was complete,
// and the last one of an application that ended by itself.
void verify(CycleMachine& machine, std::uint32_t client, const Participant& p,
            const std::optional<Result<Buffers>>& first, KernelResult& k) {
  k.runs = machine.client(client).runs();
  if (!first || k.totals.fault) return;
  const auto passes = [&](const Result<Buffers>& buffers) {
    const Result<void> right = buffers ? p.verify(*buffers) : Result<void>(buffers.error());
    k.verified = right.ok();
    if (!right) k.mismatch = right.error().to_string();
    return right.ok();
  };
  if (passes(*first) && k.totals.finished && p.launches > 1) passes(machine.client(client).buffers());
}

// Rejects a run that would never end, or that the machine cannot start, before anything is measured.
Result<void> check(const std::vector<Participant>& participants, const CorunOptions& options) {
  if (participants.size() > sim::kMaxKernels)
    return Error{fmt::format("{} kernels: at most {} can run together", participants.size(), sim::kMaxKernels)};
  for (const Participant& p : participants)
    if (p.launches == 0 && options.cycles == 0)
      return Error{fmt::format("kernel '{}' repeats without end (launches=0): say when to stop with --cycles", p.name)};
  if (options.match_instructions && options.region.given())
    return Error{"--match-instructions counts from the beginning; it cannot be combined with --warm and --from"};
  if (options.cycles != 0 && options.region.cycles >= options.cycles)
    return Error{fmt::format("--warm {} leaves nothing of --cycles {}", options.region.cycles, options.cycles)};
  if (options.match_instructions && options.cycles == 0)
    return Error{"--match-instructions needs --cycles: the length of each kernel's isolated run"};
  return {};
}

}  // namespace

std::uint64_t run_hash(const CorunResult& result) {
  Hash hash;
  hash.add(result.cycles);
  for (const KernelResult& k : result.kernels) add_counts(hash, k.totals);
  return hash.value();
}

void add_energy(const gpu::GpuConfig& gpu, std::uint64_t gated_cycles, CorunResult& result) {
  std::vector<std::uint64_t> dynamic;
  double instructions = 0;
  for (const KernelResult& k : result.kernels) {
    dynamic.push_back(sim::dynamic_picojoules(gpu.power, k.totals.sm, k.totals.memory));
    instructions += static_cast<double>(k.totals.sm.thread_instructions);
  }
  const sim::EnergyReport energy = sim::energy_of(gpu, result.cycles - result.measured_from, gated_cycles, dynamic);
  result.watts = energy.watts();
  result.joules = energy.joules;
  result.static_joules = energy.static_joules;
  for (std::size_t i = 0; i < result.kernels.size(); ++i) result.kernels[i].joules = energy.kernel_joules[i];
  result.instructions_per_joule = energy.joules > 0 ? instructions / energy.joules : 0;
  result.sms = gpu.sm.count;
  result.schedulers = gpu.sm.schedulers;
}

Result<std::vector<IsolatedRate>> measure_isolated(const gpu::GpuConfig& gpu,
                                                   const std::vector<Participant>& participants,
                                                   const CorunOptions& options, std::uint32_t* measured) {
  if (auto r = check(participants, options); !r) return r.error();
  std::vector<IsolatedRate> isolated(participants.size());
  std::uint32_t ran = 0;
  for (std::size_t i = 0; i < participants.size(); ++i) {
    const bool needed = options.isolated || participants[i].goal || options.match_instructions;
    if (!needed) continue;
    const auto rate = isolated_rate(gpu, participants[i], options, ran);
    if (!rate) return rate.error();
    isolated[i] = *rate;
  }
  if (measured != nullptr) *measured = ran;
  return isolated;
}

Result<CorunResult> corun(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                          const policy::Choice& policy, const CorunOptions& options) {
  CorunResult result;
  auto measured = options.known_isolated.empty() ? measure_isolated(gpu, participants, options, &result.isolated_runs)
                                                 : Result<std::vector<IsolatedRate>>(options.known_isolated);
  if (!measured) return measured.error();
  const std::vector<IsolatedRate>& isolated = *measured;
  auto made = CycleMachine::make(gpu, options.threads, options.seed);
  if (!made) return made.error();
  CycleMachine& machine = **made;
  sim::RunLimits limits;
  if (options.cycles != 0 && !options.match_instructions) limits.cycles = options.cycles;
  result.gpu = gpu.name;
  result.policy = policy.to_string();
  result.seed = options.seed;
  result.threads = options.threads;
  std::vector<std::string> printed(participants.size());
  std::vector<std::optional<Result<Buffers>>> first_runs(participants.size());
  for (std::size_t i = 0; i < participants.size(); ++i) {
    const Participant& p = participants[i];
    KernelResult k;
    k.name = p.name;
    k.isolated_ipc = isolated[i].ipc();
    auto goal = goal_ipc(gpu, p, isolated[i].ipc());
    if (!goal) return goal.error();
    k.goal = *goal;
    sim::ClientSpec client = client_spec(p, k.goal.value_or(0), isolated[i].ipc());
    client.print = [&printed, i](std::string_view text) { printed[i] += text; };
    if (p.verify)
      client.first_run_done = [&first_runs, i](const sim::Client& c) { first_runs[i].emplace(c.buffers()); };
    if (auto r = machine.add(std::move(client)); !r) return r.error();
    if (options.match_instructions) limits.instructions.push_back(isolated[i].instructions);
    result.kernels.push_back(std::move(k));
  }
  auto chosen = policy::make(policy, machine.cans(), "cycle");
  if (!chosen) return chosen.error();
  std::uint64_t blocks = 0;
  for (const Participant& p : participants) blocks += blocks_of(p);
  Watch watch(options.timeline, progress_of(options, std::string(policy.entry->info.name)), options.cycles, blocks);
  MeasuredRegion region(options.region);
  watch.measure(region);
  machine.observe(watch);
  const auto start = std::chrono::steady_clock::now();
  const policy::LoggedPolicy* log = policy::log_decisions(options.decisions != nullptr, *chosen, policy);
  if (auto r = machine.run(**chosen, limits); !r) return r.error();
  if (log != nullptr) *options.decisions = log->log();
  if (options.timeline != nullptr) options.timeline->finish(machine);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.cycles = machine.now().count;
  result.measured_from = region.first_cycle();

  for (std::uint32_t i = 0; i < machine.clients(); ++i) {
    KernelResult& k = result.kernels[i];
    k.totals = machine.totals(i);
    if (k.totals.fault && !k.totals.fault->empty()) return Error{*k.totals.fault};
    auto within = region.within(i, participants[i].arrive, k.totals);
    if (!within) return Error{fmt::format("{}: {}", k.name, within.error().what)};
    k.totals = *std::move(within);
    k.ipc = static_cast<double>(k.totals.sm.thread_instructions) /
            static_cast<double>(std::max<std::uint64_t>(1, k.totals.cycles));
    k.starved = watch.starvation().part(i, participants[i].arrive.count, k.isolated_ipc);
    k.printed = std::move(printed[i]);
    if (options.keep_buffers && k.totals.finished && participants[i].launches != 0) {
      auto buffers = machine.client(i).buffers();
      if (!buffers) return buffers.error();
      k.buffers = *std::move(buffers);
    }
    verify(machine, i, participants[i], first_runs[i], k);
  }
  add_energy(gpu, machine.gated_cycles() - region.gated_before(), result);
  result.residency = watch.residency();
  result.run_hash = run_hash(result);
  return result;
}

}  // namespace wm::lab

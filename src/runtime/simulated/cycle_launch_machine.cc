#include "runtime/simulated/cycle_launch_machine.h"

#include <algorithm>
#include <fmt/format.h>

#include "policy/registry.h"
#include "runtime/simulated/module_code.h"

namespace wm::runtime {

namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

Result<std::optional<sim::TimedLaunch>> CycleLaunchMachine::Source::next() {
  is_running_ = pending_.has_value();
  return std::exchange(pending_, std::nullopt);
}

void CycleLaunchMachine::Source::give(sim::TimedLaunch launch) {
  pending_ = std::move(launch);
  is_running_ = true;
}

Result<std::unique_ptr<CycleLaunchMachine>> CycleLaunchMachine::make(const gpu::GpuConfig& config,
                                                                     const std::string& policy, std::uint32_t threads) {
  const auto choice = policy::choose(policy);
  if (!choice) return choice.error();
  auto machine = sim::CycleMachine::make(config, threads, kSeed);
  if (!machine) return machine.error();
  auto chosen = policy::make(*choice, (*machine)->cans(), "cycle");
  if (!chosen) return chosen.error();
  std::unique_ptr<CycleLaunchMachine> made(new CycleLaunchMachine(config, *std::move(machine), *std::move(chosen)));
  made->machine_->begin(*made->policy_, {});
  return made;
}

std::vector<std::string> CycleLaunchMachine::place_names() const {
  std::vector<std::string> names;
  for (const Place& place : places_) names.push_back(place.names);
  return names;
}

LaunchTicket CycleLaunchMachine::start(MachineLaunch launch) {
  waiting_.push_back({++tickets_, std::move(launch)});
  return tickets_;
}

bool CycleLaunchMachine::abandon(LaunchTicket ticket) {
  const auto queued =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.ticket == ticket; });
  if (queued != waiting_.end()) {
    waiting_.erase(queued);
    return false;
  }
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    if (places_[i].ticket != ticket || places_[i].abandoned) continue;
    places_[i].abandoned = true;
    places_[i].why = "the program has gone";
    places_[i].source->drop();
    machine_->abandon(i);
  }
  return true;
}

Result<std::optional<std::uint32_t>> CycleLaunchMachine::find_place(const LaunchTerms& terms) {
  const auto find = [&](auto&& fits) -> std::optional<std::uint32_t> {
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      if (!places_[i].ticket && fits(places_[i])) return i;
    }
    return std::nullopt;
  };
  const auto of_program = [&](const Place& p) { return p.process == terms.process; };
  if (auto same = find([&](const Place& p) { return of_program(p) && p.stream == terms.stream; })) return same;
  if (auto own = find(of_program)) return own;
  if (places_.size() == sim::kMaxKernels) return find([](const Place&) { return true; });
  const auto streams = std::count_if(places_.begin(), places_.end(), of_program);
  Place place{.source = std::make_shared<Source>(), .process = terms.process, .stream = terms.stream, .names = {}};
  sim::ClientSpec spec;
  spec.name = streams == 0 ? terms.client : fmt::format("{} ({})", terms.client, streams + 1);
  spec.process = terms.process;
  spec.arrive = kNever;
  spec.source = place.source;
  place.names = spec.name;
  if (auto added = machine_->add(std::move(spec)); !added) return added.error();
  places_.push_back(std::move(place));
  return std::optional(static_cast<std::uint32_t>(places_.size() - 1));
}

Result<void> CycleLaunchMachine::place_waiting() {
  while (!waiting_.empty()) {
    const auto place = find_place(waiting_.front().launch.terms);
    if (!place) return place.error();
    if (!*place) return {};
    begin(**place, std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return {};
}

void CycleLaunchMachine::begin(std::uint32_t number, Waiting waiting) {
  Place& place = places_[number];
  const LaunchTerms& terms = waiting.launch.terms;
  if (place.process != terms.process && place.names.find(terms.client) == std::string::npos) {
    place.names += ", " + terms.client;
  }
  if (place.process != terms.process) machine_->renew(number);
  place.process = terms.process;
  place.stream = terms.stream;
  place.ticket = waiting.ticket;
  place.abandoned = false;
  place.began = std::max(waiting.launch.arrive, machine_->now());
  place.counters = machine_->totals(number).sm;
  place.source->give(timed(waiting.launch));
  machine_->client(number).set_terms({.process = terms.process,
                                      .priority = terms.priority,
                                      .share = terms.share,
                                      .goal = terms.goal_ipc,
                                      .isolated_ipc = terms.isolated_ipc});
  machine_->resume(number, place.began);
  ++running_;
}

sim::TimedLaunch CycleLaunchMachine::timed(const MachineLaunch& launch) {
  const exec::Grid& grid = launch.grid;
  auto& timed = programs_[grid.program.get()];
  if (timed == nullptr) timed = std::make_unique<sim::TimedProgram>(sim::time_program(grid.program, config_));
  const std::string key =
      fmt::format("{} {} {} {} {} {} {}", static_cast<const void*>(grid.program.get()), grid.blocks.x, grid.blocks.y,
                  grid.blocks.z, grid.threads.x, grid.threads.y, grid.threads.z);
  const auto number = static_cast<std::uint32_t>(functions_.try_emplace(key, functions_.size()).first->second);
  return {.grid = grid,
          .program = timed.get(),
          .demand = {.threads = grid.threads_per_block(),
                     .registers_per_thread =
                         fitting_registers(launch.registers_per_thread, grid.threads_per_block(), config_),
                     .shared_bytes = grid.shared_bytes},
          .function = number};
}

Result<void> CycleLaunchMachine::step() {
  if (auto placed = place_waiting(); !placed) return placed.error();
  auto stepped = machine_->proceed(*policy_, {});
  if (stepped) {
    // The programs whose launches are over may launch again before time goes on.
    if (const auto collected = machine_->collect(*policy_); !collected) stepped = collected.error();
  }
  if (!stepped) {
    // Kernels wait for each other, or for a policy that starts no block: all of them end.
    bool any = false;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      if (!places_[i].ticket || places_[i].abandoned) continue;
      any = true;
      places_[i].abandoned = true;
      places_[i].why = stepped.error().what;
      machine_->abandon(i);
    }
    if (!any) return stepped.error();
  }
  for (std::uint32_t i = 0; i < places_.size(); ++i) collect(i);
  return {};
}

Result<void> CycleLaunchMachine::run_to_end(const std::function<bool()>& is_unwanted) {
  constexpr std::uint64_t kStepsBetweenQuestions = 64;
  for (std::uint64_t steps = 1; unfinished() != 0; ++steps) {
    if (auto stepped = step(); !stepped) return stepped.error();
    if (is_unwanted && steps % kStepsBetweenQuestions == 0 && is_unwanted()) return {};
  }
  return {};
}

void CycleLaunchMachine::collect(std::uint32_t number) {
  Place& place = places_[number];
  if (!place.ticket) return;
  const bool has_failed = machine_->has_failed(number);
  const bool is_cut_off = has_failed || place.abandoned;
  if (is_cut_off ? !machine_->is_over(number) : place.source->is_running()) return;
  const sim::ClientTotals totals = machine_->totals(number);
  FinishedLaunch done;
  done.ticket = *place.ticket;
  done.ended = machine_->now();
  done.place = number;
  done.result.cycles = done.ended.count - std::min(done.ended, place.began).count;
  done.result.nanoseconds = done.result.cycles * 1000 / config_.sm.clock_mhz;
  done.result.statistics.warp_instructions = totals.sm.warp_instructions - place.counters.warp_instructions;
  done.thread_instructions = totals.sm.thread_instructions - place.counters.thread_instructions;
  if (is_cut_off) {
    done.result.fault.emplace();
    done.result.fault->kind = has_failed ? totals.fault_kind : exec::Fault::Kind::deadlock;
    done.result.fault->what = has_failed ? *totals.fault : place.why;
    machine_->restart(number);
  }
  place.ticket.reset();
  --running_;
  finished_.push_back(std::move(done));
}

}  // namespace wm::runtime

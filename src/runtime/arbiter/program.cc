#include "runtime/arbiter/program.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace wm::runtime {

namespace {

constexpr std::chrono::seconds kActive{1};
constexpr std::uint32_t kMaxPriority = 100;
constexpr std::chrono::milliseconds kRateInterval{500};  // longer than a sample of the isolated rate

std::uint64_t launches_in(const ProgramCounters& c) { return c.launches.load(std::memory_order_relaxed); }

}  // namespace

ArbitratedProgram::ArbitratedProgram(Descriptor socket, ProgramIdentity identity, const ProgramState& state,
                                     double share, Mapping mapping, std::uint32_t board_bit)
    : identity(std::move(identity)),
      state(state),
      share(share),
      socket_(std::move(socket)),
      mapping_(std::move(mapping)),
      board_bit_(board_bit) {}

Result<std::unique_ptr<ArbitratedProgram>> ArbitratedProgram::greet(Descriptor socket, ProgramIdentity identity,
                                                                    const ProgramState& state, double share,
                                                                    const Greeting& greeting) {
  const auto file = sealed_memory("warpmux-control", kControlPageBytes);
  if (!file) return file.error();
  auto mapping = Mapping::of(*file, kControlPageBytes);
  if (!mapping) return mapping.error();
  auto* page = new (mapping->bytes().data()) ControlPage;
  page->words.board_bit.store(greeting.board_bit);
  page->words.gates.store(static_cast<std::uint32_t>(greeting.gates));
  page->words.workers.store(static_cast<std::uint32_t>(greeting.workers));
  std::unique_ptr<ArbitratedProgram> program(new ArbitratedProgram(std::move(socket), std::move(identity), state, share,
                                                                   std::move(*mapping), greeting.board_bit));
  // The streams that it creates right after the greeting have the right priority.
  ProgramDecision first = decide_single(state);
  if (greeting.gates == Gates::always) first.modes |= kGate;
  if (greeting.workers == WorkerUse::always) {
    first.modes |= kWorkers;
    first.sms = greeting.all_sms;
  }
  program->decision_.modes = first.modes;  // it is not woken before it is greeted
  program->decision_.sms = first.sms;
  program->apply(first);
  ProgramWelcome welcome;
  welcome.answer = ProgramAnswer::accepted;
  if (!send_packet(program->socket_, bytes_of(welcome), *file) ||
      !send_packet(program->socket_, bytes_of(welcome), greeting.board))
    return Error{"the program has gone"};
  return program;
}

double ArbitratedProgram::seconds() const { return std::chrono::duration<double>(Clock::now() - since_).count(); }

void ArbitratedProgram::observe(Clock::time_point now) {
  if (const std::uint32_t asked = page().counters.asked_priority.exchange(0, std::memory_order_relaxed);
      asked >= 1 && asked <= kMaxPriority + 1)
    state.priority = static_cast<int>(asked) - 1;
  const std::uint64_t launches = launches_in(counters());
  // A kernel may run for longer than programs are taken as active without a launch.
  const bool is_running = workers().is_running.load(std::memory_order_relaxed) != 0;
  if (launches != launches_ || is_running) launched_ = now;
  launches_ = launches;
  state.is_active = launches != 0 && now - launched_ < kActive;
  if (now - rate_since_ < kRateInterval) return;
  launches_per_second_ =
      static_cast<double>(launches - rate_launches_) / std::chrono::duration<double>(now - rate_since_).count();
  rate_launches_ = launches;
  rate_since_ = now;
}

Requests ArbitratedProgram::new_requests() {
  const Requests all{counters().requests.load(std::memory_order_relaxed),
                     static_cast<double>(counters().request_nanoseconds.load(std::memory_order_relaxed)) * 1e-9};
  return all - std::exchange(requests_, all);
}

void ArbitratedProgram::control_loss(Clock::time_point now, const Requests& requests) {
  if (loss_control == nullptr) return;
  loss_control->observe(
      {std::chrono::duration<double>(now - since_).count(), launches_, decision_.is_restricted, requests});
}

std::optional<ProgramGoal> ArbitratedProgram::asked_goal() {
  const std::uint32_t asked = page().counters.asked_goal.exchange(0, std::memory_order_acquire);
  const ProgramGoal goal{static_cast<ProgramGoal::Kind>(asked - 1), 0,
                         page().counters.asked_goal_value.load(std::memory_order_relaxed)};
  return asked != 0 && goal.is_valid() ? std::optional(goal) : std::nullopt;
}

void ArbitratedProgram::apply(const ProgramDecision& decision) {
  if (decision == decision_) return;
  ControlWords& words = page().words;
  const bool wakes = decision.slice_microseconds != decision_.slice_microseconds ||
                     decision.sm_groups != decision_.sm_groups || decision.sms != decision_.sms ||
                     ((decision.modes ^ decision_.modes) & (kGate | kWorkers)) != 0;
  words.occupancy_percent.store(decision.occupancy_percent, std::memory_order_relaxed);
  words.stream_priority.store(static_cast<std::uint32_t>(decision.stream_priority), std::memory_order_relaxed);
  words.wait_microseconds.store(decision.wait_microseconds, std::memory_order_relaxed);
  words.slice_microseconds.store(decision.slice_microseconds, std::memory_order_relaxed);
  words.gate_percent.store(decision.gate_percent, std::memory_order_relaxed);
  words.sms_of_group.store(decision.sms_of_group, std::memory_order_relaxed);
  words.sm_groups.store(decision.sm_groups, std::memory_order_relaxed);
  words.own_sms.store(decision.sms, std::memory_order_relaxed);
  const bool divides = (decision.modes & (kLimitBlocks | kDivideAlike)) != 0;
  has_divided_ |= divides;
  const bool restores = has_divided_ && !divides && (decision.modes & (kPlace | kWorkers)) == 0;
  words.launch_limit.store(decision.launch_limit, std::memory_order_relaxed);
  words.modes.store(decision.modes | (restores ? kOwnDivision : 0U), std::memory_order_release);
  decision_ = decision;
  const std::byte changed{1};
  if (wakes) (void)send_packet(socket_, {&changed, 1});  // one that has gone is noticed when it is read
}

ArbitratedProgram::Window ArbitratedProgram::window() const {
  Window window;
  std::array<std::uint32_t, kTimeBuckets> counts;
  for (std::size_t i = 0; i < kTimeBuckets; ++i) {
    counts[i] = counters().request_times[i].load(std::memory_order_relaxed) - window_start_[i];
    window.requests += counts[i];
  }
  std::uint64_t slower = window.requests / 100;
  std::size_t bucket = kTimeBuckets - 1;
  while (bucket > 0 && counts[bucket] <= slower) slower -= counts[bucket--];
  window.p99_nanoseconds = window.requests == 0 ? 0 : static_cast<double>(time_bucket_bound(bucket));
  return window;
}

void ArbitratedProgram::end_window() {
  if (const Window ended = window(); ended.requests != 0) {
    last_window_ = ended;
    has_new_window_ = true;
  }
  for (std::size_t i = 0; i < kTimeBuckets; ++i) window_start_[i] = counters().request_times[i].load();
}

void ArbitratedProgram::learn_isolated() {
  isolated_.p99 = last_window_.p99_nanoseconds;
  isolated_.rate = std::max(isolated_.rate, launches_per_second_);
}

std::uint32_t ArbitratedProgram::new_fault() {
  const std::uint32_t code = counters().fault.load(std::memory_order_relaxed);
  if (code == 0 || std::exchange(has_told_fault_, true)) return 0;
  return code;
}

bool ArbitratedProgram::needs_sample() const {
  return state.goal.kind == ProgramGoal::Kind::part_of_isolated_rate && isolated_.rate == 0;
}

void ArbitratedProgram::begin_sample(Clock::time_point now) {
  rate_since_ = now;
  rate_launches_ = launches_;
  end_window();
}

void ArbitratedProgram::end_sample(Clock::time_point now) {
  const double passed = std::chrono::duration<double>(now - rate_since_).count();
  if (passed > 0) launches_per_second_ = static_cast<double>(launches_ - rate_launches_) / passed;
  end_window();
  learn_isolated();
}

PolicyProgram ArbitratedProgram::for_policy(std::uint64_t threads) {
  const bool has_goal = state.goal.kind == ProgramGoal::Kind::p99_nanoseconds;
  PolicyProgram p{.number = identity.number,
                  .state = state,
                  .share = share,
                  .parts = 0,
                  .p99 = last_window_.p99_nanoseconds,
                  .window_ended = std::exchange(has_new_window_, false) && has_goal,
                  .isolated_p99 = isolated_.p99,
                  .isolated_rate = isolated_.rate,
                  .launches = launches_ - std::min<std::uint64_t>(counters().held_launches.load(), launches_),
                  .launched_at = counters().launched_at.load(std::memory_order_relaxed),
                  .waited = counters().waited_nanoseconds.load(std::memory_order_relaxed),
                  .used_groups = SmSet(counters().placed_groups.load(std::memory_order_relaxed)),
                  .leaving_sms = std::nullopt};
  const auto worker_sms = WorkerSms::of(workers().sms.load(std::memory_order_relaxed));
  if (worker_sms && worker_sms->own == decision_.sms) p.leaving_sms = worker_sms->leaving;
  const std::uint64_t peak = counters().peak_threads.load(std::memory_order_relaxed);
  if (threads != 0 && peak != 0) {
    const std::uint64_t parts = (peak * PolicyRule::kParts + threads - 1) / threads;
    p.parts = static_cast<std::uint32_t>(std::min<std::uint64_t>(parts, PolicyRule::kParts));
  }
  return p;
}

std::vector<ArbitratedProgram::KernelForm> ArbitratedProgram::kernels() const {
  std::vector<KernelForm> told;
  const std::size_t count = std::min<std::size_t>(gates().notes.load(std::memory_order_acquire), kKernelNotes);
  // A program may write anything into its page.
  const auto text = [](const auto& bytes) { return std::string(bytes, ::strnlen(bytes, sizeof bytes)); };
  for (std::size_t i = 0; i < count; ++i) {
    const KernelNote& note = gates().kernels[i];
    KernelForm k{text(note.name), note.has_form.load(std::memory_order_relaxed) != 0, text(note.reason)};
    if (!k.is_made && k.reason.empty()) k.reason = "the driver does not launch it so";
    told.push_back(std::move(k));
  }
  return told;
}

std::optional<double> ArbitratedProgram::reached() const {
  using Kind = ProgramGoal::Kind;
  if (state.goal.kind == Kind::p99_nanoseconds && last_window_.requests != 0) return last_window_.p99_nanoseconds;
  if (state.goal.kind == Kind::launches_per_second && launches_ != 0) return launches_per_second_;
  if (state.goal.kind == Kind::part_of_isolated_rate && isolated_.rate > 0)
    return launches_per_second_ / isolated_.rate;
  return std::nullopt;
}

}  // namespace wm::runtime

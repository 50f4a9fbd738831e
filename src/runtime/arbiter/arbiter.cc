#include "runtime/arbiter/arbiter.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include "runtime/arbiter/loss_control.h"
#include "runtime/arbiter/make_loss_control.h"
#include "runtime/arbiter/quota_rule.h"
#include "runtime/arbiter/sm_rule.h"
#include "runtime/arbiter/status.h"
#include "runtime/protocol/program_name.h"

namespace wm::runtime {

namespace {

constexpr int kGreetingMilliseconds = 1000;
constexpr int kIdleMilliseconds = 500;     // without programs
constexpr int kDecisionMilliseconds = 10;  // between two looks at the programs' counters
constexpr int kPolicyMilliseconds = 2;     // … for a policy, whose epochs may be as short as 10 ms
constexpr std::chrono::milliseconds kWindow{500};
constexpr std::uint64_t kRequestsOfWindow = 50;  // fewer say nothing about a p99
constexpr unsigned kBoardBits = 32;
constexpr std::uint32_t kPauseMicroseconds = 700'000;  // if this daemon ends while programs are paused

// Sends a document in packets; the monitor reads until the connection is closed.
void send_text(const Descriptor& socket, const std::string& text) {
  constexpr std::size_t kPacketBytes = 16 * 1024;
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size(); at += kPacketBytes) {
    if (!send_packet(socket, bytes.subspan(at, std::min(kPacketBytes, bytes.size() - at)))) return;
  }
}

template <typename Answer>
void refuse(const Descriptor& socket, const std::string& reason) {
  Answer answer;
  std::snprintf(answer.reason, sizeof answer.reason, "%s", reason.c_str());
  send_packet(socket, bytes_of(answer));
}

// Policies that own SMs have other means than those that limit blocks.
Result<std::unique_ptr<ProgramRule>> make_rule(const ArbiterOptions& options) {
  const auto choice = policy::choose(options.policy);
  if (!choice) return choice.error();
  if (choice->needs().has(policy::Can::quotas)) return QuotaRule::make(options.policy, options.decisions_file);
  if (!choice->needs().has(policy::Can::own_sms)) return PolicyRule::make(options.policy);
  return SmRule::make(options.policy, options.sm_groups, options.decisions_file);
}

Result<void> check_workers(const ArbiterOptions& options) {
  if (options.sm_groups.workers == WorkerUse::none) return {};
  const auto choice = policy::choose(options.policy);
  if (options.sharing != Sharing::mps || options.policy.empty() ||
      (choice && !choice->needs().has(policy::Can::own_sms)))
    return Error{"workers are for programs that share the GPU with --sharing mps under a policy that gives them SMs"};
  return {};
}

std::uint64_t nanoseconds(ArbitratedProgram::Clock::time_point time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

}  // namespace

Arbiter::Arbiter(ArbiterOptions options, std::string device, std::unique_ptr<ProgramRule> policy, Descriptor listener,
                 Descriptor board_file, Mapping board)
    : options_(std::move(options)),
      device_(std::move(device)),
      policy_(std::move(policy)),
      listener_(std::move(listener)),
      board_file_(std::move(board_file)),
      board_(std::move(board)),
      goals_(options_) {
  new (board_.bytes().data()) Board;
}

Result<std::unique_ptr<Arbiter>> Arbiter::open(ArbiterOptions options, std::string device) {
  std::unique_ptr<ProgramRule> policy;
  if (options.gates != Gates::none && (options.sharing != Sharing::mps || !options.policy.empty()))
    return Error{"gates are for programs that share the GPU with --sharing mps and without --policy"};
  if (auto fitting = check_workers(options); !fitting) return fitting.error();
  if (!options.policy.empty()) {
    if (options.sharing != Sharing::mps)
      return Error{"policies decide on SMs or parts of them, which programs have with --sharing mps only"};
    auto made = make_rule(options);
    if (!made) return made.error();
    policy = std::move(*made);
  }
  auto board_file = sealed_memory("warpmux-board", kBoardBytes);
  if (!board_file) return board_file.error();
  auto board = Mapping::of(*board_file, kBoardBytes);
  if (!board) return board.error();
  auto listener = listen_at(options.socket, options.mode);
  if (!listener) return listener.error();
  return std::unique_ptr<Arbiter>(new Arbiter(std::move(options), std::move(device), std::move(policy),
                                              std::move(*listener), std::move(*board_file), std::move(*board)));
}

Arbiter::~Arbiter() { ::unlink(options_.socket.c_str()); }

void Arbiter::run(int stop) {
  while (listen(stop)) arbitrate();
}

bool Arbiter::listen(int stop) {
  std::vector<pollfd> watched{{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const auto& program : programs_) watched.push_back({program->socket().get(), POLLIN | POLLRDHUP, 0});
  const int interval = programs_.empty()    ? kIdleMilliseconds
                       : policy_ == nullptr ? kDecisionMilliseconds
                                            : kPolicyMilliseconds;
  if (::poll(watched.data(), watched.size(), interval) <= 0) return true;
  if (watched[0].revents != 0) return false;
  // A program sends nothing after its greeting: whatever comes, it has gone or is none of ours.
  std::size_t i = 2;
  for (auto at = programs_.begin(); at != programs_.end(); ++i) {
    const auto program = at++;
    if (watched[i].revents != 0) dismiss(program);
  }
  if (watched[1].revents != 0) {
    if (auto socket = accept_from(listener_)) greet(std::move(*socket));
  }
  return true;
}

void Arbiter::greet(Descriptor socket) {
  const auto packet = receive_packet(socket, kGreetingMilliseconds);
  Hello hello;
  if (!packet || packet->bytes.size() != sizeof hello)
    return refuse<ProgramWelcome>(socket, "not a hello of this version");
  std::memcpy(&hello, packet->bytes.data(), sizeof hello);
  const auto peer = peer_of(socket);
  if (hello.magic != kMagic || hello.version != kVersion || !peer)
    return refuse<ProgramWelcome>(socket, fmt::format("this daemon speaks version {} of the protocol", kVersion));
  const bool is_other_user = peer->uid != ::geteuid() && peer->uid != 0;
  if (is_other_user && (options_.mode & 0066) == 0)
    return refuse<ProgramWelcome>(socket, "only the daemon's own user may connect");
  switch (hello.role) {
    case Role::monitor:
      return send_text(socket, status());
    case Role::controller: {
      const auto request = receive_packet(socket, kGreetingMilliseconds, 64 * 1024);
      if (!request) return;
      if (is_other_user) return send_text(socket, R"({"error":"only the daemon's own user and root may change it"})");
      return send_text(socket, control({reinterpret_cast<const char*>(request->bytes.data()), request->bytes.size()}));
    }
    case Role::arbitrated:
      return apply(std::move(socket), hello, *peer);
    case Role::client:
    case Role::simulated:
      return refuse<Welcome>(socket, "this daemon arbitrates CUDA programs on their own driver (wm serve --cuda)");
  }
}

void Arbiter::apply(Descriptor socket, const Hello& hello, const Peer& peer) {
  const auto packet = receive_packet(socket, kGreetingMilliseconds);
  Applicant applicant{std::move(socket), hello, peer, {}};
  if (!packet || packet->bytes.size() != sizeof applicant.goal)
    return refuse<ProgramWelcome>(applicant.socket, "not a goal of this version");
  std::memcpy(&applicant.goal, packet->bytes.data(), sizeof applicant.goal);
  if (!applicant.goal.is_valid()) return refuse<ProgramWelcome>(applicant.socket, "its goal is none");
  const GoalAdmission::Answer answer = check({program_name(applicant.hello), applicant.goal}, nullptr);
  if (answer.verdict == GoalAdmission::Verdict::accepted) return admit(std::move(applicant));
  const bool waits = answer.verdict == GoalAdmission::Verdict::not_now && options_.unmet_goals == UnmetGoals::wait;
  ProgramWelcome welcome;
  welcome.answer = waits ? ProgramAnswer::wait : ProgramAnswer::denied;
  std::snprintf(welcome.reason, sizeof welcome.reason, "%s", answer.reason.c_str());
  send_packet(applicant.socket, bytes_of(welcome));
  if (waits) waiting_.push_back(std::move(applicant));
}

GoalAdmission::Answer Arbiter::check(const NamedGoal& asked, const ArbitratedProgram* except) const {
  if (options_.unmet_goals == UnmetGoals::accept) return {};
  std::vector<NamedGoal> others;
  for (const auto& program : programs_) {
    if (program.get() != except) others.push_back({program->identity.name, program->state.goal});
  }
  return admission_.check(asked, others, goals_.is_exhausted());
}

void Arbiter::set_asked_goals() {
  for (const auto& program : programs_) {
    const auto asked = program->asked_goal();
    if (!asked) continue;
    const GoalAdmission::Answer answer = check({program->identity.name, *asked}, program.get());
    if (answer.verdict == GoalAdmission::Verdict::accepted) {
      program->state.goal = *asked;
      goals_.restart();
    } else {
      fmt::print(stderr, "wm: client {} ({}, pid {}): {}\n", program->identity.number, program->identity.name,
                 program->identity.peer.pid, answer.reason);
    }
  }
}

void Arbiter::admit_waiting() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto applicant = at++;
    const bool has_gone = peer_closed(applicant->socket);
    if (!has_gone &&
        check({program_name(applicant->hello), applicant->goal}, nullptr).verdict != GoalAdmission::Verdict::accepted)
      continue;
    if (!has_gone) admit(std::move(*applicant));
    waiting_.erase(applicant);
  }
}

void Arbiter::admit(Applicant applicant) {
  const Hello& hello = applicant.hello;
  const ProgramState state{.priority = hello.priority, .goal = applicant.goal, .is_active = false};
  std::uint32_t used = 0;
  for (const auto& program : programs_) used |= program->board_bit();
  std::uint32_t bit = 0;  // programs beyond the board's bits cannot tell others that they are busy
  for (unsigned i = 0; i < kBoardBits && bit == 0; ++i) {
    if ((used >> i & 1U) == 0) bit = 1U << i;
  }
  auto program = ArbitratedProgram::greet(
      std::move(applicant.socket), {seen_ + 1, program_name(hello), applicant.peer}, state,
      hello.share == 0 ? 1 : hello.share / 1000.0,
      {board_file_, bit, options_.gates, options_.sm_groups.workers, options_.sm_groups.all()});
  if (!program) return;
  ++seen_;
  (*program)->loss_control = make_loss_control(options_);
  if (policy_ != nullptr) (*program)->set_isolated(admission_.known(program_name(hello)));
  programs_.push_back(*std::move(program));
}

void Arbiter::dismiss(std::list<std::unique_ptr<ArbitratedProgram>>::iterator program) {
  // A program that was killed may have left its bits set.
  board().busy.fetch_and(~(*program)->board_bit(), std::memory_order_release);
  board().sleepers.fetch_and(~(*program)->board_bit(), std::memory_order_relaxed);
  admission_.learn((*program)->identity.name, (*program)->isolated());
  if (options_.gates == Gates::always || options_.sm_groups.workers == WorkerUse::always) {
    for (const ArbitratedProgram::KernelForm& k : (*program)->kernels())
      fmt::print(stderr, "wm: {}: kernel '{}': {}\n", (*program)->identity.name, k.kernel,
                 k.is_made ? (options_.gates != Gates::none ? "gates" : "workers") : k.reason);
  }
  programs_.erase(program);
}

void Arbiter::end_windows(ArbitratedProgram::Clock::time_point now) {
  if (now - window_began_ < kWindow) return;
  window_began_ = now;
  const auto active =
      std::count_if(programs_.begin(), programs_.end(), [](const auto& p) { return p->state.is_active; });
  if (std::exchange(active_, active) != active) goals_.restart();
  for (const auto& program : programs_) {
    const ProgramGoal& goal = program->state.goal;
    const ArbitratedProgram::Window window = program->window();
    const bool has_p99_goal = goal.kind == ProgramGoal::Kind::p99_nanoseconds;
    // A program with few requests keeps its window until it has enough of them.
    if (has_p99_goal && window.requests < kRequestsOfWindow) continue;
    if (has_p99_goal) goals_.measured(window.p99_nanoseconds, goal.value);
    program->end_window();
    if (active == 1 && program->state.is_active) {
      program->learn_isolated();
      admission_.learn(program->identity.name, program->isolated());
    }
    const auto reached = program->reached();
    const bool has_rate_goal = !has_p99_goal && goal.kind != ProgramGoal::Kind::none;
    if (has_rate_goal && reached && program->state.is_active) goals_.measured(goal.value, *reached);
  }
}

std::vector<ProgramDecision> Arbiter::decisions() {
  if (policy_ == nullptr) {
    std::vector<ProgramState> states;
    std::vector<Restriction> restrictions;
    for (const auto& program : programs_) states.push_back(program->state);
    const bool has_goals = std::any_of(states.begin(), states.end(), [](const ProgramState& s) {
      return s.is_active && s.goal.kind != ProgramGoal::Kind::none;
    });
    for (const auto& program : programs_) {
      restrictions.push_back(has_goals ? goals_.restriction() : program->loss_control->restriction());
      if (!has_goals) restrictions.back().gate_percent = max_loss_percent(options_);
    }
    return decide(states, options_, restrictions);
  }
  std::vector<PolicyProgram> programs;
  // A policy's time begins with the daemon.
  const std::uint64_t started = nanoseconds(started_);
  for (const auto& program : programs_) {
    PolicyProgram& p = programs.emplace_back(program->for_policy(options_.threads));
    p.launched_at = p.launched_at > started ? p.launched_at - started : 0;
  }
  return policy_->decide(programs, Cycles{nanoseconds(ArbitratedProgram::Clock::now()) - started});
}

void Arbiter::arbitrate() {
  const auto now = ArbitratedProgram::Clock::now();
  for (const auto& program : programs_) {
    program->observe(now);
    const Requests requests = program->new_requests();
    if (program->decision().is_latency_sensitive) requests_ += requests;
  }
  for (const auto& program : programs_) program->control_loss(now, requests_);
  set_asked_goals();
  end_windows(now);
  report_faults();
  admit_waiting();
  auto decisions = this->decisions();
  sample_isolated(now, decisions);
  std::size_t i = 0;
  for (const auto& program : programs_) program->apply(decisions[i++]);
}

void Arbiter::sample_isolated(ArbitratedProgram::Clock::time_point now, std::vector<ProgramDecision>& decisions) {
  std::vector<IsolatedSampling::Program> active;
  for (const auto& program : programs_) {
    if (program->state.is_active) active.push_back({program->identity.number, program->needs_sample()});
  }
  const auto step = sampling_.observe(std::chrono::duration<double>(now - started_).count(), active);
  std::size_t i = 0;
  for (const auto& program : programs_) {
    ProgramDecision& decision = decisions[i++];
    if (step.number == 0) continue;
    if (step.number != program->identity.number) {
      if (step.ends) continue;
      decision.modes |= kPause;
      decision.wait_microseconds = kPauseMicroseconds;
    } else {
      if (!step.ends) decision.modes &= ~(kPlace | kWorkers | kLimitBlocks | kQuota);
      if (step.begins) program->begin_sample(now);
      if (step.ends) program->end_sample(now);
    }
  }
}

void Arbiter::report_faults() {
  for (const auto& program : programs_) {
    const std::uint32_t code = program->new_fault();
    if (code == 0) continue;
    std::string others;
    for (const auto& other : programs_) {
      if (other != program)
        others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", other->identity.number, other->identity.name);
    }
    const bool is_shared = options_.sharing == Sharing::mps && !others.empty();
    fmt::print(stderr, "wm: client {} ({}, pid {}) has failed with error {} of the driver{}\n",
               program->identity.number, program->identity.name, program->identity.peer.pid, code,
               is_shared ? "; through MPS the kernels of clients " + others +
                               " fail with it, --sharing isolated keeps them apart"
                         : "");
  }
}

std::string Arbiter::status() const {
  const double seconds = std::chrono::duration<double>(ArbitratedProgram::Clock::now() - started_).count();
  std::vector<const ArbitratedProgram*> programs;
  for (const auto& program : programs_) programs.push_back(program.get());
  return arbiter_status({options_, device_, policy_ != nullptr ? policy_->name() : "priority_headroom", seconds, seen_,
                         goals_.is_exhausted(), std::move(programs)});
}

std::string Arbiter::control(const std::string& request) {
  std::vector<ArbitratedProgram*> programs;
  for (const auto& program : programs_) programs.push_back(program.get());
  return control_arbitrated(request, programs);
}

}  // namespace wm::runtime

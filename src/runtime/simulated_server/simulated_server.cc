#include "runtime/simulated_server/simulated_server.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <tuple>
#include <unistd.h>

#include "runtime/protocol/program_name.h"
#include "runtime/simulated_server/control.h"
#include "runtime/simulated_server/status.h"

namespace wm::runtime {

namespace {

constexpr int kIdleMilliseconds = 200;
constexpr int kGreetingMilliseconds = 1000;

// Sends a document in packets; the monitor reads until the connection is closed.
void send_text(const Descriptor& socket, const std::string& text) {
  constexpr std::size_t kPacketBytes = 16 * 1024;
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size(); at += kPacketBytes) {
    if (!send_packet(socket, bytes.subspan(at, std::min(kPacketBytes, bytes.size() - at)))) return;
  }
}

void refuse(const Descriptor& socket, const std::string& reason) {
  ServedWelcome welcome;
  std::snprintf(welcome.reason, sizeof welcome.reason, "%s", reason.c_str());
  send_packet(socket, bytes_of(welcome));
}

}  // namespace

SimulatedServer::SimulatedServer(const gpu::GpuConfig& config, SimulatedServeOptions options,
                                 std::unique_ptr<LaunchMachine> machine, Descriptor listener)
    : config_(config),
      options_(std::move(options)),
      machine_(std::move(machine)),
      isolated_(config, options_.threads),
      listener_(std::move(listener)),
      has_started_(options_.programs == 0) {}

Result<std::unique_ptr<SimulatedServer>> SimulatedServer::open(const gpu::GpuConfig& config,
                                                               SimulatedServeOptions options) {
  std::unique_ptr<LaunchMachine> machine;
  sim::CycleMachine* cycle_machine = nullptr;
  BlockLaunchMachine* block_machine = nullptr;
  if (options.on_block_machine) {
    auto made = BlockLaunchMachine::make(config, options.policy, options.threads);
    if (!made) return made.error();
    block_machine = made->get();
    machine = *std::move(made);
  } else {
    auto made = CycleLaunchMachine::make(config, options.policy, options.threads);
    if (!made) return made.error();
    cycle_machine = &(*made)->machine();
    machine = *std::move(made);
  }
  auto listener = listen_at(options.socket, options.mode);
  if (!listener) return listener.error();
  std::unique_ptr<SimulatedServer> server(
      new SimulatedServer(config, std::move(options), std::move(machine), std::move(*listener)));
  server->cycle_machine_ = cycle_machine;
  server->block_machine_ = block_machine;
  return server;
}

SimulatedServer::~SimulatedServer() {
  if (listener_.open()) ::unlink(options_.socket.c_str());
}

bool SimulatedServer::is_stopping() const {
  pollfd watched{stop_, POLLIN, 0};
  return stop_ >= 0 && ::poll(&watched, 1, 0) > 0;
}

Result<void> SimulatedServer::run(int stop) {
  stop_ = stop;
  int milliseconds = 0;
  while (listen(stop, milliseconds)) {
    if (options_.programs != 0 && has_started_ && programs_.empty()) return {};
    const bool waits = has_started_ && everybody_waits();
    if (waits) {
      if (auto started = start_arrivals(); !started) return started.error();
    }
    // Launches of programs that have gone leave the machine whether others wait or not.
    const bool only_leaving = !leaving_.empty() && machine_->unfinished() != 0 && !waits && programs_.empty();
    const bool steps = (waits || only_leaving) && machine_->unfinished() != 0;
    if (steps) {
      if (auto stepped = machine_->step(); !stepped) return stepped.error();
    }
    deliver();
    milliseconds = steps ? 0 : kIdleMilliseconds;
  }
  return {};
}

bool SimulatedServer::listen(int stop, int milliseconds) {
  std::vector<pollfd> watched{{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const auto& program : programs_) {
    const int sends = program->has_unsent() ? POLLOUT : 0;
    watched.push_back({program->socket().get(), static_cast<short>(POLLIN | POLLRDHUP | sends), 0});
  }
  if (::poll(watched.data(), watched.size(), milliseconds) <= 0) return true;
  if (watched[0].revents != 0) return false;
  std::size_t i = 2;
  for (auto at = programs_.begin(); at != programs_.end(); ++i) {
    const auto program = at++;
    if ((watched[i].revents & POLLOUT) != 0) (void)(*program)->send_rest();
    if ((watched[i].revents & ~POLLOUT) != 0 && !(*program)->read(free_bytes())) dismiss(program);
  }
  if (watched[1].revents != 0) {
    if (auto socket = accept_from(listener_)) greet(std::move(*socket));
  }
  return true;
}

void SimulatedServer::greet(Descriptor socket) {
  const auto packet = receive_packet(socket, kGreetingMilliseconds);
  Hello hello;
  if (!packet || packet->bytes.size() != sizeof hello) return refuse(socket, "not a hello of this version");
  std::memcpy(&hello, packet->bytes.data(), sizeof hello);
  const auto peer = peer_of(socket);
  if (hello.magic != kMagic || hello.version != kVersion || !peer)
    return refuse(socket, fmt::format("this daemon speaks version {} of the protocol", kVersion));
  const bool is_other_user = peer->uid != ::geteuid() && peer->uid != 0;
  if (is_other_user && (options_.mode & 0066) == 0) return refuse(socket, "only the daemon's own user may connect");
  if (hello.role == Role::monitor) return send_text(socket, status());
  if (hello.role == Role::client) {
    Welcome welcome;
    std::snprintf(welcome.reason, sizeof welcome.reason, "this daemon simulates a GPU for CUDA programs");
    send_packet(socket, bytes_of(welcome));
    return;
  }
  const auto second = receive_packet(socket, kGreetingMilliseconds, 64 * 1024);
  if (!second) return;
  if (hello.role == Role::controller) {
    if (is_other_user) return send_text(socket, R"({"error":"only the daemon's own user and root may change it"})");
    return send_text(socket, control({reinterpret_cast<const char*>(second->bytes.data()), second->bytes.size()}));
  }
  ServedProgram::Terms terms{
      .priority = hello.priority, .share = hello.share == 0 ? 1 : hello.share / 1000.0, .goal = {}};
  if (second->bytes.size() != sizeof terms.goal) return refuse(socket, "not a goal of this version");
  std::memcpy(&terms.goal, second->bytes.data(), sizeof terms.goal);
  admit(std::move(socket), *peer, program_name(hello), terms);
}

void SimulatedServer::admit(Descriptor socket, const Peer& peer, const std::string& name,
                            const ServedProgram::Terms& terms) {
  if (options_.programs != 0 && seen_ == options_.programs)
    return refuse(socket, fmt::format("the run is one of {} programs, which have connected", options_.programs));
  auto memory = ProgramMemory::make();
  if (!memory) return refuse(socket, memory.error().what);
  ServedWelcome welcome;
  welcome.accepted = 1;
  welcome.host_time = options_.host_time;
  welcome.memory_bytes = options_.memory_bytes;
  if (!send_packet(socket, bytes_of(welcome), (*memory)->file())) return;
  programs_.push_back(std::make_unique<ServedProgram>(std::move(socket), ServedProgram::Identity{++seen_, name, peer},
                                                      terms, config_, *std::move(memory)));
  // A program that has gone before the others came counts: nothing could take its place.
  if (has_started_ || seen_ < options_.programs) return;
  // Programs that were started together have numbers by their names, so that the order of connecting does not matter.
  has_started_ = true;
  programs_.sort([](const auto& a, const auto& b) { return a->identity.name < b->identity.name; });
  std::uint64_t number = 0;
  for (const auto& program : programs_) program->identity.number = ++number;
}

void SimulatedServer::dismiss(std::list<std::unique_ptr<ServedProgram>>::iterator program) {
  std::erase_if((*program)->running, [&](const auto& entry) { return !machine_->abandon(entry.first); });
  leaving_.splice(leaving_.end(), programs_, program);
}

std::uint64_t SimulatedServer::free_bytes() const {
  std::uint64_t used = 0;
  for (const auto& program : programs_) used += program->memory().device_bytes();
  return options_.memory_bytes - std::min(options_.memory_bytes, used);
}

bool SimulatedServer::everybody_waits() const {
  return std::all_of(programs_.begin(), programs_.end(), [&](const auto& program) {
    return program->is_waiting() || program->is_silent(options_.patience);
  });
}

Result<void> SimulatedServer::add_terms(ServedProgram& program, ProgramLaunch& launch) {
  using Kind = ServedGoal::Kind;
  LaunchTerms& terms = launch.launch.terms;
  terms.process = static_cast<std::uint32_t>(program.identity.number);
  const ServedGoal& goal = program.terms.goal;
  const double own_goal = program.goal_of(launch.kernel);
  terms.goal_ipc = own_goal > 0 ? own_goal : goal.kind == Kind::ipc ? goal.value : 0;
  const bool needs_rate = own_goal == 0 && (goal.kind == Kind::fraction || goal.kind == Kind::nanoseconds);
  LaunchRate rate;
  if (needs_rate || options_.measure_isolated) {
    const auto measured = isolated_.of(launch.launch, program.memory());
    if (!measured) return measured.error();
    rate = *measured;
    terms.isolated_ipc = rate.ipc();
    launch.isolated_cycles = static_cast<double>(rate.cycles);
  }
  const auto instructions = static_cast<double>(rate.instructions);
  if (needs_rate && goal.kind == Kind::fraction) terms.goal_ipc = goal.value * rate.ipc();
  if (needs_rate && goal.kind == Kind::nanoseconds)
    terms.goal_ipc = instructions / (goal.value * config_.sm.clock_mhz * 1e-3);
  return {};
}

Result<void> SimulatedServer::start_arrivals() {
  struct Arrival {
    ServedProgram* program;
    ProgramLaunch launch;
  };
  std::vector<Arrival> arrivals;
  for (const auto& program : programs_) {
    for (ProgramLaunch& launch : program->take_arrivals()) arrivals.push_back({program.get(), std::move(launch)});
  }
  // Threads of a program may send its launches in any order; their grids have numbers in the order of the calls.
  const auto key = [&](const Arrival& a) {
    return std::tuple(std::max(a.launch.launch.arrive, machine_->now()).count, a.program->identity.number,
                      a.launch.launch.grid.id);
  };
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [&](const Arrival& a, const Arrival& b) { return key(a) < key(b); });
  for (Arrival& arrival : arrivals) {
    // The program's socket lives until its launches are over.
    arrival.launch.launch.is_unwanted = [this, program = arrival.program] {
      return peer_closed(program->socket()) || is_stopping();
    };
    if (auto added = add_terms(*arrival.program, arrival.launch); !added) return added.error();
    const LaunchTicket ticket = machine_->start(arrival.launch.launch);
    arrival.program->running.emplace(ticket, std::move(arrival.launch));
  }
  return {};
}

void SimulatedServer::deliver() {
  for (const FinishedLaunch& done : machine_->take_finished()) {
    for (const auto* list : {&programs_, &leaving_}) {
      for (const auto& program : *list) {
        auto launch = program->running.extract(done.ticket);
        if (!launch) continue;
        if (places_.size() <= done.place) places_.resize(done.place + 1);
        PlaceCounts& place = places_[done.place];
        ProgramLaunch& of = launch.mapped();
        ++place.launches;
        place.cycles += done.result.cycles;
        place.thread_instructions += done.thread_instructions;
        place.isolated_cycles += of.isolated_cycles;
        const double goal = of.launch.terms.goal_ipc;
        if (goal > 0) place.goal_cycles += static_cast<double>(done.thread_instructions) / goal;
        if (list == &programs_) (void)program->answer(of, done);  // one that is gone is noticed when it is read
      }
    }
  }
  const bool idle = everybody_waits() && machine_->unfinished() == 0 &&
                    std::none_of(programs_.begin(), programs_.end(), [](const auto& p) { return p->has_arrivals(); });
  for (const auto& program : programs_) (void)program->answer_poll(machine_->now(), idle);
  leaving_.remove_if([](const auto& program) { return program->running.empty(); });
}

std::string SimulatedServer::status() {
  std::vector<ServedProgram*> programs;
  for (const auto& program : programs_) programs.push_back(program.get());
  return simulated_status({options_, config_, machine_->now(), seen_, std::move(programs)});
}

std::string SimulatedServer::control(const std::string& request) {
  const auto end = [&](ServedProgram& program) {
    const auto at =
        std::find_if(programs_.begin(), programs_.end(), [&](const auto& p) { return p.get() == &program; });
    program.tell_end();
    dismiss(at);
  };
  std::vector<ServedProgram*> programs;
  for (const auto& program : programs_) programs.push_back(program.get());
  return control_programs(request, programs, end);
}

}  // namespace wm::runtime

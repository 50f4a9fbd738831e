#include "runtime/simulated_server/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>

#include "runtime/protocol/wire.h"

namespace wm::runtime {

namespace {

// Simulated time that a question whether work is done takes, if it is not.
constexpr std::uint64_t kPollNanoseconds = 1000;
// Answers that are kept for a program that does not read them.
constexpr std::size_t kMaxUnsent = 65536;

// The grid of a launch, if its shape and parameters are those that its kernel can have.
std::optional<exec::Grid> grid_of(const ServedLaunch& sent, const LoadedKernel& kernel,
                                  std::span<const std::byte> parameters, exec::AddressSpace& memory) {
  gpu::Launch launch{kernel.name,
                     {sent.blocks[0], sent.blocks[1], sent.blocks[2]},
                     {sent.threads[0], sent.threads[1], sent.threads[2]},
                     {},
                     sent.dynamic_shared};
  if (launch.grid.count() == 0 || launch.block.count() == 0) return std::nullopt;
  for (const exec::KernelParameter& p : kernel.program->parameters) {
    if (p.offset > parameters.size() || p.bytes > parameters.size() - p.offset) return std::nullopt;
    const auto bytes = parameters.subspan(p.offset, p.bytes);
    launch.arguments.emplace_back(gpu::Scalar{{bytes.begin(), bytes.end()}});
  }
  auto grid = exec::make_grid(kernel.program, kernel.constants, memory, launch, {});
  if (!grid) return std::nullopt;
  grid->id = sent.grid_id;
  grid->workspace = sent.workspace;
  return *std::move(grid);
}

}  // namespace

ServedProgram::ServedProgram(Descriptor socket, Identity identity, Terms terms, const gpu::GpuConfig& config,
                             std::unique_ptr<ProgramMemory> memory)
    : identity(std::move(identity)),
      terms(terms),
      socket_(std::move(socket)),
      config_(config),
      memory_(std::move(memory)),
      silence_(this->identity.peer.pid) {}

Cycles ServedProgram::cycles(std::uint64_t nanoseconds) const {
  return Cycles{nanoseconds / 1000 * config_.sm.clock_mhz + nanoseconds % 1000 * config_.sm.clock_mhz / 1000};
}

bool ServedProgram::is_silent(double seconds) {
  if (!silence_.lasts(seconds)) return false;
  if (!std::exchange(is_silence_told_, true)) {
    fmt::print(
        stderr,
        "wm: '{}' has neither called nor waited for {} s: simulated time goes on without it, and results may differ "
        "from run to run (--patience)\n",
        identity.name, seconds);
  }
  return true;
}

double ServedProgram::goal_of(const std::string& kernel) const {
  const auto at = goals_.find(kernel);
  return at == goals_.end() ? 0 : at->second;
}

bool ServedProgram::read(std::uint64_t free_bytes) {
  const auto receipt = receive_served(socket_, 0);
  if (!receipt) return true;
  if (receipt->closed) return false;
  const bool is_valid = handle(receipt->message, free_bytes);
  silence_.end();  // the program could not call while the daemon loaded its module
  return is_valid;
}

bool ServedProgram::handle(const ServedMessage& message, std::uint64_t free_bytes) {
  const ServedHeader& header = message.header;
  Reader reader(message.payload);
  switch (header.op) {
    case ServedOp::allocate: {
      const auto sent = reader.take<ServedAllocate>();
      const std::string name(reader.zero_terminated());
      if (!reader.ok()) return false;
      if (sent.on_device != 0 && sent.bytes > free_bytes) {
        return acknowledge(header.number, Error{fmt::format("{} bytes do not fit: programs have left {} bytes of the "
                                                            "simulated GPU",
                                                            sent.bytes, free_bytes)});
      }
      return acknowledge(header.number, memory_->add(sent.address, sent.bytes, sent.on_device != 0, name));
    }
    case ServedOp::free:
      return memory_->remove(reader.take<std::uint64_t>()) && reader.ok();
    case ServedOp::alias: {
      const auto sent = reader.take<ServedAlias>();
      return reader.ok() && acknowledge(header.number, memory_->add_alias(sent.alias, sent.address, sent.bytes));
    }
    case ServedOp::heap: {
      const auto sent = reader.take<ServedHeap>();
      return reader.ok() && acknowledge(header.number, memory_->use_as_heap(sent.address, sent.sm_bytes));
    }
    case ServedOp::load_module:
      return acknowledge(header.number, load_module(message));
    case ServedOp::unload_module:
      modules_.erase(reader.take<std::uint64_t>());
      return reader.ok();
    case ServedOp::launch:
      return launch(message);
    case ServedOp::wait:
      waits_after_ = header.resumptions;
      return true;
    case ServedOp::poll:
      poll_ = Poll{header.number, cycles(header.nanoseconds + kPollNanoseconds)};
      waits_after_ = header.resumptions;
      return true;
    case ServedOp::goal: {
      const std::string kernel(reader.zero_terminated());
      goals_[kernel] = std::max(0.0, reader.take<double>());
      return reader.ok();
    }
    case ServedOp::answer:
    case ServedOp::launch_over:
    case ServedOp::ended:
      break;
  }
  return false;
}

Result<void> ServedProgram::load_module(const ServedMessage& message) {
  Reader reader(message.payload);
  const auto sent = reader.take<ServedLoadModule>();
  const std::string_view ptx = reader.zero_terminated();
  if (!reader.ok()) return Error{"the message is incomplete"};
  auto module = parse_module(ptx, "module.ptx", config_);
  if (!module) return module.error();
  std::map<std::string, std::uint64_t> addresses;
  for (const ptx::Variable& v : module->variables) addresses[v.name] = reader.take<std::uint64_t>();
  if (!reader.ok() || reader.left() != 0) return Error{"the message is incomplete"};
  auto image = exec::Image::load(*module, memory_->space(),
                                 [&](const ptx::Variable& v) -> Result<std::uint64_t> { return addresses.at(v.name); });
  if (!image) return image.error();
  modules_[sent.number] =
      std::make_unique<ModuleCode>(*std::move(module), "module.ptx", *std::move(image), sent.number);
  return {};
}

bool ServedProgram::launch(const ServedMessage& message) {
  Reader reader(message.payload);
  const auto sent = reader.take<ServedLaunch>();
  const std::string name(reader.zero_terminated());
  const auto parameters = reader.bytes(sent.parameter_bytes);
  const auto module = modules_.find(sent.module);
  if (!reader.ok() || module == modules_.end()) return false;
  const auto kernel = module->second->kernel(name);
  if (!kernel) return false;
  auto grid = grid_of(sent, **kernel, parameters, memory_->space());
  if (!grid) return false;
  ProgramLaunch arrival;
  arrival.call = message.header.number;
  arrival.kernel = name;
  grid->print = [printed = arrival.printed](std::string_view text) { printed->append(text); };
  arrival.launch = {.grid = *std::move(grid),
                    .registers_per_thread = (*kernel)->registers_per_thread,
                    .arrive = cycles(message.header.nanoseconds),
                    .terms = {.client = identity.name,
                              .stream = sent.stream,
                              .priority = terms.priority + sent.priority,
                              .share = terms.share}};
  arrivals_.push_back(std::move(arrival));
  return true;
}

bool ServedProgram::send(ServedOp op, std::uint64_t call, Cycles time, bool resumes, const Payload& payload) {
  ServedHeader header;
  header.op = op;
  header.number = call;
  header.nanoseconds =
      time.count / config_.sm.clock_mhz * 1000 + time.count % config_.sm.clock_mhz * 1000 / config_.sm.clock_mhz;
  header.resumptions = resumes ? 1 : 0;
  if (resumes) {
    ++resumptions_;
    silence_.end();  // it waited until now, however long that took
  }
  unsent_.push_back({header, payload});
  return send_rest();
}

bool ServedProgram::send_rest() {
  while (!unsent_.empty()) {
    if (!send_served(socket_, unsent_.front().header, unsent_.front().payload, false)) {
      const bool is_full = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
      if (is_full && unsent_.size() <= kMaxUnsent) return true;
      unsent_.clear();
      ::shutdown(socket_.get(), SHUT_RDWR);  // the next read finds the connection closed
      return false;
    }
    unsent_.pop_front();
  }
  return true;
}

bool ServedProgram::acknowledge(std::uint64_t call, const Result<void>& done) {
  Payload payload;
  payload.put(done ? std::uint32_t{0} : std::uint32_t{1}).text(done ? "" : done.error().to_string());
  return send(ServedOp::answer, call, {}, false, payload);
}

void ServedProgram::tell_end() { (void)send(ServedOp::ended, 0, {}, false, {}); }

bool ServedProgram::answer(const ProgramLaunch& launch, const FinishedLaunch& done) {
  const ServedLaunchOver over{
      .cycles = done.result.cycles,
      .nanoseconds = done.result.nanoseconds,
      .warp_instructions = done.result.statistics.warp_instructions,
      .fault = done.result.fault ? 1 + static_cast<std::uint32_t>(done.result.fault->kind) : 0U};
  Payload payload;
  const auto& fault = done.result.fault;
  payload.put(over).text(!fault ? "" : fault->kernel.empty() ? fault->what : fault->to_string());
  payload.raw(launch.printed->data(), launch.printed->size());
  ++counts.launches;
  counts.cycles += done.result.cycles;
  if (launch.isolated_cycles > 0) {
    counts.isolated_cycles += launch.isolated_cycles;
    counts.compared_cycles += done.result.cycles;
  }
  if (poll_) poll_->until = done.ended;  // its host runs again in any case
  return send(ServedOp::launch_over, launch.call, done.ended, true, payload);
}

bool ServedProgram::answer_poll(Cycles now, bool idle) {
  if (!poll_ || (now < poll_->until && !idle)) return true;
  const Poll poll = *std::exchange(poll_, std::nullopt);
  return send(ServedOp::answer, poll.call, std::max(now, poll.until), true, Payload().put(std::uint32_t{0}));
}

}  // namespace wm::runtime

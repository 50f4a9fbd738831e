#include "runtime/session/session.h"

#include <algorithm>
#include <cstring>

namespace wm::runtime {
namespace {

bool compiles(Op op) { return op == Op::build_program || op == Op::link_program; }
bool creates_object(Op op) {
  switch (op) {
    case Op::create_buffer:
    case Op::create_sub_buffer:
    case Op::create_image:
    case Op::create_sampler:
    case Op::create_queue:
    case Op::create_program:
    case Op::link_program:
    case Op::create_kernel:
      return true;
    default:
      return false;
  }
}

// The device's memory as this client may use it: its limit, where that is smaller. The numbers are OpenCL's.
void limit_memory_size(std::uint32_t name, std::uint64_t limit, std::vector<std::byte>& bytes) {
  constexpr std::uint32_t kMaxAllocation = 0x1010, kGlobalMemory = 0x101f;
  std::uint64_t size = 0;
  if ((name != kMaxAllocation && name != kGlobalMemory) || bytes.size() != sizeof size) return;
  std::memcpy(&size, bytes.data(), sizeof size);
  size = std::min(size, limit);
  std::memcpy(bytes.data(), &size, sizeof size);
}

}  // namespace

Session::Session(const DaemonContext& daemon, ClientInfo info, SharedArea area)
    : info_(std::move(info)),
      state_(daemon, std::move(area)),
      memory_(state_),
      programs_(state_),
      kernels_(state_),
      launches_(state_),
      commands_(state_, memory_, launches_) {}

Result<std::shared_ptr<Session>> Session::make(const DaemonContext& daemon, ClientInfo info, const Hello& hello,
                                               Descriptor& file) {
  auto area = SharedArea::make(file);
  if (!area) return area.error();
  std::shared_ptr<Session> session(new Session(daemon, std::move(info), std::move(*area)));
  session->state_.client = session;
  session->state.statistics.priority = hello.priority;
  session->state.statistics.goal_nanoseconds = hello.goal_microseconds * 1e3;
  session->state.statistics.goal_part = std::min(hello.goal_part, 1000U) / 1000.0;
  session->state.statistics.share = hello.share != 0 ? hello.share / 1000.0 : session->info_.default_share;
  // Queue 0 is for the commands of the client library itself.
  if (const Status status = session->memory_.create_queue({0, 0}); status != status::kSuccess) {
    return Error{"the device creates no queue: OpenCL error " + std::to_string(status)};
  }
  return session;
}

Session::~Session() {
  if (reader_.joinable()) reader_.detach();  // close() has joined it, unless it never started
}

void Session::start() {
  reader_ = std::thread([self = shared_from_this()] {
    self->read_messages();
    self->finished_ = true;
  });
}

void Session::read_messages() {
  const SharedArea& area = *state_.shared.area();
  RingReader ring(&area.header().ring, area.ring(), state_.daemon.max_awake);
  std::vector<std::byte> message;
  while (!closed()) {
    switch (ring.try_read(message)) {
      case RingReader::Outcome::nothing:
        state_.daemon.scheduler.observe_until([&] { return ring.has_message() || closed(); });
        ring.wait_for_message(200);
        break;
      case RingReader::Outcome::message:
        commands_.look_ahead(ring);
        if (handle(message)) break;
        [[fallthrough]];
      case RingReader::Outcome::broken:
        cut("broke the protocol");
    }
  }
}

void Session::cut(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  cut_off_ = reason;
  state_.closed = true;
}

std::string Session::cut_off() const {
  const std::lock_guard lock(mutex_);
  return cut_off_;
}

void Session::close() {
  state_.closed = true;
  state_.share->closed = true;
  state_.shared.close();
  state_.daemon.limits.wake();
  wake_all(state_.shared.area()->header().ring.reader_sleeps);
  if (reader_.joinable()) reader_.join();
  state_.tasks.wait();
  state_.daemon.scheduler.drop(*this);
  state_.objects.close();
}

void Session::show_state(EventId event, Status state) {
  const SharedArea& area = *state_.shared.area();
  publish(area.header(), area.events()[event], state);
}

void Session::show_completion(const Command& command) {
  // The client shows the end of a user event itself, and may have given its record to a command since then.
  if (!command.queue) return;
  const SharedArea& area = *state_.shared.area();
  EventRecord& record = area.events()[command.event];
  record.queued = command.times.device_queued;
  record.submitted = command.times.device_submitted;
  record.started = command.times.device_started;
  record.ended = command.times.device_ended;
  publish(area.header(), record, command.status);
}

Session::Counts Session::counts() const {
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - since_;
  const ObjectTables& objects = state_.objects;
  Counts counts{objects.memories.size(),
                objects.programs.size(),
                objects.kernels.size(),
                objects.queues.size(),
                state_.share->bytes.load(),
                age.count(),
                {}};
  for (const auto& kernel : objects.kernels.all()) {
    const std::unique_lock lock(kernel->mutex, std::try_to_lock);  // held while the form is made
    if (lock && kernel->form && !kernel->form->workers) {
      counts.unmodified_kernels[kernel->name] = kernel->form->not_rewritten_reason;
    }
  }
  return counts;
}

bool Session::must_wait(Op op, const Outstanding& now) {
  if (now.commands > kMaxOutstanding || now.bytes > kMaxOutstandingBytes) return true;
  return compiles(op) && now.tasks >= kMaxBackgroundTasks;
}

void Session::throttle(Op op) {
  while (must_wait(op, {outstanding, outstanding_bytes, state_.tasks.count()}) && !closed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool Session::handle(std::span<const std::byte> message) {
  Reader reader(message);
  const auto header = reader.take<MessageHeader>();
  throttle(header.op);
  if (answered(header.op)) {
    if (header.reply.offset % 8 != 0) return false;
    return handle_call(header, reader) && reader.ok();
  }
  return handle_post(header, reader) && reader.ok();
}

bool Session::handle_post(const MessageHeader& header, Reader& reader) {
  switch (header.op) {
    case Op::release:
      return release(reader.take<Release>());
    case Op::command:
      return commands_.read(reader, shared_from_this());
    case Op::user_event:
    case Op::host_access_done:
    case Op::set_user_event:
      return handle_user_event(header.op, reader.take<UserEvent>());
    default:
      return false;
  }
}

bool Session::handle_user_event(Op op, const UserEvent& m) {
  if (m.event >= kMaxEvents) return false;
  Scheduler& scheduler = state_.daemon.scheduler;
  if (op == Op::user_event) {
    scheduler.add_user_event(shared_from_this(), m.event);
  } else if (op == Op::host_access_done) {
    scheduler.end_host_access(*this, m.event);
  } else {
    scheduler.set_user_event(*this, m.event, m.status);
  }
  return true;
}

bool Session::handle_call(const MessageHeader& header, Reader& reader) {
  if (creates_object(header.op) && state_.objects.size() >= kMaxObjects) {
    state_.answer(header, status::kOutOfHostMemory);
    return true;
  }
  switch (header.op) {
    case Op::device_info: {
      std::vector<std::byte> bytes;
      const auto m = reader.take<Query>();
      const auto name = static_cast<std::uint32_t>(m.name);
      const Status status = state_.daemon.backend.device_info(name, bytes);
      if (status == status::kSuccess) limit_memory_size(name, state_.daemon.limits.per_client(), bytes);
      state_.answer(header, status, bytes);
      return true;
    }
    case Op::image_formats:
      memory_.image_formats(header, reader.take<ImageFormats>());
      return true;
    case Op::create_buffer:
      memory_.create_buffer(header, reader.take<CreateBuffer>());
      return true;
    case Op::create_sub_buffer:
      memory_.create_sub_buffer(header, reader.take<CreateSubBuffer>());
      return true;
    case Op::create_image:
      memory_.create_image(header, reader.take<CreateImage>());
      return true;
    case Op::image_info:
      memory_.image_info(header, reader.take<Query>());
      return true;
    case Op::create_sampler:
      memory_.create_sampler(header, reader.take<CreateSampler>());
      return true;
    case Op::create_queue:
      state_.answer(header, memory_.create_queue(reader.take<CreateQueue>()));
      return true;
    case Op::create_program:
      programs_.create(header, reader.take<CreateProgram>());
      return true;
    case Op::build_program:
      return programs_.build(header, reader);
    case Op::link_program:
      return programs_.link(header, reader);
    case Op::program_info:
      programs_.info(header, reader.take<Query>());
      return true;
    case Op::program_build_info:
      programs_.build_info(header, reader.take<Query>());
      return true;
    case Op::create_kernel:
      return kernels_.create(header, reader);
    case Op::kernel_info:
      kernels_.info(header, reader.take<Query>());
      return true;
    case Op::kernel_arg_info:
      kernels_.argument_info(header, reader.take<KernelQuery>());
      return true;
    case Op::kernel_group_info:
      kernels_.group_info(header, reader.take<KernelQuery>());
      return true;
    case Op::check_argument:
      return kernels_.check_argument(header, reader);
    default:
      return false;
  }
}

bool Session::release(const Release& m) {
  ObjectTables& objects = state_.objects;
  switch (m.kind) {
    case ObjectKind::memory:
      if (const auto memory = objects.memories.remove(m.id); memory && m.unused_event != 0) {
        if (m.unused_event > kMaxEvents) return true;
        memory->release_notice = {nullptr, [session = weak_from_this(), event = m.unused_event - 1](std::nullptr_t) {
                                    if (const auto alive = session.lock()) alive->show_state(event, status::kComplete);
                                  }};
      }
      return true;
    case ObjectKind::sampler:
      objects.samplers.remove(m.id);
      return true;
    case ObjectKind::queue:
      if (m.id != 0) objects.queues.remove(m.id);
      return true;
    case ObjectKind::program:
      objects.programs.remove(m.id);
      return true;
    case ObjectKind::kernel:
      objects.kernels.remove(m.id);
      return true;
    case ObjectKind::region:
      state_.daemon.scheduler.destroy_later(state_.shared.remove(static_cast<std::uint32_t>(m.id)));
      return true;
  }
  return false;
}

}  // namespace wm::runtime

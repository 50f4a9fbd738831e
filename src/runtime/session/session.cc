#include "runtime/session/session.h"

#include <cstring>

namespace wm::runtime {
namespace {

// What a client may have on its way before it has to wait: commands, the bytes of their messages, compilations.
constexpr std::uint64_t kMostOpen = 65'536, kMostOpenBytes = 16 << 20;
constexpr std::size_t kMostLater = 256;
// What it may have at all before it is refused more.
constexpr std::size_t kMostRegions = 256, kMostPlaced = 4096, kMostObjects = 1 << 18;

bool compiles(Op op) { return op == Op::build_program || op == Op::link_program; }
bool makes_an_object(Op op) {
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

}  // namespace

Session::Session(const DaemonContext& ground, Who who, SharedArea area)
    : daemon_(ground), who_(std::move(who)), area_(std::make_shared<SharedArea>(std::move(area))) {}

Result<std::shared_ptr<Session>> Session::make(const DaemonContext& ground, Who who, const Hello& hello,
                                               Descriptor& file) {
  auto area = SharedArea::make(file);
  if (!area) return area.error();
  std::shared_ptr<Session> session(new Session(ground, std::move(who), std::move(*area)));
  session->state.statistics.priority = hello.priority;
  session->state.statistics.share = std::max<std::uint32_t>(hello.share, 1) / 1000.0;
  // Name 0: the driver's own queue.
  if (const cl_int status = session->create_queue({0, 0}); status != CL_SUCCESS) {
    return Error{"the device gives no queue: OpenCL error " + std::to_string(status)};
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
  RingReader ring(&area_->header().ring, area_->ring());
  std::vector<std::byte> message;
  while (!closed()) {
    switch (ring.try_read(message)) {
      case RingReader::Outcome::nothing:
        ring.wait_for_message(200);
        break;
      case RingReader::Outcome::message:
        launch_ahead_ = launch_ahead(ring);
        if (handle(message)) break;
        [[fallthrough]];
      case RingReader::Outcome::broken:
        cut("broke the protocol");
    }
  }
}

std::optional<std::uint64_t> Session::launch_ahead(const RingReader& ring) {
  std::byte bytes[sizeof(MessageHeader) + sizeof(CommandMessage)];
  if (!ring.peek(bytes)) return std::nullopt;
  Reader reader(bytes);
  if (reader.take<MessageHeader>().op != Op::command) return std::nullopt;
  const auto next = reader.take<CommandMessage>();
  return next.type == CommandType::launch ? std::optional(next.queue) : std::nullopt;
}

void Session::cut(const std::string& why) {
  const std::lock_guard lock(mutex_);
  cut_off_ = why;
  closed_ = true;
}

std::string Session::cut_off() const {
  const std::lock_guard lock(mutex_);
  return cut_off_;
}

void Session::close() {
  closed_ = true;
  share_->closed = true;
  daemon_.limits.wake();
  wake_all(area_->header().ring.reader_sleeps);
  if (reader_.joinable()) reader_.join();
  std::list<std::future<void>> later;
  {
    const std::lock_guard lock(mutex_);
    later.swap(later_);
  }
  for (auto& l : later) l.wait();
  daemon_.scheduler.drop(*this);
  // Destroyed outside the lock: the last user of an object may be here.
  decltype(memories_) memories;
  decltype(samplers_) samplers;
  decltype(queues_) queues;
  decltype(programs_) programs;
  decltype(kernels_) kernels;
  const std::lock_guard lock(mutex_);
  memories.swap(memories_);
  samplers.swap(samplers_);
  queues.swap(queues_);
  programs.swap(programs_);
  kernels.swap(kernels_);
}

std::uint32_t Session::add_region(std::uint64_t size, Descriptor& file) {
  if (size > daemon_.limits.per_client()) return 0;
  auto made = sealed_memory("warpmux-region", size);
  if (!made) return 0;
  auto map = Mapping::of(*made, size);
  if (!map) return 0;
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = size;  // of regions in which no buffer lives: those are counted with it
  for (const auto& [id, region] : regions_) bytes += region->bytes().size();
  if (bytes > daemon_.limits.per_client()) return 0;
  std::erase_if(placed_, [](const auto& region) { return region.expired(); });
  if (regions_.size() >= kMostRegions || placed_.size() >= kMostPlaced || closed()) return 0;
  file = std::move(*made);
  regions_[next_region_] = std::make_shared<Mapping>(std::move(*map));
  return next_region_++;
}

Session::SharedBytes Session::bytes_of(const Chunk& chunk) {
  SharedBytes whole{area_->staging(), nullptr};
  if (chunk.region != 0) {
    const std::lock_guard lock(mutex_);
    const auto it = regions_.find(chunk.region);
    if (it == regions_.end()) return {};
    whole = {it->second->bytes(), it->second};
  }
  if (chunk.offset > whole.bytes.size() || chunk.size > whole.bytes.size() - chunk.offset) return {};
  return {whole.bytes.subspan(chunk.offset, chunk.size), std::move(whole.region)};
}

void Session::show(std::uint32_t slot, cl_int state) { publish(area_->header(), area_->events()[slot], state); }

void Session::show_end(const Command& command) {
  EventRecord& slot = area_->events()[command.slot];
  slot.queued = command.queued_at;
  slot.submitted = command.submitted_at;
  slot.started = command.started_at;
  slot.ended = command.ended_at;
  publish(area_->header(), slot, command.status);
}

Session::Counts Session::counts() const {
  const std::lock_guard lock(mutex_);
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - since_;
  Counts counts{
      memories_.size(), programs_.size(), kernels_.size(), queues_.size(), share_->bytes.load(), age.count(), {}};
  for (const auto& [id, kernel] : kernels_) {
    const std::unique_lock kernel_lock(kernel->mutex, std::try_to_lock);  // held while its form is being made
    if (kernel_lock && kernel->form && !kernel->form->workers)
      counts.whole[kernel->name] = kernel->form->not_rewritten_reason;
  }
  return counts;
}

void Session::answer(const MessageHeader& header, cl_int status, std::span<const std::byte> bytes) {
  const auto [to, region] = bytes_of(header.reply);
  if (to.size() < sizeof(Reply)) return;  // a client that wants no answer gets none
  const Reply reply{0, status, bytes.size()};
  // A client may have named the same place twice.
  const std::lock_guard lock(answers_);
  std::memcpy(to.data() + offsetof(Reply, status), &reply.status, sizeof reply.status);
  std::memcpy(to.data() + offsetof(Reply, size), &reply.size, sizeof reply.size);
  const std::size_t told = std::min(bytes.size(), to.size() - sizeof reply);
  if (told != 0) std::memcpy(to.data() + sizeof reply, bytes.data(), told);
  auto& state = *reinterpret_cast<Word*>(to.data());
  state.store(1, std::memory_order_release);
  wake_all(state);
}

void Session::later(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  later_.remove_if([](const auto& l) { return l.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  later_.push_back(std::async(std::launch::async, [self = shared_from_this(), work = std::move(work)] { work(); }));
}

void Session::hold_back(Op op) {
  const auto too_much = [this, op] {
    if (outstanding > kMostOpen || outstanding_bytes > kMostOpenBytes) return true;
    if (!compiles(op)) return false;
    const std::lock_guard lock(mutex_);
    later_.remove_if([](const auto& l) { return l.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    return later_.size() >= kMostLater;
  };
  while (too_much() && !closed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool Session::has_too_many_objects() const {
  const std::lock_guard lock(mutex_);
  return memories_.size() + samplers_.size() + queues_.size() + programs_.size() + kernels_.size() >= kMostObjects;
}

bool Session::handle(std::span<const std::byte> message) {
  Reader reader(message);
  const MessageHeader header = reader.take<MessageHeader>();
  if (header.op < Op::device_info || header.op > kLastOp) return false;
  hold_back(header.op);
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
      return command(reader);
    case Op::user_event:
    case Op::host_access_done:
    case Op::set_user_event: {
      const auto m = reader.take<UserEvent>();
      if (m.event >= kMaxEvents) return false;
      if (header.op == Op::user_event) {
        daemon_.scheduler.add_user_event(shared_from_this(), m.event);
      } else if (header.op == Op::host_access_done) {
        daemon_.scheduler.end_host_access(*this, m.event);
      } else {
        daemon_.scheduler.set_user_event(*this, m.event, m.status);
      }
      return true;
    }
    default:
      return false;
  }
}

bool Session::handle_call(const MessageHeader& header, Reader& reader) {
  if (makes_an_object(header.op) && has_too_many_objects()) {
    answer(header, CL_OUT_OF_HOST_MEMORY);
    return true;
  }
  switch (header.op) {
    case Op::device_info: {
      std::vector<std::byte> bytes;
      const auto m = reader.take<Query>();
      const cl_int status = daemon_.native.device_info(static_cast<cl_device_info>(m.name), bytes);
      answer(header, status, bytes);
      return true;
    }
    case Op::image_formats:
      image_formats(header, reader.take<ImageFormats>());
      return true;
    case Op::create_buffer:
      create_buffer(header, reader.take<CreateBuffer>());
      return true;
    case Op::create_sub_buffer:
      create_sub_buffer(header, reader.take<CreateSubBuffer>());
      return true;
    case Op::create_image:
      create_image(header, reader.take<CreateImage>());
      return true;
    case Op::image_info:
      image_info(header, reader.take<Query>());
      return true;
    case Op::create_sampler:
      create_sampler(header, reader.take<CreateSampler>());
      return true;
    case Op::create_queue:
      answer(header, create_queue(reader.take<CreateQueue>()));
      return true;
    case Op::create_program:
      create_program(header, reader.take<CreateProgram>());
      return true;
    case Op::build_program:
      return build_program(header, reader);
    case Op::link_program:
      return link_program(header, reader);
    case Op::program_info:
      program_info(header, reader.take<Query>());
      return true;
    case Op::program_build_info:
      program_build_info(header, reader.take<Query>());
      return true;
    case Op::create_kernel:
      return create_kernel(header, reader);
    case Op::kernel_info:
      kernel_info(header, reader.take<Query>());
      return true;
    case Op::kernel_arg_info:
      kernel_arg_info(header, reader.take<KernelQuery>());
      return true;
    case Op::kernel_group_info:
      kernel_group_info(header, reader.take<KernelQuery>());
      return true;
    case Op::check_argument:
      return check_argument(header, reader);
    default:
      return false;
  }
}

}  // namespace wm::runtime

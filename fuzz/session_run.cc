#include "fuzz/session_run.h"

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unistd.h>

#include "rewrite/cache.h"
#include "tests/runtime/device/null_opencl.h"
#include "tests/runtime/session/null_daemon.h"

namespace wm::fuzz {
namespace {

using namespace wm::runtime;
using runtime::test::kAsWorkers, runtime::test::kSource, runtime::test::null_backend, runtime::test::NullDaemon;

// A rewriter that knows one program, from a cache in its own folder.
rewrite::Rewriter& rewriter() {
  static const std::string folder = [] {
    auto path = std::filesystem::temp_directory_path() / ("wm-session-" + std::to_string(::getpid()));
    rewrite::KernelReply kernel;
    kernel.name = "k";
    kernel.rewritten = true;
    rewrite::Reply reply;
    reply.source = kAsWorkers;
    reply.kernels = {kernel};
    (void)rewrite::Cache(path.string()).store({.source = kSource}, reply);
    return path.string();
  }();
  static rewrite::Rewriter rewriter({.worker = "", .cache_folder = folder});
  return rewriter;
}

std::unique_ptr<NullDaemon> made(bool cpu, const char* policy, bool pass_through = false) {
  return std::make_unique<NullDaemon>(null_backend(cpu),
                                      NullDaemon::Options{.policy = policy,
                                                          .pass_through = pass_through,
                                                          .memory = 4 << 20,
                                                          .client_memory = 2 << 20,
                                                          .wait_for_memory = cpu,
                                                          .rewriter = pass_through ? nullptr : &rewriter()});
}

// For all conversations of this process.
NullDaemon& daemon(unsigned which) {
  static const std::array<std::unique_ptr<NullDaemon>, 4> all = {
      made(true, "accelos"), made(false, "moving_shares"), made(true, "moving_shares"), made(false, "left_over", true)};
  return *all[which % all.size()];
}

// Reads values from the input; zeros after its end.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::uint8_t one() {
    if (rest_.empty()) return 0;
    const std::uint8_t b = rest_.front();
    rest_ = rest_.subspan(1);
    return b;
  }
  template <typename T>
  T any() {
    T value{};
    const std::size_t size = std::min(sizeof value, rest_.size());
    std::memcpy(&value, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return value;
  }
  // Mostly below `bound`, sometimes anything.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint8_t b = one();
    return b == 0xff ? any<std::uint64_t>() : b % bound;
  }
  std::span<const std::uint8_t> some(std::size_t size) {
    const auto taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

constexpr std::uint64_t kNames = 4;

class Talk {
 public:
  Talk(Bytes& in, Session& session, const SharedArea& area)
      : in_(in), session_(session), area_(area), ring_(&area.header().ring, area.ring()) {}

  // False: the session reads no more.
  bool say_something() {
    const auto op = static_cast<Op>(1 + in_.below(static_cast<std::uint64_t>(kLastOp)));
    Writer message(op);
    if (in_.one() < 3) {
      const auto junk = in_.some(in_.one());
      message.raw(junk.data(), junk.size());
    } else {
      fill(op, message);
    }
    message.reply_to({0, 0, 8 * in_.below(64), 16 + in_.below(200)});
    return send(message);
  }

 private:
  bool send(Writer& message) {
    const auto bytes = message.finish();
    for (int i = 0; i < 2000; ++i) {
      if (session_.finished() || bytes.size() > kMaxMessageBytes) return false;
      if (ring_.try_write(bytes)) return true;
      ring_.wait_for_room(5);
    }
    return false;  // it waits for a message that will not be sent
  }
  std::uint64_t name() { return in_.below(kNames); }
  std::uint32_t slot() { return in_.one() % 4 == 0 ? kNoEvent : static_cast<std::uint32_t>(in_.below(8)); }
  Chunk chunk() { return {static_cast<std::uint32_t>(in_.below(3)), 0, in_.below(200), in_.below(250)}; }

  void fill(Op op, Writer& m) {
    switch (op) {
      case Op::create_buffer: {
        Descriptor file;
        std::uint32_t region = 0;
        if (in_.one() % 2 == 0) region = session_.add_region(4096 * (1 + in_.below(4)), file);
        m.put(CreateBuffer{name(), in_.below(8), 16 * in_.below(255), region, 0});
        return;
      }
      case Op::create_sub_buffer:
        m.put(CreateSubBuffer{name(), name(), in_.below(8), in_.below(255), in_.below(255)});
        return;
      case Op::create_image:
        m.put(CreateImage{name(), 0, in_.one() % 4 == 0 ? name() : 0, CL_RGBA, CL_UNORM_INT8, CL_MEM_OBJECT_IMAGE2D, 0,
                          in_.below(66), in_.below(66), in_.below(3), 0, 0, 0});
        return;
      case Op::create_sampler:
        m.put(CreateSampler{name(), 0, CL_ADDRESS_NONE, CL_FILTER_NEAREST, 0});
        return;
      case Op::create_queue:
        m.put(CreateQueue{name(), in_.below(4)});
        return;
      case Op::create_program:
        program(m);
        return;
      case Op::build_program: {
        const auto inputs = static_cast<std::uint32_t>(in_.one() % 8 == 0 ? in_.below(3) : 0);
        m.put(BuildProgram{name(), in_.one() % 4 == 0 ? 1U : 0U, inputs});
        for (std::uint32_t i = 0; i < inputs && i < 4; ++i) m.put(name());
        m.text(in_.one() % 8 == 0 ? "!" : "").raw("", 1);
        for (std::uint32_t i = 0; i < inputs && i < 4; ++i) m.raw("h", 2);
        return;
      }
      case Op::link_program: {
        const auto inputs = static_cast<std::uint32_t>(in_.below(3));
        m.put(LinkProgram{name(), inputs, 0});
        for (std::uint32_t i = 0; i < inputs && i < 4; ++i) m.put(name());
        m.raw("", 1);
        return;
      }
      case Op::create_kernel:
        m.put(CreateKernel{name(), name()}).raw(in_.one() % 8 == 0 ? "j" : "k", 2);
        return;
      case Op::kernel_arg_info:
      case Op::kernel_group_info:
        m.put(KernelQuery{name(), static_cast<std::uint32_t>(in_.below(4)),
                          static_cast<std::uint32_t>(in_.below(0x11ff))});
        return;
      case Op::check_argument:
        m.put(CheckArgument{name(), static_cast<std::uint32_t>(in_.below(4)), 0});
        argument(m, in_.one() % 4);
        return;
      case Op::release:
        m.put(Release{name(), static_cast<ObjectKind>(in_.below(7)), 0});
        return;
      case Op::command:
        command(m);
        return;
      case Op::user_event:
      case Op::set_user_event:
      case Op::host_access_done:
        m.put(UserEvent{static_cast<std::uint32_t>(in_.below(8)), -static_cast<std::int32_t>(in_.one() % 2)});
        return;
      default:  // queries
        m.put(Query{name(), in_.below(0x1200)});
    }
  }

  void program(Writer& m) {
    const bool known = in_.one() % 4 != 0;
    const std::size_t size = known ? std::strlen(kSource) : 1 + in_.one();
    std::byte* at = area_.staging().data() + 4096;
    if (known) {
      std::memcpy(at, kSource, size);
    } else {
      const auto text = in_.some(size);
      std::memcpy(at, text.data(), text.size());
    }
    m.put(CreateProgram{
        name(), known ? ProgramOrigin::source : static_cast<ProgramOrigin>(in_.below(4)), 0, {0, 0, 4096, size}});
    // Read before it is written again.
    const std::uint64_t written = area_.header().ring.written;
    for (int i = 0; i < 100 && area_.header().ring.read != written && !session_.finished(); ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void argument(Writer& m, unsigned kind) {
    m.put(Argument{static_cast<ArgumentKind>(kind), kind == 4 ? 64U : kind == 2 ? 0U : 8U});
    if (kind == 4 || kind == 2) return;
    m.put(kind == 0 ? in_.any<std::uint64_t>() : name());
  }

  void command(Writer& m) {
    const auto work = static_cast<CommandType>(in_.below(static_cast<std::uint64_t>(kLastCommandType) + 1));
    const std::uint32_t waits = in_.one() % 4 == 0 ? in_.one() % 3 : 0;
    m.put(CommandMessage{in_.one() % 2 == 0 ? 0 : name(), work, slot(), waits,
                         static_cast<std::uint16_t>(in_.one() % 16 == 0)});
    for (std::uint32_t i = 0; i < waits; ++i) m.put(static_cast<std::uint32_t>(in_.below(8)));
    m.pad();
    switch (work) {
      case CommandType::read:
      case CommandType::write:
        m.put(Transfer{name(), in_.below(255), chunk()});
        return;
      case CommandType::read_rect:
      case CommandType::write_rect:
      case CommandType::read_image:
      case CommandType::write_image:
        m.put(RectTransfer{
            name(), {}, {in_.below(20), in_.below(4), in_.below(4)}, in_.below(64), in_.below(255), chunk()});
        return;
      case CommandType::copy:
      case CommandType::image_to_buffer:
      case CommandType::buffer_to_image:
        m.put(
            Copy{name(), name(), in_.below(255), in_.below(255), in_.below(255), {}, {in_.below(20), in_.below(4), 1}});
        return;
      case CommandType::copy_rect:
      case CommandType::copy_image:
        m.put(RectCopy{name(), name(), {}, {}, {in_.below(20), in_.below(4), in_.below(4)}, 0, 0, 0, 0});
        return;
      case CommandType::fill:
      case CommandType::fill_image: {
        Fill fill{name(), in_.below(64), 16 * in_.below(16), {}, {in_.below(20), in_.below(4), in_.below(4)}, 0, {}};
        fill.pattern_size = in_.below(130);
        m.put(fill);
        return;
      }
      case CommandType::launch: {
        const std::uint32_t arguments = in_.one() % 8 == 0 ? in_.one() % 6 : 3;
        LaunchMessage launch{name(), static_cast<std::uint32_t>(1 + in_.below(3)), arguments, {}, {}, {}, {}};
        if (in_.one() % 4 == 0) launch.printf_output = chunk();
        for (int i = 0; i < 3; ++i) {
          launch.local[i] = in_.below(33);
          launch.global[i] = std::max<std::uint64_t>(launch.local[i], 1) * (1 + in_.below(9));
        }
        m.put(launch);
        constexpr unsigned kRight[] = {1, 0, 4};
        for (std::uint32_t i = 0; i < arguments; ++i) {
          const std::uint8_t b = in_.one();
          argument(m, b < 224 && i < 3 ? kRight[i] : b % 5);
        }
        return;
      }
      default:
        return;
    }
  }

  Bytes& in_;
  Session& session_;
  const SharedArea& area_;
  RingWriter ring_;
};

}  // namespace

bool run_session(std::span<const std::uint8_t> bytes) {
  Bytes in(bytes);
  NullDaemon& on = daemon(in.one());
  Descriptor file;
  auto session = Session::make(on.context(), {}, Hello{}, file);
  if (!session) return false;
  {
    const auto area = SharedArea::attach(file);
    (*session)->start();
    Talk talk(in, **session, *area);
    for (int said = 0; said < 200 && !in.empty(); ++said) {
      if (!talk.say_something()) break;
    }
    // The session has read all messages, unless it has refused to read more.
    for (int i = 0; i < 200; ++i) {
      if ((*session)->finished() || area->header().ring.read == area->header().ring.written) break;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    (*session)->close();
  }
  session->reset();
  for (int i = 0; i < 20'000 && !on.idle(); ++i) std::this_thread::sleep_for(std::chrono::microseconds(100));
  return on.idle();
}

}  // namespace wm::fuzz

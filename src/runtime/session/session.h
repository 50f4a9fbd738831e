// One client: the memory shared with it, its names, and the thread that reads what it says.
//
// Nothing a client says is believed: messages are copied before they are read, names are looked up in its own tables,
// chunks are checked against what is shared. A client that breaks the protocol is cut off with a reason.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/program/precompilation.h"
#include "runtime/program/worker_program.h"
#include "runtime/protocol/ring.h"
#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"
#include "runtime/sandbox/sandbox.h"
#include "runtime/schedule/scheduler.h"

namespace wm::runtime {

// What all sessions share.
struct DaemonContext {
  Native& native;
  ObjectCounts& census;
  MemoryLimits& limits;
  Scheduler& scheduler;
  const WorkerPrograms& forms;
  const Precompilation& precompilation;
  Compilers& compilers;
  sandbox::Sandbox& sandbox;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Who {
    Peer peer;
    std::string name;
    std::uint64_t number = 0;
  };
  // With its shared area; `file` is for the client.
  static Result<std::shared_ptr<Session>> make(const DaemonContext& ground, Who who, const Hello& hello,
                                               Descriptor& file);
  ~Session();

  void start();
  // The client has gone, or is cut off: reads no more, drops what has not started, lets go of everything.
  void close();
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_acquire); }
  // Why it was cut off; empty: it was not.
  [[nodiscard]] std::string cut_off() const;
  void cut(const std::string& why);
  [[nodiscard]] bool finished() const { return finished_.load(std::memory_order_acquire); }

  // A region for one large transfer; its number, or 0.
  std::uint32_t add_region(std::uint64_t size, Descriptor& file);

  // --- the scheduler's
  ClientState state;
  std::atomic<std::uint64_t> outstanding{0}, outstanding_bytes{0};
  void show(std::uint32_t slot, cl_int state);
  void show_end(const Command& command);

  // --- for people
  [[nodiscard]] const Who& who() const { return who_; }
  struct Counts {
    std::size_t memories = 0, programs = 0, kernels = 0, queues = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;
    std::map<std::string, std::string> whole;  // kernels that run as they are, and why
  };
  [[nodiscard]] Counts counts() const;

 private:
  Session(const DaemonContext& ground, Who who, SharedArea area);
  void read_messages();
  // The queue of the next message, if that is there and a launch.
  [[nodiscard]] static std::optional<std::uint64_t> launch_ahead(const RingReader& ring);
  // False: the message breaks the protocol.
  bool handle(std::span<const std::byte> message);
  bool handle_call(const MessageHeader& header, Reader& reader);
  bool handle_post(const MessageHeader& header, Reader& reader);
  void answer(const MessageHeader& header, cl_int status, std::span<const std::byte> bytes = {});
  // Waits while the client has more on its way than it may: its ring fills up, and its calls take longer.
  void hold_back(Op op);
  [[nodiscard]] bool has_too_many_objects() const;
  // Runs where it may take long: compiling, waiting for memory.
  void later(std::function<void()> work);

  // Objects.
  void create_buffer(const MessageHeader& header, const CreateBuffer& m);
  void create_sub_buffer(const MessageHeader& header, const CreateSubBuffer& m);
  void create_image(const MessageHeader& header, const CreateImage& m);
  void create_sampler(const MessageHeader& header, const CreateSampler& m);
  cl_int create_queue(const CreateQueue& m);
  void image_formats(const MessageHeader& header, const ImageFormats& m);
  void image_info(const MessageHeader& header, const Query& m);
  // Accounts for `bytes` and answers with what `make` did, at once or when there is room.
  // Counted, and given back when the device is at rest; `beneath` stays until then.
  [[nodiscard]] Native_<cl_mem> own_memory(cl_mem memory, std::uint64_t bytes, std::shared_ptr<void> beneath) const;
  bool make_room();
  void create_memory(const MessageHeader& header, std::uint64_t id, std::uint64_t bytes,
                     const std::shared_ptr<Memory>& parent, std::uint64_t extent, std::function<cl_mem(cl_int*)> make,
                     const std::shared_ptr<Mapping>& place = nullptr);
  bool release(const Release& m);
  // Programs and kernels.
  void create_program(const MessageHeader& header, const CreateProgram& m);
  bool build_program(const MessageHeader& header, Reader& reader);
  bool link_program(const MessageHeader& header, Reader& reader);
  bool create_kernel(const MessageHeader& header, Reader& reader);
  bool check_argument(const MessageHeader& header, Reader& reader);
  void program_info(const MessageHeader& header, const Query& m);
  void program_build_info(const MessageHeader& header, const Query& m);
  void kernel_info(const MessageHeader& header, const Query& m);
  void kernel_arg_info(const MessageHeader& header, const KernelQuery& m);
  void kernel_group_info(const MessageHeader& header, const KernelQuery& m);
  // Commands.
  bool command(Reader& reader);
  bool transfer(Command& command, Reader& reader);
  bool rect_transfer(Command& command, Reader& reader);
  bool copy(Command& command, Reader& reader);
  bool rect_copy(Command& command, Reader& reader);
  bool fill(Command& command, Reader& reader);
  bool launch(Command& command, Reader& reader);
  // Has the device's compiler do for it what it would do when it runs; false where it must not run.
  bool precompile(LaunchPlan& plan);
  bool read_argument(Reader& reader, LaunchPlan::Value& value);
  // Whether these bytes lie in the part of staging that the device's driver knows, and moves by itself.
  [[nodiscard]] bool known_to_device(std::span<const std::byte> bytes);

  // The bytes of a chunk, there as long as `region` is held; empty where it is not inside what is shared.
  struct SharedBytes {
    std::span<std::byte> bytes;
    std::shared_ptr<Mapping> region;  // none: staging, which lives as long as the session
  };
  [[nodiscard]] SharedBytes bytes_of(const Chunk& chunk);
  template <typename T>
  [[nodiscard]] std::shared_ptr<T> find(const std::map<std::uint64_t, std::shared_ptr<T>>& table,
                                        std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto it = table.find(id);
    return it == table.end() ? nullptr : it->second;
  }
  // False: the name is taken.
  template <typename T>
  bool keep(std::map<std::uint64_t, std::shared_ptr<T>>& table, std::uint64_t id, std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    return !closed() && table.emplace(id, std::move(object)).second;
  }

  const DaemonContext daemon_;
  const Who who_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  const std::shared_ptr<SharedArea> area_;
  std::shared_ptr<MemoryLimits::Share> share_ = std::make_shared<MemoryLimits::Share>();
  Native_<cl_mem> pinned_;  // the first part of staging; the reader's
  bool pinned_asked_ = false;
  std::atomic<bool> closed_{false}, finished_{false};
  std::thread reader_;
  std::optional<std::uint64_t> launch_ahead_;  // the reader's

  std::mutex answers_;  // one is written at a time

  mutable std::mutex mutex_;  // what follows
  std::string cut_off_;
  std::map<std::uint32_t, std::shared_ptr<Mapping>> regions_;
  std::uint32_t next_region_ = 1;
  std::vector<std::weak_ptr<Mapping>> placed_;  // regions in which buffers live
  std::map<std::uint64_t, std::shared_ptr<Memory>> memories_;
  std::map<std::uint64_t, std::shared_ptr<Sampler>> samplers_;
  std::map<std::uint64_t, std::shared_ptr<Queue>> queues_;
  std::map<std::uint64_t, std::shared_ptr<Program>> programs_;
  std::map<std::uint64_t, std::shared_ptr<Kernel>> kernels_;
  std::list<std::future<void>> later_;
};

}  // namespace wm::runtime

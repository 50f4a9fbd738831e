// What a client's names stand for: native objects, freed when the client has let go and no command uses them any more.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "rewrite/program.h"
#include "runtime/device/opencl_native.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/message.h"

namespace wm::runtime {

// Native objects alive in this daemon, for `wm status`: what a client leaves behind would show here.
struct ObjectCounts {
  std::atomic<std::int64_t> memories{0}, samplers{0}, queues{0}, programs{0}, kernels{0}, events{0}, commands{0};
  std::atomic<std::uint64_t> queues_made{0};
};

// What is larger and in the host's memory comes from its kernel, which wipes it (Server::make sees to that); what is
// not may have been another client's.
inline constexpr std::size_t kFreshBytes = 1 << 20;

template <typename T>
using Native_ = std::shared_ptr<std::remove_pointer_t<T>>;

// Owns a native object; `alive` counts it.
template <typename T, typename Release>
Native_<T> own(T object, Release release, std::atomic<std::int64_t>& alive) {
  ++alive;
  return Native_<T>(object, [release, &alive](T dead) {
    release(dead);
    --alive;
  });
}

// The device's memory: who has how much of it, and whether more may be had.
class MemoryLimits {
 public:
  // `all_there_is`: nobody has set a limit.
  MemoryLimits(std::uint64_t total, std::uint64_t per_client, bool wait, bool all_there_is = false)
      : total_(total), each_(per_client), wait_(wait), all_there_is_(all_there_is) {}

  // One client's part.
  struct Share {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> text{0};  // of its programs, in the daemon's own memory
    std::atomic<bool> closed{false};
  };
  [[nodiscard]] bool waits() const { return wait_; }
  // Whether it is more than the device has. Some drivers make such a buffer as long as nobody uses it, so it takes
  // nothing from anybody.
  [[nodiscard]] bool takes_nothing(std::uint64_t bytes) const { return all_there_is_ && bytes > total_; }
  [[nodiscard]] std::uint64_t per_client() const { return each_; }
  // Whether `bytes` more would have to wait for others.
  [[nodiscard]] bool crowded(std::uint64_t bytes) const;
  // False: it does not fit, and where waiting is asked for, never will (or the client has gone).
  bool take(Share& share, std::uint64_t bytes);
  void give(Share& share, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t spare() const;
  void wake() { freed_.notify_all(); }

 private:
  const std::uint64_t total_, each_;
  const bool wait_, all_there_is_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::uint64_t used_ = 0;
};

// Its bytes are the client's until the last command that uses them has ended.
struct Memory {
  std::shared_ptr<void> release_notice;  // tells its client, when all else of it is gone
  std::shared_ptr<Mapping> place;        // shared with the client, where it lives there
  Native_<cl_mem> native;
  std::shared_ptr<Memory> parent;
  std::shared_ptr<MemoryLimits::Share> share;
  MemoryLimits* limits = nullptr;
  std::uint64_t bytes = 0;   // counted
  std::uint64_t extent = 0;  // of a buffer
  ~Memory() {
    native.reset();
    if (limits != nullptr) limits->give(*share, bytes);
  }
};

struct Sampler {
  Native_<cl_sampler> native;
};

// A program's second form, its kernels as workers (worker_form.h); none where `workers` is null.
struct ProgramForm {
  Native_<cl_program> workers;
  std::vector<rewrite::KernelReply> kernels;
  std::map<std::string, std::uint32_t> registers;  // of an item, by kernel, where the device tells
  std::string not_rewritten_reason;                // why not
};
struct KernelForm {
  Native_<cl_kernel> workers;  // null: it runs as it is
  std::uint32_t chunk = 1, extra_local_bytes = 0, registers = 0;
  std::uint64_t most_items = 0;
  std::string not_rewritten_reason;  // why it does
};

class PrecompiledLaunches {
 public:
  // Why it must not be done, empty where it may; nothing where it has not been precompiled.
  [[nodiscard]] std::optional<std::string> find(const std::string& launch) const;
  void note(const std::string& launch, std::string refusal);
  void forget();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> launches_;
};

struct SandboxProgram;

struct Program {
  Native_<cl_program> native;
  std::string source;
  std::shared_ptr<void> text;  // counts it, while it is held
  std::string options;         // as the client gave them
  std::string binary;          // what it was loaded from
  // Names and programs that it was last compiled with; the reader's.
  std::vector<std::pair<std::string, std::weak_ptr<Program>>> headers;
  bool prints = false;
  // Made beside what the client does after the build; not valid: nothing was built from source.
  std::shared_future<std::shared_ptr<const ProgramForm>> form;
  std::string not_rewritten_reason;  // why it has none
  // What it was linked from, as that was then; null: it was not.
  std::shared_ptr<const std::vector<SandboxProgram>> inputs;
  bool binary_asked = false;  // by its client; the reader's

  // Why the device's compiler was not given it; empty: it was, or nobody asked.
  [[nodiscard]] std::string refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
  }
  void refuse(std::string why) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(why);
  }
  // As the device's compiler left it, for linking: null where it has not been compiled apart, or not to a binary.
  [[nodiscard]] std::shared_ptr<const std::string> object() const {
    const std::lock_guard lock(mutex_);
    return object_;
  }
  void made_into(std::shared_ptr<const std::string> object) {
    const std::lock_guard lock(mutex_);
    object_ = std::move(object);
  }
  // Launches of its kernels that have been precompiled, by name (precompilation.h).
  PrecompiledLaunches precompiled;

 private:
  mutable std::mutex mutex_;
  std::string refusal_;
  std::shared_ptr<const std::string> object_;
};

[[nodiscard]] constexpr bool takes_object(ParameterKind kind) {
  return kind == ParameterKind::memory || kind == ParameterKind::image || kind == ParameterKind::sampler;
}

// What the driver's compiler may make a difference of between launches of a kernel.
struct LaunchShape {
  std::array<std::size_t, 3> local{}, global{};  // global: only where the driver chooses the local size
  bool wide = false, offset = false, workers = false;
  bool operator==(const LaunchShape&) const = default;
};

struct Kernel {
  Native_<cl_kernel> native;
  std::shared_ptr<Program> program;
  std::string name;
  std::uint32_t function = 0;     // a number for each (program, name)
  std::uint32_t local_bytes = 0;  // of one group, without local arguments
  std::uint64_t most_items = 0;
  std::array<std::size_t, 3> compiled_local{};
  std::vector<ParameterKind> parameters;
  // Its form as workers, known from its first launch on.
  std::mutex mutex;
  std::shared_ptr<const KernelForm> form;
  // What a group took on the device lately, in nanoseconds; 0: not known. The scheduler's to say.
  std::atomic<double> group_nanoseconds{0};
  // Its latest launch that was precompiled, by shape; the reader's.
  std::optional<LaunchShape> precompiled;
  bool precompiled_unmodified = false;  // … and it may run as it is
};

}  // namespace wm::runtime

// The programs and kernels of clients.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rewrite/program.h"
#include "runtime/device/backend.h"
#include "runtime/program/attached_source.h"

namespace wm::runtime {

// A program rewritten so that its kernels run as workers (worker_program.h); `workers` is null where it was not.
struct ProgramForm {
  ProgramHandle workers;
  std::vector<rewrite::KernelReply> kernels;
  std::map<std::string, std::uint32_t> registers;  // per work-item, by kernel, where the device reports them
  std::string not_rewritten_reason;
  // The files that the source included; nothing: it was not read.
  std::optional<std::vector<rewrite::Dependency>> dependencies;
};
struct KernelForm {
  KernelHandle workers;  // null: the kernel runs unmodified
  std::uint32_t chunk = 1, max_chunk = 1, extra_local_bytes = 0, registers = 0;
  std::uint32_t undivided_registers = 0;  // needs of the original, where its device knows them
  std::uint64_t max_items = 0;            // limit of a group
  std::string not_rewritten_reason;
};

// The launches of a program's kernels that have been precompiled, by name (precompilation.h).
class PrecompiledLaunches {
 public:
  // The reason why the launch must not run, empty where it may; nothing where it has not been precompiled.
  [[nodiscard]] std::optional<std::string> find(const std::string& launch) const;
  void add(const std::string& launch, std::string refusal);
  void clear();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> launches_;
};

struct SandboxProgram;

struct Program {
  enum class State {
    created,   // from source or a binary, or linked
    building,  // the device's compiler builds or compiles it
    built,     // the device's compiler has accepted it
    failed,    // the device's compiler has rejected it
    refused,   // the device's compiler was not given it, because it failed in the sandbox
  };

  ProgramHandle handle;
  std::string source;
  std::string binary;                              // if the program was created from a binary, as the driver takes it
  std::shared_ptr<const AttachedSource> attached;  // the source that came with the binary; null: none did
  std::shared_ptr<void> text_account;              // counts the text in MemoryLimits::Share while it is held
  std::string options;                             // options of the last build, as the client gave them
  std::string not_rewritten_reason;                // if it has no form
  bool uses_printf = false;
  bool binary_requested = false;  // the client has asked for its binary; used by the reader thread only
  // The headers of the last compilation by name; used by the reader thread only.
  std::vector<std::pair<std::string, std::weak_ptr<Program>>> headers;
  // The form is made while the client continues after the build; not valid: it was not built, or its source is unknown.
  std::shared_future<std::shared_ptr<const ProgramForm>> form;
  // The programs that it was linked from, as they were then; null: it was not linked.
  std::shared_ptr<const std::vector<SandboxProgram>> inputs;
  PrecompiledLaunches precompiled;

  [[nodiscard]] State state() const;
  // A new build begins: earlier results do not count any more.
  void begin_build(std::string build_options);
  // `object`: the binary of a program that was compiled and not linked; null where there is none.
  void end_build(bool succeeded, std::shared_ptr<const std::string> object);
  // The sandbox refused it; `log` is the build log that the client sees.
  void refuse(std::string log);

  [[nodiscard]] std::string refusal() const;
  [[nodiscard]] std::shared_ptr<const std::string> object() const;

 private:
  struct Build {
    State state = State::created;
    std::string refusal;
    std::shared_ptr<const std::string> object;
  };

  mutable std::mutex mutex_;  // guards `build_`
  Build build_;               // the last one
};

[[nodiscard]] constexpr bool takes_object(ParameterKind kind) {
  return kind == ParameterKind::memory || kind == ParameterKind::image || kind == ParameterKind::sampler;
}

// The properties of a launch for which a compiler that compiles at launch may generate different code.
struct LaunchShape {
  Size3 local{}, global{};  // global: only where the device chooses the local size
  bool wide = false, offset = false, workers = false;
  bool operator==(const LaunchShape&) const = default;
};

struct Kernel {
  KernelHandle handle;
  std::shared_ptr<Program> program;
  std::string name;
  std::uint32_t function = 0;     // a number for each (program, name)
  std::uint32_t local_bytes = 0;  // per group, without local arguments
  std::uint64_t max_items = 0;    // limit of a group
  Size3 compiled_local{};         // reqd_work_group_size, or zeros
  std::vector<ParameterKind> parameters;
  std::mutex mutex;                        // guards form
  std::shared_ptr<const KernelForm> form;  // known from the first launch on
  // Recent average time of a group on the device; 0: not known. Set by the scheduler.
  std::atomic<double> group_nanoseconds{0};
  // Its latest launch could be divided and ran unmodified. Set by the scheduler.
  std::atomic<bool> ran_unmodified{false};
  // The latest launch that was precompiled; used by the reader thread only.
  struct Precompiled {
    LaunchShape shape;
    bool may_run_unmodified = false;
  };
  std::optional<Precompiled> precompiled;
};

}  // namespace wm::runtime

// The boundary to devices: everything above it allocates, compiles, submits and observes through these interfaces, and
// names no type of OpenCL or CUDA.
//
// A `Backend` is one device in one process. It has three parts: `Allocation` makes queues and memory objects,
// `Compilation` makes programs and kernels, `Submission` puts work on queues and reports how it ended. `Capabilities`
// states the differences between devices; code above reads the field that matters to it and does not ask for the kind
// of device.
//
// Objects are shared handles: the device's object is destroyed with the last one. Any thread may call; calls that use
// the same kernel object, or the same queue, are serialised by the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/occupancy.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/protocol/message.h"
#include "runtime/protocol/status.h"

namespace wm::runtime {

// A backend derives its own types from these and is the only one to look inside.
struct DeviceObject {
  DeviceObject() = default;
  virtual ~DeviceObject() = default;
  DeviceObject(const DeviceObject&) = delete;
  DeviceObject& operator=(const DeviceObject&) = delete;
};
struct QueueObject : DeviceObject {};
struct MemoryObject : DeviceObject {};
struct SamplerObject : DeviceObject {};
struct ProgramObject : DeviceObject {};
struct KernelObject : DeviceObject {};
using QueueHandle = std::shared_ptr<QueueObject>;
using MemoryHandle = std::shared_ptr<MemoryObject>;
using SamplerHandle = std::shared_ptr<SamplerObject>;
using ProgramHandle = std::shared_ptr<ProgramObject>;
using KernelHandle = std::shared_ptr<KernelObject>;

// A submitted command's event. Not shared, because there is one per command: the receiver gives it back with
// `Submission::release`.
struct EventObject;
using EventHandle = EventObject*;

// A new object, or the status that says why there is none.
template <typename Handle>
struct Made {
  Status status = status::kSuccess;
  Handle object;
};

using Size3 = std::array<std::size_t, 3>;

// Values that a client sent and that code above the boundary passes on: the property that a query asks for, the access
// flags of a memory object, the type of an image. Their numbers are those of the protocol, which are OpenCL's; of these
// the daemon itself reads only the ones that the size of an image depends on. The answer to a query is the bytes that
// the client's call returns; a backend answers status::kInvalidValue where it does not know the property.
using PropertyName = std::uint32_t;
using MemoryFlags = std::uint64_t;
using ImageType = std::uint32_t;

// The differences between devices that change the behaviour of the daemon.
struct Capabilities {
  // Buffers live in host memory, so that a client may map the same pages.
  bool buffers_in_host_memory = false;
  // The driver calls back when a command has completed; otherwise a thread polls events.
  bool completion_callbacks = false;
  // Start and end times of commands cost nothing, so that they are always recorded.
  bool free_timestamps = false;
  // Events and flushes cost a large part of a short launch, so that consecutive launches share them.
  bool costly_events = false;
  // Every worker is a launch of its own, and its compute unit counts as free when that launch has completed. For
  // few compute units with long groups: the policy then chooses the next kernel as late as possible.
  bool single_worker_batches = false;
  // The device queues groups that do not fit on it, so that a kernel's share may be submitted at once.
  bool queues_excess_groups = false;
  // Copies and fills run on a compute unit, as groups do.
  bool transfers_occupy_compute_units = false;
  // Large transfers from memory that the driver does not know are fastest when the caller waits for them.
  bool prefers_blocking_transfers = false;
  // Releasing memory waits for all running kernels, and blocks other calls meanwhile.
  bool release_waits_for_kernels = false;
  // Output of printf reaches the process's standard output only when the queue is finished.
  bool printf_needs_finish = false;
  // Kernels report their parameters without being built for it (-cl-kernel-arg-info).
  bool always_argument_info = false;
  // Programs are compiled in a process of their own, so that none has to be tried in a sandbox first.
  bool compiles_in_own_process = false;
  // The build log names each kernel's registers.
  bool reports_registers = false;
  // A kernel is compiled at its first launch with each group size; the driver caches compiled kernels on disk.
  bool compiles_at_launch = false;
  // Launches run by `LaunchSharing`: stream priorities, and limits on groups per compute unit.
  bool shares_launches = false;
  // Kernels with loops have gates.
  bool gates = false;
  // The compiler makes workers of kernels by itself (KernelInfo), with a limit for every compute unit
  // (worker_tables.h).
  bool limits_workers_by_unit = false;
};

// Nanoseconds on the device's clock. `queued` is 0 where it was not asked for.
struct DeviceTimes {
  std::uint64_t queued = 0, started = 0, ended = 0;
};

// One argument of a launch. The object or the bytes live until the call returns.
struct KernelArgument {
  ArgumentKind kind{};
  std::size_t size = 0;
  const void* bytes = nullptr;
  const MemoryObject* memory = nullptr;
  const SamplerObject* sampler = nullptr;
};

// How a launch shares the device with other clients' launches, as far as the device's capabilities go.
struct LaunchSharing {
  int priority = 0;                                  // larger numbers run first
  std::optional<int> order_priority = std::nullopt;  // in place of it, where the policy has an order of kernels
  std::uint32_t max_groups_per_unit = 0;             // groups of the launch on a compute unit; 0: no limit
  double unit_share = 1;                             // the part of a compute unit that the launch may take by itself
  // Shared memory that each group occupies at least, so that others have their part of a compute unit; 0: what it uses.
  std::uint32_t min_group_bytes = 0;
  bool yields = false;  // its groups pause while a launch that `holds_gates` runs
  bool holds_gates = false;
};

class LaunchCounters;

// A launch that runs as workers with a limit for every compute unit. The range of the launch is the original's.
struct WorkerLaunch {
  const MemoryObject* table = nullptr;
  const LaunchCounters* counters = nullptr;
  std::uint32_t workers = 0;
  std::uint32_t chunk = 1;                 // groups that a worker takes at a time
  bool beside_queue = false;               // more workers of a launch, on another queue than it
  const LaunchCounters* before = nullptr;  // the launch before it on the queue, where that may be on the device still
  std::uint32_t groups_before = 0;         // … and its groups: the workers leave at once if they have not all ended
};

struct KernelLaunch {
  const KernelObject* kernel = nullptr;
  std::span<const KernelArgument> arguments;
  std::uint32_t dimensions = 1;
  Size3 offset{}, global{1, 1, 1};
  std::optional<Size3> local;          // none: the device chooses
  std::span<const EventHandle> after;  // events that must complete first, besides earlier commands of the queue
  LaunchSharing sharing;
  std::optional<WorkerLaunch> workers;
};

// Transfers between host memory and a memory object. The host's bytes live until the command has completed.
struct BufferTransfer {
  bool to_device = false;
  MemoryHandle memory;
  std::size_t offset = 0;
  std::span<std::byte> bytes;
  bool blocking = false;
};
struct RectBufferTransfer {  // the host's bytes have no gaps
  bool to_device = false;
  MemoryHandle memory;
  Size3 origin{}, region{};
  std::size_t row_pitch = 0, slice_pitch = 0;
  std::span<std::byte> bytes;
};
struct ImageTransfer {  // the host's bytes have no gaps
  bool to_device = false;
  MemoryHandle image;
  Size3 origin{}, region{};
  std::span<std::byte> bytes;
};
// Copies between memory objects.
struct BufferCopy {
  MemoryHandle from, to;
  std::size_t from_offset = 0, to_offset = 0, bytes = 0;
};
struct RectBufferCopy {
  MemoryHandle from, to;
  Size3 from_origin{}, to_origin{}, region{};
  std::size_t from_row = 0, from_slice = 0, to_row = 0, to_slice = 0;
};
struct ImageCopy {
  MemoryHandle from, to;
  Size3 from_origin{}, to_origin{}, region{};
};
struct ImageToBufferCopy {
  MemoryHandle image, buffer;
  Size3 origin{}, region{};
  std::size_t buffer_offset = 0;
};
struct BufferToImageCopy {
  MemoryHandle buffer, image;
  std::size_t buffer_offset = 0;
  Size3 origin{}, region{};
};
struct BufferFill {
  MemoryHandle memory;
  std::span<const std::byte> pattern;
  std::size_t offset = 0, bytes = 0;
};
struct ImageFill {
  MemoryHandle image;
  std::span<const std::byte> colour;  // 16 bytes
  Size3 origin{}, region{};
};

// Puts work on queues. `event`, where it is not null, receives the command's event.
class Submission {
 public:
  virtual ~Submission() = default;

  virtual Status launch(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) = 0;
  // Whether the kernel accepts the argument at that index.
  virtual Status check_argument(const KernelObject& kernel, std::uint32_t index, const KernelArgument& argument) = 0;

  virtual Status submit(const QueueObject& queue, const BufferTransfer& transfer, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const RectBufferTransfer& transfer, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const ImageTransfer& transfer, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const BufferCopy& copy, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const RectBufferCopy& copy, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const ImageCopy& copy, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const ImageToBufferCopy& copy, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const BufferToImageCopy& copy, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const BufferFill& fill, EventHandle* event) = 0;
  virtual Status submit(const QueueObject& queue, const ImageFill& fill, EventHandle* event) = 0;
  // Completes when all earlier commands of the queue have completed.
  virtual Status submit_marker(const QueueObject& queue, EventHandle* event) = 0;

  // Submitted commands start even if no other follows.
  virtual void flush(const QueueObject& queue) = 0;
  virtual void finish(const QueueObject& queue) = 0;

  // --- events
  // An execution state, or the error that the command ended with: `kOutOfResources` after a fault of its kernel. An
  // event that cannot be queried has failed.
  [[nodiscard]] virtual Status state(EventHandle event) const = 0;
  [[nodiscard]] virtual DeviceTimes times(EventHandle event, bool with_queued) const = 0;
  // Calls `callback.completed` once, from a thread of the driver or before it returns; the callback lives until then.
  // Only with `completion_callbacks`.
  struct CompletionCallback {
    void (*completed)(CompletionCallback& callback, EventHandle event, Status status) = nullptr;
  };
  virtual void call_when_complete(EventHandle event, CompletionCallback& callback) = 0;
  virtual void release(EventHandle event) = 0;
};

struct BufferRequest {
  MemoryFlags flags = 0;
  std::size_t bytes = 0;
  std::span<std::byte> place;  // not empty: the buffer is stored there, in host memory
};
struct ImageRequest {
  MemoryFlags flags = 0;
  std::uint32_t channel_order = 0, channel_type = 0;
  ImageType object_type = 0;
  std::size_t width = 0, height = 0, depth = 0, array_size = 0, row_pitch = 0, slice_pitch = 0;
  MemoryHandle buffer;            // the buffer whose memory it shows; none: its own
  std::size_t buffer_extent = 0;  // bytes of that buffer; 0: `buffer` is not a buffer
  std::size_t bytes = 0;          // size of the image
};

// Creates and destroys memory objects, samplers and queues.
class Allocation {
 public:
  virtual ~Allocation() = default;

  virtual Made<QueueHandle> create_queue(bool in_order, bool timed) = 0;
  // A new object never contains data of another client.
  virtual Made<MemoryHandle> create_buffer(const BufferRequest& request) = 0;
  virtual Made<MemoryHandle> create_sub_buffer(const MemoryHandle& parent, MemoryFlags flags, std::size_t origin,
                                               std::size_t bytes) = 0;
  virtual Made<MemoryHandle> create_image(const ImageRequest& request) = 0;
  virtual Made<SamplerHandle> create_sampler(bool normalized, std::uint32_t addressing, std::uint32_t filter) = 0;
  // Pins host memory, so that the device copies from and to it directly, while the handle lives. Null: it cannot.
  virtual MemoryHandle pin(const QueueObject& queue, std::span<std::byte> bytes) = 0;
  // Overwrites the contents with zeros and waits until that is done, before another client may get the memory.
  virtual void wipe(const QueueObject& queue, const MemoryObject& memory) = 0;

  virtual Status image_info(const MemoryObject& image, PropertyName name, std::vector<std::byte>& answer) = 0;
  virtual Status image_formats(MemoryFlags flags, ImageType type, std::vector<std::byte>& answer) = 0;
  // Bytes of an element of an image; 0: the object is not an image.
  virtual std::size_t element_bytes(const MemoryObject& image) = 0;
};

struct KernelInfo {
  std::uint64_t max_items = 0;  // limit of a group, as the compiler tells clients
  // The device takes groups of up to so many items, whatever `max_items` is; 0: not known, `max_items` holds.
  std::uint64_t accepted_items = 0;
  Size3 compiled_local{};
  std::uint32_t local_bytes = 0;  // per group, without local arguments
  std::uint32_t registers = 0;    // per work-item; 0: not known
  std::vector<ParameterKind> parameters;
  // With `limits_workers_by_unit`: the kernel's workers, or why there are none.
  struct Workers {
    std::string refusal;
    std::uint32_t chunk = 1, max_chunk = 1, registers = 0, local_bytes = 0;
    std::uint64_t max_items = 0;
  };
  std::optional<Workers> workers;
};

enum class BinaryType { none, object, library, executable };

// Creates programs and kernels. Calls may take long, and several threads may call at once.
class Compilation {
 public:
  virtual ~Compilation() = default;

  virtual Made<ProgramHandle> program_from_source(std::string_view source) = 0;
  virtual Made<ProgramHandle> program_from_binary(std::string_view binary) = 0;
  virtual Status build(const ProgramObject& program, const std::string& options) = 0;
  struct Header {
    std::string name;
    ProgramHandle program;
  };
  virtual Status compile(const ProgramObject& program, const std::string& options, std::span<const Header> headers) = 0;
  // A program that failed to link may still be created; `status` is its error then.
  virtual Made<ProgramHandle> link(std::span<const ProgramHandle> inputs, const std::string& options) = 0;
  [[nodiscard]] virtual bool build_failed(const ProgramObject& program) const = 0;
  [[nodiscard]] virtual BinaryType binary_type(const ProgramObject& program) const = 0;
  virtual Status binary(const ProgramObject& program, std::string& answer) const = 0;
  [[nodiscard]] virtual std::string build_log(const ProgramObject& program) const = 0;
  // Kernel names separated by semicolons, as the device's compiler lists them; nothing where it does not.
  [[nodiscard]] virtual std::optional<std::string> kernel_names(const ProgramObject& program) const = 0;
  virtual Status program_info(const ProgramObject& program, PropertyName name,
                              std::vector<std::byte>& answer) const = 0;
  virtual Status build_info(const ProgramObject& program, PropertyName name, std::vector<std::byte>& answer) const = 0;

  virtual Made<KernelHandle> create_kernel(const ProgramObject& program, const std::string& name) = 0;
  [[nodiscard]] virtual KernelInfo properties(const KernelObject& kernel) const = 0;
  virtual Status kernel_info(const KernelObject& kernel, PropertyName name, std::vector<std::byte>& answer) const = 0;
  virtual Status argument_info(const KernelObject& kernel, std::uint32_t index, PropertyName name,
                               std::vector<std::byte>& answer) const = 0;
  virtual Status group_info(const KernelObject& kernel, PropertyName name, std::vector<std::byte>& answer) const = 0;
};

class ControlWordPool;
class CompletionFlags;
class WorkerTables;

class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  virtual Allocation& allocation() = 0;
  virtual Compilation& compilation() = 0;
  virtual Submission& submission() = 0;

  // The resources of the device, summed over all compute units.
  [[nodiscard]] virtual gpu::SmLimits limits() const = 0;
  // The resources of one compute unit, where groups are distributed over several.
  [[nodiscard]] virtual gpu::SmLimits unit_limits() const { return limits(); }
  // Compute units that groups are distributed over, where the device tells; 1: the device is one.
  [[nodiscard]] virtual std::uint32_t compute_units() const { return 1; }
  // Local memory that the device takes for itself with each group, in bytes.
  [[nodiscard]] virtual std::uint32_t reserved_local_bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;

  virtual std::unique_ptr<ControlWordPool> make_control_words() = 0;
  // Only with `limits_workers_by_unit`: programs built from now on have workers.
  virtual void make_workers() {}
  virtual std::unique_ptr<WorkerTables> make_worker_tables();
  // Null where the driver reports every completion without delay.
  virtual std::unique_ptr<CompletionFlags> make_completion_flags() = 0;

  // --- information for users and clients
  [[nodiscard]] virtual std::string platform_name() const = 0;
  [[nodiscard]] virtual std::string device_name() const = 0;
  // The compiler of clients' programs, where it is not the platform's own.
  [[nodiscard]] virtual std::string compiler_name() const { return platform_name(); }
  // Everything that a compiled program depends on: platform, device, driver and version.
  [[nodiscard]] virtual std::string driver_version() const = 0;
  virtual Status device_info(PropertyName name, std::vector<std::byte>& answer) const = 0;
  // Finds out properties of the device's compiler that no query reports. Called once, before clients connect.
  virtual void probe_compiler() = 0;
  // Whether the device still executes commands: a kernel that faults may end the context for all clients. Waits for a
  // test command.
  [[nodiscard]] virtual bool is_alive() const = 0;
  // Faults of kernels that left the device alive: their number, and those since the last call, for the log.
  [[nodiscard]] virtual std::uint64_t kernel_fault_count() const { return 0; }
  [[nodiscard]] virtual std::vector<KernelFault> take_kernel_faults() { return {}; }
};

// The device whose platform's or own name contains the text (empty: the first one found).
Result<std::unique_ptr<Backend>> open_backend(const std::string& text);

}  // namespace wm::runtime

// The messages between a client and the daemon: plain structs of fixed layout, for 64-bit processes of one machine.
//
// A message is a MessageHeader, then the struct of its Op, then the lists that this struct announces (wait lists,
// arguments, text). The daemon trusts no number in it: the reader checks sizes, and the session checks that object ids
// are the client's own and that chunks lie inside the shared memory. A client chooses the ids of its objects; no two of
// its objects have the same id.
#pragma once

#include <cstdint>
#include <type_traits>

namespace wm::runtime {

inline constexpr std::uint32_t kMagic = 0x584d4d57;  // "WMMX"
inline constexpr std::uint32_t kVersion = 9;
inline constexpr std::uint32_t kMaxMessageBytes = 256 * 1024;
// The index of an event's record in the shared area, chosen by the client.
using EventId = std::uint32_t;
inline constexpr EventId kNoEvent = ~EventId{0};

enum class Op : std::uint32_t {
  // The daemon answers these: the caller waits for a Reply.
  device_info = 1,
  image_formats,
  create_buffer,
  create_sub_buffer,
  create_image,
  image_info,
  create_sampler,
  create_queue,
  create_program,
  build_program,
  link_program,
  program_info,
  program_build_info,
  create_kernel,
  kernel_info,
  kernel_arg_info,
  kernel_group_info,
  check_argument,
  // The daemon does not answer these.
  release,
  command,
  user_event,
  set_user_event,
  host_access_done,
};
inline constexpr Op kLastOp = Op::host_access_done;
[[nodiscard]] constexpr bool answered(Op op) { return op < Op::release; }

// A piece of shared memory: of the staging area (region 0), or of a region that was requested later.
struct Chunk {
  std::uint32_t region = 0;
  std::uint32_t unused = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct MessageHeader {
  std::uint32_t size = 0;  // size of the message with its header, in bytes
  Op op{};
  Chunk reply;  // the daemon writes its answer here, beginning with a Reply
};

// `state` is a futex: 0 until the answer is complete. `size` is the size of the whole answer; as much of it as fits
// into the chunk follows.
struct Reply {
  std::uint32_t state = 0;
  std::int32_t status = 0;
  std::uint64_t size = 0;
};

enum class ObjectKind : std::uint32_t { memory, sampler, queue, program, kernel, region };

struct Query {  // device_info, image_info, program_info, program_build_info, kernel_info
  std::uint64_t object = 0;
  std::uint64_t name = 0;
};
struct KernelQuery {  // kernel_arg_info (index), kernel_group_info
  std::uint64_t kernel = 0;
  std::uint32_t index = 0;
  std::uint32_t name = 0;
};
struct ImageFormats {
  std::uint64_t flags = 0;
  std::uint64_t type = 0;
};
struct CreateBuffer {
  std::uint64_t id = 0, flags = 0, size = 0;
  std::uint32_t region = 0, unused = 0;  // the region that stores the buffer and belongs to it from then on; 0: none
};
struct CreateSubBuffer {
  std::uint64_t id = 0, parent = 0, flags = 0, origin = 0, size = 0;
};
struct CreateImage {
  std::uint64_t id = 0, flags = 0, buffer = 0;  // buffer: the memory object that stores the image, or 0
  std::uint32_t order = 0, type = 0, object_type = 0, unused = 0;
  std::uint64_t width = 0, height = 0, depth = 0, array_size = 0, row_pitch = 0, slice_pitch = 0;
};
struct CreateSampler {
  std::uint64_t id = 0;
  std::uint32_t normalized = 0, addressing = 0, filter = 0, unused = 0;
};
struct CreateQueue {
  std::uint64_t id = 0, properties = 0;
};
enum class ProgramOrigin : std::uint32_t { source, binary, built_in };
struct CreateProgram {  // `text` holds the source, the binary or the names of built-in kernels
  std::uint64_t id = 0;
  ProgramOrigin origin{};
  std::uint32_t unused = 0;
  Chunk text;
};
// `inputs` ids (u64) of header programs follow, then the options and a zero, then the name of each header and a zero.
struct BuildProgram {
  std::uint64_t program = 0;
  std::uint32_t compile_only = 0, inputs = 0;
};
struct LinkProgram {  // `inputs` program ids (u64) follow, then the options
  std::uint64_t id = 0;
  std::uint32_t inputs = 0, unused = 0;
};
struct CreateKernel {  // the name of its function follows
  std::uint64_t id = 0, program = 0;
};
struct Release {
  std::uint64_t id = 0;
  ObjectKind kind{};
  // For memory: 1 + the event to complete when no command uses the memory any more; 0: no event.
  std::uint32_t unused_event = 0;
};
struct UserEvent {  // host_access_done: the client has finished the access that a command `host_access` waited for
  EventId event = 0;
  std::int32_t status = 0;
};

// The answer to create_kernel; a ParameterKind for each parameter follows.
enum class ParameterKind : std::uint32_t { unknown, value, memory, image, sampler, local };
struct KernelProperties {
  // Groups of up to so many items are certain to be accepted. The device's driver decides on larger ones.
  std::uint64_t accepted_work_group_size = 0;
  std::uint64_t required_local_size[3] = {};
  std::uint32_t parameters = 0;
  std::uint32_t uses_printf = 0;  // 1: its program calls printf, and launches bring a chunk for the output
};

enum class ArgumentKind : std::uint32_t { value, memory, no_memory, sampler, local };
// Its bytes follow, padded to 8: a value, or the id (u64) of an object. Local memory has a size and no bytes.
struct Argument {
  ArgumentKind kind{};
  std::uint32_t size = 0;
};
struct CheckArgument {  // an Argument follows
  std::uint64_t kernel = 0;
  std::uint32_t index = 0, unused = 0;
};

enum class CommandType : std::uint32_t {
  marker,   // completes when its dependencies have completed
  barrier,  // a marker that later commands of the queue wait for
  read,
  write,
  read_rect,
  write_rect,
  read_image,
  write_image,
  copy,
  copy_rect,
  fill,
  copy_image,
  image_to_buffer,
  buffer_to_image,
  fill_image,
  launch,
  host_access  // the client accesses a buffer in shared memory; the command runs until the client sends
               // host_access_done
};
inline constexpr CommandType kLastCommandType = CommandType::host_access;

// A command of a queue: `wait_count` events (u32) follow, padded to 8, then the struct of its type.
struct CommandMessage {
  std::uint64_t queue = 0;
  CommandType type{};
  EventId event = kNoEvent;  // shows the command's progress
  std::uint32_t wait_count = 0;
  std::uint16_t dependency_failed = 0;  // 1: an event of its wait list has failed already
  std::uint16_t start_awaited = 0;      // 1: the application's call waits for its start, and returns its error
};
struct Transfer {  // read, write
  std::uint64_t memory = 0, offset = 0;
  Chunk chunk;
};
// Rectangles and images: the chunk holds their rows without gaps.
struct RectTransfer {
  std::uint64_t memory = 0, origin[3] = {}, region[3] = {}, row_pitch = 0, slice_pitch = 0;
  Chunk chunk;
};
struct Copy {  // copy; and image_to_buffer, buffer_to_image with the image's origin and region
  std::uint64_t from = 0, to = 0, from_offset = 0, to_offset = 0, size = 0, origin[3] = {}, region[3] = {};
};
struct RectCopy {  // copy_rect; copy_image without pitches
  std::uint64_t from = 0, to = 0, from_origin[3] = {}, to_origin[3] = {}, region[3] = {};
  std::uint64_t from_row = 0, from_slice = 0, to_row = 0, to_slice = 0;
};
struct Fill {  // fill: offset, size and a pattern; fill_image: origin, region and 16 bytes of colour
  std::uint64_t memory = 0, offset = 0, size = 0, origin[3] = {}, region[3] = {};
  std::uint64_t pattern_size = 0;
  std::uint8_t pattern[128] = {};
};
struct LaunchMessage {  // `arguments` of Argument follow. A local size of 0: the device chooses
  std::uint64_t kernel = 0;
  std::uint32_t dimensions = 0, arguments = 0;
  std::uint64_t offset[3] = {}, global[3] = {}, local[3] = {};
  Chunk printf_output;  // for a kernel that uses printf: receives the size of the output (u64), then the output
};

// Calls that the standard does not allow and that some drivers accept. The daemon tries each once with the device's own
// driver, and the client returns the same result: 0 where the driver accepts the call.
enum class NonstandardCall : std::uint32_t {
  large_buffer,            // larger than CL_DEVICE_MAX_MEM_ALLOC_SIZE
  host_pointer_both_ways,  // CL_MEM_USE_HOST_PTR with CL_MEM_COPY_HOST_PTR
  sub_buffer_misaligned,   // an origin that is not aligned to CL_DEVICE_MEM_BASE_ADDR_ALIGN
  sub_buffer_beyond,       // a region that ends after the end of the parent
  sub_buffer_of_sub_buffer,
  sub_buffer_two_accesses,  // CL_MEM_READ_ONLY with CL_MEM_WRITE_ONLY
  sub_buffer_two_hosts,     // CL_MEM_HOST_READ_ONLY with CL_MEM_HOST_WRITE_ONLY
  sub_buffer_unknown_flags,
  empty_read_rect,  // no bytes in a row, or no rows
  empty_write_rect,
  empty_copy_rect,
  flat_read_rect,  // no slices
  flat_write_rect,
  flat_copy_rect,
  overlapping_copy_rect,
  unaligned_fill_offset,  // not a multiple of the pattern size
  unaligned_fill_size,
  map_unknown_flags,
  user_event_unfinished,  // set to a state before CL_COMPLETE
  user_event_twice,
  user_event_of_command,       // clSetUserEventStatus on the event of a completed command
  launch_of_nothing,           // a global size of 0
  launch_without_range,        // no global size
  launch_offset_beyond,        // offset + global size exceeds size_t
  user_event_queued,           // set to CL_QUEUED
  user_event_raised,           // set to CL_COMPLETE after it has failed
  user_event_of_open_command,  // … of a command that has not completed
  wait_for_failed_user_event,
  unaligned_slice_pitch,  // not a multiple of the row pitch
  copy_rect_two_pitches,  // different pitches for source and destination in one buffer
  copy_to_same_place,
  copy_of_nothing,
  copy_over_sub_buffer,  // from a part of a buffer to that part of the buffer itself
  map_of_nothing,
  null_buffer_of_any_size,  // a null buffer argument whose size is not sizeof(cl_mem)
  null_event_in_list,
  link_of_nothing,
  context_data_without_callback,
  shown_access,       // access flags that CL_MEM_FLAGS shows for a buffer created without any: 0: none, -1:
                      // CL_MEM_READ_WRITE
  short_slice_pitch,  // shorter than its rows, for a rectangle of one slice
  empty_local_argument,
  image_of_unknown_format,
  count
};
inline constexpr std::size_t kNonstandardCalls = static_cast<std::size_t>(NonstandardCall::count);
// The device driver's result of each nonstandard call; by default the error that the standard defines.
struct NativeResults {
  std::int8_t status[48] = {-61, -30, -13, -30, -38, -30, -30, -30, -30, -30, -30, -30, -30, -30,
                            -8,  -30, -30, -30, -30, -59, -58, -63, -63, -56, -30, -59, -58, -14,
                            -30, -30, -8,  -30, -8,  -30, -51, -57, -30, -30, 0,   -30, -51, -39};
  [[nodiscard]] std::int32_t operator[](NonstandardCall c) const { return status[static_cast<std::size_t>(c)]; }
};
static_assert(kNonstandardCalls <= sizeof NativeResults::status);

// --- on the socket
// A monitor gets the status. A controller sends a second packet, a request as JSON, and gets an answer as JSON. A
// program on a simulated GPU sends its goal and then speaks the protocol of simulated/served_protocol.h. A CUDA program
// with a driver of its own sends its goal and gets a page (control_page.h).
enum class Role : std::uint32_t { client, monitor, controller, simulated, arbitrated };
struct Hello {
  std::uint32_t magic = kMagic, version = kVersion;
  Role role = Role::client;
  std::int32_t priority = 0;            // larger runs first, where the policy has priorities
  std::uint32_t share = 0;              // the client's weight, in thousandths; 0: the default of its user
  std::uint32_t goal_microseconds = 0;  // in which each launch should complete; 0: no goal of this kind
  std::uint32_t goal_part = 0;          // the part of its isolated rate, in thousandths; 0: no goal of this kind
  char name[64] = {};                   // the program's name, shown by `wm status`
};
struct Welcome {  // with the descriptor of the shared area, for a client
  std::uint32_t magic = kMagic, version = kVersion;
  std::uint32_t accepted = 0;
  std::uint32_t host_memory = 0;  // 1: the device uses the host's memory, so buffers may be stored in regions
  NativeResults native_results;
  char reason[240] = {};
};
struct RegionRequest {
  std::uint64_t size = 0;
};
struct RegionAnswer {  // with its descriptor when `region` is not 0
  std::uint32_t region = 0, unused = 0;
};

template <typename T>
concept Plain = std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>;

}  // namespace wm::runtime

// What a client and the daemon say to each other: plain structs of fixed layout, little-endian, 64-bit, one machine.
//
// A message is a Head, then the struct of its Op, then what that struct announces (wait lists, arguments, text). Every
// number in it is a claim: the reader checks sizes, the daemon checks that names are the client's own and that chunks
// lie inside what both share. Names of objects are chosen by the client; no two of its objects share one.
#pragma once

#include <cstdint>
#include <type_traits>

namespace wm::runtime {

inline constexpr std::uint32_t kMagic = 0x584d4d57;  // "WMMX"
inline constexpr std::uint32_t kVersion = 5;
inline constexpr std::uint32_t kLargestMessage = 256 * 1024;
inline constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

enum class Op : std::uint32_t {
  // Answered: the caller waits for a Reply.
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
  // Not answered.
  release,
  command,
  user_event,
  set_user_event,
  host_done,
};
inline constexpr Op kLastOp = Op::host_done;
[[nodiscard]] constexpr bool answered(Op op) { return op < Op::release; }

// A piece of the memory both share: staging area 0, or a region made later.
struct Chunk {
  std::uint32_t region = 0;
  std::uint32_t unused = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Head {
  std::uint32_t size = 0;  // of the whole message
  Op op{};
  Chunk reply;  // where an answer goes; it begins with a Reply
};

// `state` is a futex: 0 until the answer stands. `size` is that of the whole answer, of which as much as fits follows.
struct Reply {
  std::uint32_t state = 0;
  std::int32_t status = 0;
  std::uint64_t size = 0;
};

enum class Kind : std::uint32_t { memory, sampler, queue, program, kernel, region };

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
  std::uint32_t region = 0, unused = 0;  // the region it lives in, which is the buffer's from then on; 0: none
};
struct CreateSubBuffer {
  std::uint64_t id = 0, parent = 0, flags = 0, origin = 0, size = 0;
};
struct CreateImage {
  std::uint64_t id = 0, flags = 0, buffer = 0;  // buffer: the memory below it, or 0
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
enum class ProgramFrom : std::uint32_t { source, binary, built_in };
struct CreateProgram {  // `text` holds source, binary or names
  std::uint64_t id = 0;
  ProgramFrom from{};
  std::uint32_t unused = 0;
  Chunk text;
};
// Headers are programs with names: inputs × u64 follow, then the options, a zero, then each name and a zero.
struct BuildProgram {
  std::uint64_t program = 0;
  std::uint32_t compile_only = 0, inputs = 0;
};
struct LinkProgram {  // inputs × u64 follow, then the options
  std::uint64_t id = 0;
  std::uint32_t inputs = 0, unused = 0;
};
struct CreateKernel {  // its name follows
  std::uint64_t id = 0, program = 0;
};
struct Release {
  std::uint64_t id = 0;
  Kind kind{};
  std::uint32_t told = 0;  // of memory: 1 + the slot that is complete when no command uses it any more; 0: none
};
struct UserEvent {  // host_done: the bytes that a command `host` waited for have been moved
  std::uint32_t slot = 0;
  std::int32_t status = 0;
};

// The answer to create_kernel; a ParameterKind for each parameter follows.
enum class ParameterKind : std::uint32_t { unknown, value, memory, image, sampler, local };
struct KernelFacts {
  std::uint64_t most_items = 0, compiled_local[3] = {};
  std::uint32_t parameters = 0;
  std::uint32_t prints = 0;  // 1: its program calls printf, and launches bring room for what comes out
};

enum class ArgumentKind : std::uint32_t { value, memory, no_memory, sampler, local };
// Its bytes follow, padded to 8: a value, or the u64 name of an object; nothing for local memory, whose size it is.
struct Argument {
  ArgumentKind kind{};
  std::uint32_t size = 0;
};
struct CheckArgument {  // an Argument follows
  std::uint64_t kernel = 0;
  std::uint32_t index = 0, unused = 0;
};

enum class Work : std::uint32_t {
  marker,   // done when what it waits for is
  barrier,  // … and what comes later in the queue waits for it
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
  host  // the client itself touches a buffer that lives in shared memory: running until it says that it is done
};
inline constexpr Work kLastWork = Work::host;

// A command of a queue: waits × u32 slots follow, padded to 8, then the struct of its work.
struct CommandMessage {
  std::uint64_t queue = 0;
  Work work{};
  std::uint32_t slot = kNoSlot;  // where its progress shows
  std::uint32_t waits = 0;
  std::uint32_t dependency_failed = 0;  // something it waits for has failed already
};
struct Transfer {  // read, write
  std::uint64_t memory = 0, offset = 0;
  Chunk chunk;
};
// Rectangles and images: the chunk holds them without gaps.
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
struct Launch {  // `arguments` of Argument follow. A local size of 0: the device chooses
  std::uint64_t kernel = 0;
  std::uint32_t dimensions = 0, arguments = 0;
  std::uint64_t offset[3] = {}, global[3] = {}, local[3] = {};
  Chunk printed;  // of a kernel that prints: where its output goes, a u64 of its size before it
};

// Calls that the standard refuses and some drivers take. Each is asked of the device's own driver once, and its answer
// is the driver's here: 0 where it is taken.
enum class Question : std::uint32_t {
  large_buffer,              // larger than CL_DEVICE_MAX_MEM_ALLOC_SIZE
  host_pointer_both_ways,    // CL_MEM_USE_HOST_PTR with CL_MEM_COPY_HOST_PTR
  sub_buffer_misaligned,     // its origin
  sub_buffer_beyond,         // the end of its parent
  sub_buffer_of_sub_buffer,  //
  sub_buffer_two_accesses,   // CL_MEM_READ_ONLY with CL_MEM_WRITE_ONLY
  sub_buffer_two_hosts,      // CL_MEM_HOST_READ_ONLY with CL_MEM_HOST_WRITE_ONLY
  sub_buffer_unknown_flags,  //
  empty_read_rect,           // no bytes in a row, or no rows
  empty_write_rect,
  empty_copy_rect,
  flat_read_rect,  // no slices
  flat_write_rect,
  flat_copy_rect,
  overlapping_copy_rect,
  crooked_fill_offset,  // no multiple of the pattern
  crooked_fill_size,
  map_unknown_flags,
  user_event_unfinished,  // set to a state before CL_COMPLETE
  user_event_twice,
  user_event_of_command,  // an event that is not the user's
  launch_of_nothing,      // a global size of 0
  launch_without_range,   // no global size
  launch_offset_beyond,   // what a size_t holds
  user_event_queued,      // set to CL_QUEUED
  user_event_raised,      // set to CL_COMPLETE after it has failed
  user_event_of_open_command,
  wait_for_failed_user_event,
  crooked_slice_pitch,    // no multiple of the rows'
  copy_rect_two_pitches,  // within a buffer
  copy_to_same_place,
  copy_of_nothing,
  copy_over_sub_buffer,  // from a part of a buffer to that part of the buffer itself
  map_of_nothing,
  null_buffer_of_any_size,        // as an argument
  null_event_in_list,             //
  link_of_nothing,                //
  context_data_without_callback,  //
  shown_access,                   // of a buffer that was made without: 0: none, -1: CL_MEM_READ_WRITE
  count
};
inline constexpr std::size_t kQuestions = static_cast<std::size_t>(Question::count);
// As the standard has it.
struct Answers {
  std::int8_t to[48] = {-61, -30, -13, -30, -38, -30, -30, -30, -30, -30, -30, -30, -30,
                        -30, -8,  -30, -30, -30, -30, -59, -58, -63, -63, -56, -30, -59,
                        -58, -14, -30, -30, -8,  -30, -8,  -30, -51, -57, -30, -30, 0};
  [[nodiscard]] std::int32_t operator[](Question q) const { return to[static_cast<std::size_t>(q)]; }
};
static_assert(kQuestions <= sizeof Answers::to);

// --- on the socket
enum class Role : std::uint32_t { client, monitor };
struct Hello {
  std::uint32_t magic = kMagic, version = kVersion;
  Role role = Role::client;
  std::int32_t priority = 0;   // larger goes first, where the policy has priorities
  std::uint32_t share = 1000;  // its weight among others, in thousandths
  std::uint32_t unused = 0;
  char name[64] = {};  // the program, for people
};
struct Welcome {  // with the descriptor of the shared area, for a client
  std::uint32_t magic = kMagic, version = kVersion;
  std::uint32_t accepted = 0;
  std::uint32_t host_memory = 0;  // 1: the device works in the host's memory, so buffers may live in regions
  Answers answers;
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

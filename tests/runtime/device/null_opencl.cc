#include "tests/runtime/device/null_opencl.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/device/opencl_cpu.h"
#include "runtime/device/opencl_gpu.h"

namespace wm::runtime::test {
namespace {

// The type of all native objects; unused fields stay empty. A wrong handle trips the sanitizer or the check.
enum class Sort { memory = 0x3e3, sampler, queue, program, kernel, event };
struct Object {
  Sort sort{};
  std::vector<std::byte> own;
  std::byte* bytes = nullptr;
  std::size_t size = 0;
  bool image = false, workers = false;
  Object* arguments[3] = {};  // a kernel's memories
};

template <typename Handle>
Object& object(Handle handle, Sort sort) {
  auto* o = reinterpret_cast<Object*>(handle);
  if (o == nullptr || o->sort != sort) __builtin_trap();
  return *o;
}

template <typename Handle>
Handle make(Sort sort, cl_int* status) {
  if (status != nullptr) *status = CL_SUCCESS;
  return reinterpret_cast<Handle>(new Object{.sort = sort, .own = {}});
}
template <typename Handle>
Handle refuse(cl_int why, cl_int* status) {
  if (status != nullptr) *status = why;
  return nullptr;
}

template <Sort kSort, typename Handle>
cl_int release(Handle handle) {
  delete &object(handle, kSort);
  return CL_SUCCESS;
}

cl_int tell(const void* from, std::size_t size, std::size_t room, void* value, std::size_t* needed) {
  if (needed != nullptr) *needed = size;
  if (value == nullptr) return CL_SUCCESS;
  if (room < size) return CL_INVALID_VALUE;
  std::memcpy(value, from, size);
  return CL_SUCCESS;
}
template <typename T>
cl_int tell(const T& fact, std::size_t room, void* value, std::size_t* needed) {
  return tell(&fact, sizeof fact, room, value, needed);
}

// Ends at once; the daemon hears of it when it asks to.
cl_int done(cl_event* event) {
  if (event != nullptr) *event = make<cl_event>(Sort::event, nullptr);
  return CL_SUCCESS;
}

constexpr std::size_t kMostBytes = 1 << 20;
bool inside(const Object& o, std::uint64_t offset, std::uint64_t size) {
  return size != 0 && offset <= o.size && size <= o.size - offset;
}

// --- facts
template <cl_device_type kType>
cl_int device_facts(cl_device_id, cl_device_info name, std::size_t room, void* value, std::size_t* needed) {
  switch (name) {
    case CL_DEVICE_TYPE:
      return tell(kType, room, value, needed);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return tell(cl_uint{4}, room, value, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return tell(std::size_t{256}, room, value, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return tell(cl_ulong{32768}, room, value, needed);
    case CL_DEVICE_NAME:
      return tell("null", 5, room, value, needed);
    case CL_DEVICE_QUEUE_PROPERTIES:
      return tell(cl_command_queue_properties{3}, room, value, needed);
    default:
      return name % 7 == 0 ? CL_INVALID_VALUE : tell(cl_uint{1}, room, value, needed);
  }
}
cl_int platform_info(cl_platform_id, cl_platform_info, std::size_t room, void* value, std::size_t* needed) {
  return tell("null", 5, room, value, needed);
}
cl_int formats(cl_context, cl_mem_flags, cl_mem_object_type, cl_uint room, cl_image_format* to, cl_uint* count) {
  if (count != nullptr) *count = 1;
  if (to != nullptr && room != 0) to[0] = {CL_RGBA, CL_UNORM_INT8};
  return CL_SUCCESS;
}
cl_int image_info(cl_mem image, cl_image_info name, std::size_t room, void* value, std::size_t* needed) {
  if (!object(image, Sort::memory).image) return CL_INVALID_MEM_OBJECT;
  if (name != CL_IMAGE_ELEMENT_SIZE) return CL_INVALID_VALUE;
  return tell(std::size_t{4}, room, value, needed);
}
cl_int memory_info(cl_mem memory, cl_mem_info name, std::size_t room, void* value, std::size_t* needed) {
  const Object& o = object(memory, Sort::memory);
  if (name == CL_MEM_SIZE) return tell(o.size, room, value, needed);
  if (name != CL_MEM_TYPE) return CL_INVALID_VALUE;
  const cl_mem_object_type type = o.image ? CL_MEM_OBJECT_IMAGE2D : CL_MEM_OBJECT_BUFFER;
  return tell(type, room, value, needed);
}
cl_int program_info(cl_program p, cl_program_info name, std::size_t room, void* value, std::size_t* needed) {
  object(p, Sort::program);
  if (name == CL_PROGRAM_BINARY_SIZES) return tell(std::size_t{3}, room, value, needed);
  if (name != CL_PROGRAM_BINARIES) return tell(cl_uint{1}, room, value, needed);
  std::memcpy(*static_cast<unsigned char**>(value), "bin", 3);
  return CL_SUCCESS;
}
cl_int build_info(cl_program p, cl_device_id, cl_program_build_info, std::size_t room, void* value,
                  std::size_t* needed) {
  object(p, Sort::program);
  return tell("log", 4, room, value, needed);
}
cl_int kernel_info(cl_kernel k, cl_kernel_info, std::size_t room, void* value, std::size_t* needed) {
  object(k, Sort::kernel);
  return tell(cl_uint{3}, room, value, needed);
}
cl_int argument_info(cl_kernel k, cl_uint index, cl_kernel_arg_info name, std::size_t room, void* value,
                     std::size_t* needed) {
  object(k, Sort::kernel);
  if (index > 2) return CL_INVALID_ARG_INDEX;
  constexpr cl_uint kSpaces[] = {CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
                                 CL_KERNEL_ARG_ADDRESS_LOCAL};
  if (name == CL_KERNEL_ARG_ADDRESS_QUALIFIER) return tell(kSpaces[index], room, value, needed);
  return tell("uint*", 6, room, value, needed);
}
cl_int group_info(cl_kernel k, cl_device_id, cl_kernel_work_group_info name, std::size_t room, void* value,
                  std::size_t* needed) {
  object(k, Sort::kernel);
  constexpr std::size_t kNone[3] = {};
  if (name == CL_KERNEL_COMPILE_WORK_GROUP_SIZE) return tell(kNone, room, value, needed);
  return tell(name == CL_KERNEL_WORK_GROUP_SIZE ? std::size_t{256} : std::size_t{0}, room, value, needed);
}
cl_int event_info(cl_event e, cl_event_info, std::size_t room, void* value, std::size_t* needed) {
  object(e, Sort::event);
  return tell(cl_int{CL_COMPLETE}, room, value, needed);
}
cl_int event_times(cl_event e, cl_profiling_info, std::size_t room, void* value, std::size_t* needed) {
  object(e, Sort::event);
  static std::atomic<cl_ulong> clock{1000};
  return tell(cl_ulong{clock += 10}, room, value, needed);
}

// --- objects
cl_mem create_buffer(cl_context, cl_mem_flags flags, std::size_t size, void* host, cl_int* status) {
  if (size == 0 || size > kMostBytes) return refuse<cl_mem>(CL_INVALID_BUFFER_SIZE, status);
  const cl_mem made = make<cl_mem>(Sort::memory, status);
  Object& o = object(made, Sort::memory);
  const bool placed = (flags & CL_MEM_USE_HOST_PTR) != 0 && host != nullptr;
  if (!placed) o.own.resize(size);
  o.bytes = placed ? static_cast<std::byte*>(host) : o.own.data();
  o.size = size;
  if ((flags & CL_MEM_COPY_HOST_PTR) != 0 && host != nullptr) std::memcpy(o.bytes, host, size);
  return made;
}
cl_mem create_sub_buffer(cl_mem parent, cl_mem_flags, cl_buffer_create_type, const void* region, cl_int* status) {
  Object& above = object(parent, Sort::memory);
  const auto& r = *static_cast<const cl_buffer_region*>(region);
  if (!inside(above, r.origin, r.size)) return refuse<cl_mem>(CL_INVALID_VALUE, status);
  const cl_mem made = make<cl_mem>(Sort::memory, status);
  object(made, Sort::memory).bytes = above.bytes + r.origin;
  object(made, Sort::memory).size = r.size;
  return made;
}
cl_mem create_image(cl_context, cl_mem_flags, const cl_image_format*, const cl_image_desc* d, void*, cl_int* status) {
  const auto or_one = [](std::size_t n) { return n == 0 ? 1 : n; };
  const std::size_t size = 4 * d->image_width * or_one(d->image_height) * or_one(d->image_depth);
  if (d->image_width > 64 || d->image_height > 64 || d->image_depth > 64 || size == 0) {
    return refuse<cl_mem>(CL_INVALID_IMAGE_SIZE, status);
  }
  const cl_mem made = create_buffer(nullptr, 0, size, nullptr, status);
  if (made != nullptr) object(made, Sort::memory).image = true;
  return made;
}
cl_sampler create_sampler(cl_context, cl_bool, cl_addressing_mode mode, cl_filter_mode, cl_int* status) {
  return mode > 0x1140 ? refuse<cl_sampler>(CL_INVALID_VALUE, status) : make<cl_sampler>(Sort::sampler, status);
}
cl_command_queue create_queue(cl_context, cl_device_id, cl_command_queue_properties, cl_int* status) {
  return make<cl_command_queue>(Sort::queue, status);
}
cl_program with_source(cl_context, cl_uint, const char** texts, const std::size_t* lengths, cl_int* status) {
  const cl_program made = make<cl_program>(Sort::program, status);
  const std::string text = lengths != nullptr ? std::string(texts[0], lengths[0]) : std::string(texts[0]);
  object(made, Sort::program).workers = text.find("wm__") != std::string::npos;
  return made;
}
cl_program with_binary(cl_context, cl_uint, const cl_device_id*, const std::size_t* lengths,
                       const unsigned char** bytes, cl_int* loaded, cl_int* status) {
  if (lengths[0] == 0 || bytes[0][0] == 0) return refuse<cl_program>(*loaded = CL_INVALID_BINARY, status);
  return make<cl_program>(Sort::program, status);
}
cl_int build(cl_program p, cl_uint, const cl_device_id*, const char* options, void(CL_CALLBACK*)(cl_program, void*),
             void*) {
  object(p, Sort::program);
  return std::string(options).starts_with("!") ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}
cl_int compile(cl_program p, cl_uint, const cl_device_id*, const char*, cl_uint count, const cl_program* headers,
               const char** names, void(CL_CALLBACK*)(cl_program, void*), void*) {
  object(p, Sort::program);
  for (cl_uint i = 0; i < count; ++i) {
    object(headers[i], Sort::program);
    if (std::strlen(names[i]) > 100'000) __builtin_trap();
  }
  return CL_SUCCESS;
}
cl_program link(cl_context, cl_uint, const cl_device_id*, const char*, cl_uint count, const cl_program* programs,
                void(CL_CALLBACK*)(cl_program, void*), void*, cl_int* status) {
  for (cl_uint i = 0; i < count; ++i) object(programs[i], Sort::program);
  return count == 0 ? refuse<cl_program>(CL_INVALID_VALUE, status) : make<cl_program>(Sort::program, status);
}
cl_kernel create_kernel(cl_program p, const char* name, cl_int* status) {
  const bool workers = object(p, Sort::program).workers;
  if (std::string(name) != "k") return refuse<cl_kernel>(CL_INVALID_KERNEL_NAME, status);
  const cl_kernel made = make<cl_kernel>(Sort::kernel, status);
  object(made, Sort::kernel).workers = workers;
  return made;
}
cl_int set_argument(cl_kernel k, cl_uint index, std::size_t size, const void* value) {
  Object& kernel = object(k, Sort::kernel);
  const bool queue_word = kernel.workers && index == 3;
  if (index > (kernel.workers ? 5U : 2U)) return CL_INVALID_ARG_INDEX;
  if (index != 0 && !queue_word) return CL_SUCCESS;
  if (size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  cl_mem memory = nullptr;
  if (value != nullptr) std::memcpy(&memory, value, sizeof memory);
  kernel.arguments[queue_word ? 1 : 0] = memory == nullptr ? nullptr : &object(memory, Sort::memory);
  return CL_SUCCESS;
}

// --- commands
void* map_buffer(cl_command_queue, cl_mem m, cl_bool, cl_map_flags, std::size_t at, std::size_t size, cl_uint,
                 const cl_event*, cl_event*, cl_int* status) {
  const Object& o = object(m, Sort::memory);
  if (at > o.size || size > o.size - at) return *status = CL_INVALID_VALUE, nullptr;
  return *status = CL_SUCCESS, o.bytes + at;
}
cl_int read(cl_command_queue q, cl_mem m, cl_bool, std::size_t at, std::size_t size, void* to, cl_uint, const cl_event*,
            cl_event* event) {
  object(q, Sort::queue);
  const Object& o = object(m, Sort::memory);
  if (!inside(o, at, size)) return CL_INVALID_VALUE;
  std::memmove(to, o.bytes + at, size);
  return done(event);
}
cl_int write(cl_command_queue q, cl_mem m, cl_bool, std::size_t at, std::size_t size, const void* from, cl_uint,
             const cl_event*, cl_event* event) {
  object(q, Sort::queue);
  Object& o = object(m, Sort::memory);
  if (!inside(o, at, size)) return CL_INVALID_VALUE;
  std::memmove(o.bytes + at, from, size);
  return done(event);
}
std::uint64_t volume(const std::size_t* region, std::uint64_t element) {
  std::uint64_t size = element;
  for (int i = 0; i < 3; ++i) {
    if (__builtin_mul_overflow(size, std::uint64_t{region[i]}, &size)) return ~std::uint64_t{0};
  }
  return size;
}
cl_int read_rect(cl_command_queue q, cl_mem m, cl_bool, const std::size_t*, const std::size_t*,
                 const std::size_t* region, std::size_t, std::size_t, std::size_t, std::size_t, void* to, cl_uint,
                 const cl_event*, cl_event* event) {
  object(q, Sort::queue);
  const Object& o = object(m, Sort::memory);
  const std::uint64_t size = volume(region, 1);
  if (!inside(o, 0, size)) return CL_INVALID_VALUE;
  std::memmove(to, o.bytes, size);
  return done(event);
}
cl_int write_rect(cl_command_queue q, cl_mem m, cl_bool, const std::size_t*, const std::size_t*,
                  const std::size_t* region, std::size_t, std::size_t, std::size_t, std::size_t, const void* from,
                  cl_uint, const cl_event*, cl_event* event) {
  return write(q, m, 0, 0, volume(region, 1), from, 0, nullptr, event);
}
cl_int read_image(cl_command_queue q, cl_mem m, cl_bool, const std::size_t*, const std::size_t* region, std::size_t,
                  std::size_t, void* to, cl_uint, const cl_event*, cl_event* event) {
  if (!object(m, Sort::memory).image) return CL_INVALID_MEM_OBJECT;
  return read(q, m, 0, 0, volume(region, 4), to, 0, nullptr, event);
}
cl_int write_image(cl_command_queue q, cl_mem m, cl_bool, const std::size_t*, const std::size_t* region, std::size_t,
                   std::size_t, const void* from, cl_uint, const cl_event*, cl_event* event) {
  if (!object(m, Sort::memory).image) return CL_INVALID_MEM_OBJECT;
  return write(q, m, 0, 0, volume(region, 4), from, 0, nullptr, event);
}
cl_int copy(cl_command_queue q, cl_mem from, cl_mem to, std::size_t a, std::size_t b, std::size_t size, cl_uint,
            const cl_event*, cl_event* event) {
  if (!inside(object(from, Sort::memory), a, size)) return CL_INVALID_VALUE;
  return write(q, to, 0, b, size, object(from, Sort::memory).bytes + a, 0, nullptr, event);
}
cl_int copy_rect(cl_command_queue q, cl_mem from, cl_mem to, const std::size_t*, const std::size_t*,
                 const std::size_t* region, std::size_t, std::size_t, std::size_t, std::size_t, cl_uint,
                 const cl_event*, cl_event* event) {
  return copy(q, from, to, 0, 0, volume(region, 1), 0, nullptr, event);
}
cl_int copy_image(cl_command_queue q, cl_mem from, cl_mem to, const std::size_t*, const std::size_t*,
                  const std::size_t* region, cl_uint, const cl_event*, cl_event* event) {
  return copy(q, from, to, 0, 0, volume(region, 4), 0, nullptr, event);
}
cl_int image_to_buffer(cl_command_queue q, cl_mem from, cl_mem to, const std::size_t*, const std::size_t* region,
                       std::size_t at, cl_uint, const cl_event*, cl_event* event) {
  return copy(q, from, to, 0, at, volume(region, 4), 0, nullptr, event);
}
cl_int buffer_to_image(cl_command_queue q, cl_mem from, cl_mem to, std::size_t at, const std::size_t*,
                       const std::size_t* region, cl_uint, const cl_event*, cl_event* event) {
  return copy(q, from, to, at, 0, volume(region, 4), 0, nullptr, event);
}
cl_int fill(cl_command_queue q, cl_mem m, const void* pattern, std::size_t width, std::size_t at, std::size_t size,
            cl_uint, const cl_event*, cl_event* event) {
  if (width == 0 || size % width != 0) return CL_INVALID_VALUE;
  std::vector<std::byte> bytes;
  if (!inside(object(m, Sort::memory), at, size)) return CL_INVALID_VALUE;
  bytes.resize(size);
  for (std::size_t i = 0; i < size; i += width) std::memcpy(bytes.data() + i, pattern, width);
  return write(q, m, 0, at, size, bytes.data(), 0, nullptr, event);
}
cl_int fill_image(cl_command_queue q, cl_mem m, const void* colour, const std::size_t*, const std::size_t* region,
                  cl_uint, const cl_event*, cl_event* event) {
  return fill(q, m, colour, 16, 0, volume(region, 4), 0, nullptr, event);
}
cl_int launch(cl_command_queue q, cl_kernel k, cl_uint dimensions, const std::size_t*, const std::size_t*,
              const std::size_t* local, cl_uint, const cl_event*, cl_event* event) {
  object(q, Sort::queue);
  for (cl_uint i = 0; local != nullptr && i < dimensions; ++i) {
    if (local[i] == 0) __builtin_trap();  // real drivers divide by it
  }
  Object& kernel = object(k, Sort::kernel);
  if (local != nullptr && local[0] > 256) return CL_INVALID_WORK_GROUP_SIZE;
  // Workers leave when every group is taken.
  if (kernel.workers && kernel.arguments[1] != nullptr) std::memset(kernel.arguments[1]->bytes, 0x7f, 4);
  if (kernel.arguments[0] != nullptr && kernel.arguments[0]->size != 0) kernel.arguments[0]->bytes[0] ^= std::byte{1};
  return done(event);
}
cl_int marker(cl_command_queue q, cl_uint, const cl_event*, cl_event* event) {
  object(q, Sort::queue);
  return done(event);
}
cl_int when_done(cl_event e, cl_int, void(CL_CALLBACK* heard)(cl_event, cl_int, void*), void* data) {
  object(e, Sort::event);
  heard(e, CL_COMPLETE, data);
  return CL_SUCCESS;
}
cl_int wait(cl_uint count, const cl_event* events) {
  for (cl_uint i = 0; i < count; ++i) object(events[i], Sort::event);
  return CL_SUCCESS;
}
cl_int flush(cl_command_queue q) {
  object(q, Sort::queue);
  return CL_SUCCESS;
}
cl_int release_context(cl_context) { return CL_SUCCESS; }

class NullOpenCl final : public Native {
 public:
  explicit NullOpenCl(bool cpu) {
    cl.GetPlatformInfo = platform_info;
    cl.GetDeviceInfo = cpu ? device_facts<CL_DEVICE_TYPE_CPU> : device_facts<CL_DEVICE_TYPE_GPU>;
    cl.ReleaseContext = release_context;
    cl.CreateCommandQueue = create_queue;
    cl.ReleaseCommandQueue = release<Sort::queue, cl_command_queue>;
    cl.CreateBuffer = create_buffer;
    cl.CreateSubBuffer = create_sub_buffer;
    cl.CreateImage = create_image;
    cl.ReleaseMemObject = release<Sort::memory, cl_mem>;
    cl.GetSupportedImageFormats = formats;
    cl.GetMemObjectInfo = memory_info;
    cl.GetImageInfo = image_info;
    cl.CreateSampler = create_sampler;
    cl.ReleaseSampler = release<Sort::sampler, cl_sampler>;
    cl.CreateProgramWithSource = with_source;
    cl.CreateProgramWithBinary = with_binary;
    cl.ReleaseProgram = release<Sort::program, cl_program>;
    cl.BuildProgram = build;
    cl.CompileProgram = compile;
    cl.LinkProgram = link;
    cl.GetProgramInfo = program_info;
    cl.GetProgramBuildInfo = build_info;
    cl.CreateKernel = create_kernel;
    cl.ReleaseKernel = release<Sort::kernel, cl_kernel>;
    cl.SetKernelArg = set_argument;
    cl.GetKernelInfo = kernel_info;
    cl.GetKernelArgInfo = argument_info;
    cl.GetKernelWorkGroupInfo = group_info;
    cl.WaitForEvents = wait;
    cl.GetEventInfo = event_info;
    cl.ReleaseEvent = release<Sort::event, cl_event>;
    cl.GetEventProfilingInfo = event_times;
    cl.SetEventCallback = when_done;
    cl.Flush = flush;
    cl.Finish = flush;
    cl.EnqueueMapBuffer = map_buffer;
    cl.EnqueueReadBuffer = read;
    cl.EnqueueWriteBuffer = write;
    cl.EnqueueReadBufferRect = read_rect;
    cl.EnqueueWriteBufferRect = write_rect;
    cl.EnqueueCopyBuffer = copy;
    cl.EnqueueCopyBufferRect = copy_rect;
    cl.EnqueueFillBuffer = fill;
    cl.EnqueueReadImage = read_image;
    cl.EnqueueWriteImage = write_image;
    cl.EnqueueCopyImage = copy_image;
    cl.EnqueueCopyImageToBuffer = image_to_buffer;
    cl.EnqueueCopyBufferToImage = buffer_to_image;
    cl.EnqueueFillImage = fill_image;
    cl.EnqueueNDRangeKernel = launch;
    cl.EnqueueMarkerWithWaitList = marker;
  }
};

}  // namespace

std::unique_ptr<Native> null_opencl(bool cpu) { return std::make_unique<NullOpenCl>(cpu); }

std::unique_ptr<Backend> null_backend(bool cpu) {
  if (cpu) return std::make_unique<OpenClCpu>(null_opencl(true));
  return std::make_unique<OpenClGpu>(null_opencl(false));
}

}  // namespace wm::runtime::test

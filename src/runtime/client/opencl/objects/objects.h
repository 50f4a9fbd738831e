// The OpenCL objects of the client, which an application holds pointers to. The answers to most queries are stored
// here; the daemon knows an object by its id. An object retains the objects it was created from.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/client/opencl/objects/object.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/message.h"

namespace wm::runtime::client {

struct FreeDeleter {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

// The value that clSetKernelArg set last.
struct KernelArgument {
  bool set = false;
  Argument head;
  std::vector<std::byte> bytes;
};

// A kernel's parameter. The daemon checks a value of each size once.
struct Parameter {
  enum class Kind { unknown, value, memory, image, sampler, local } kind = Kind::unknown;
  std::size_t accepted_size = 0;  // the size of a value that the device has accepted; 0: none yet
};

// The format of an image and its layout in host memory.
struct ImageLayout {
  cl_image_format format{};
  cl_image_desc desc{};
  std::size_t element_size = 0;
  std::size_t row_pitch = 0, slice_pitch = 0;
};

struct MappedRegion {
  std::size_t origin[3] = {};
  std::size_t region[3] = {};
  cl_map_flags flags = 0;
};

}  // namespace wm::runtime::client

struct _cl_platform_id : wm::runtime::client::Object<1> {};

struct _cl_device_id : wm::runtime::client::Object<2> {};

struct _cl_context : wm::runtime::client::Object<3> {
  ~_cl_context();
  std::vector<cl_context_properties> properties;
  wm::runtime::client::DestructorCallbacks<cl_context> destructor_callbacks;
  std::mutex mutex;  // guards destructor_callbacks
};

struct _cl_command_queue : wm::runtime::client::Object<4> {
  ~_cl_command_queue();
  wm::runtime::client::Retained<_cl_context> context;
  std::uint64_t id = 0;
  std::atomic<cl_command_queue_properties> properties{0};
  std::vector<cl_queue_properties> property_list;  // properties given to clCreateCommandQueueWithProperties
  std::atomic<std::uint64_t> enqueued_commands{0};
  // For an in-order queue: this many commands are known to have completed.
  std::atomic<std::uint64_t> completed_commands{0};

  // If several threads enqueue commands, the counts above may be outdated for each of them.
  std::atomic<std::thread::id> first_thread{};
  std::atomic<bool> used_by_several_threads{false};
  void note_use() {
    std::thread::id first{};
    const std::thread::id self = std::this_thread::get_id();
    if (!first_thread.compare_exchange_strong(first, self) && first != self) used_by_several_threads.store(true);
  }
  [[nodiscard]] bool in_order() const { return (properties.load() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
};

struct _cl_mem : wm::runtime::client::Object<5> {
  ~_cl_mem();
  wm::runtime::client::Retained<_cl_context> context;
  std::uint64_t id = 0;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_mem_flags flags = 0;
  std::size_t size = 0;
  void* host_ptr = nullptr;                       // memory given with CL_MEM_USE_HOST_PTR
  wm::runtime::Mapping shared_mapping;            // stores the buffer, if the daemon uses it too
  wm::runtime::client::Retained<_cl_mem> parent;  // parent of a sub-buffer, or the memory object that stores an image
  std::size_t offset = 0;                         // in the parent
  std::vector<cl_mem_properties> properties;
  wm::runtime::client::ImageLayout image;
  std::mutex mutex;  // guards the fields below
  // The memory that the application maps, where there is neither a host pointer nor shared memory.
  std::unique_ptr<std::byte, wm::runtime::client::FreeDeleter> map_copy;
  std::multimap<void*, wm::runtime::client::MappedRegion> maps;
  wm::runtime::client::DestructorCallbacks<cl_mem> destructor_callbacks;

  [[nodiscard]] bool is_image() const { return type != CL_MEM_OBJECT_BUFFER; }
  // The bytes that exist: some drivers create sub-buffers that end after the end of their parents.
  [[nodiscard]] std::size_t backed_size() const {
    return parent && !is_image() ? std::min(size, parent->backed_size() - offset) : size;
  }
  // The buffer's bytes if they are in memory that this process shares with the daemon; else null.
  [[nodiscard]] std::byte* shared_bytes() const;
  // The address in this process at which byte 0 is mapped; a sub-buffer is mapped inside its parent.
  std::byte* map_base();
};

struct _cl_sampler : wm::runtime::client::Object<6> {
  ~_cl_sampler();
  wm::runtime::client::Retained<_cl_context> context;
  std::uint64_t id = 0;
  cl_bool normalized = CL_FALSE;
  cl_addressing_mode addressing = 0;
  cl_filter_mode filter = 0;
  std::vector<cl_sampler_properties> properties;
};

struct _cl_program : wm::runtime::client::Object<7> {
  ~_cl_program();
  wm::runtime::client::Retained<_cl_context> context;
  std::uint64_t id = 0;
  std::string source;
  bool from_source = false;
  std::string options;  // options of the last build
  bool linked = false;
  std::atomic<std::uint32_t> kernel_count{0};
};

struct _cl_kernel : wm::runtime::client::Object<8> {
  ~_cl_kernel();
  wm::runtime::client::Retained<_cl_program> program;
  std::uint64_t id = 0;
  std::string function;
  std::vector<wm::runtime::client::Parameter> parameters;
  std::size_t accepted_work_group_size = 0;  // larger groups may be refused by the device's driver; 0: not known
  std::size_t required_local_size[3] = {};   // reqd_work_group_size, or zeros
  bool uses_printf = false;
  std::mutex mutex;  // guards arguments
  std::vector<wm::runtime::client::KernelArgument> arguments;
};

struct _cl_event : wm::runtime::client::Object<9> {
  ~_cl_event();
  wm::runtime::client::Retained<_cl_context> context;
  wm::runtime::client::Retained<_cl_command_queue> queue;  // null for a user event
  cl_command_type type = 0;
  wm::runtime::EventId id = wm::runtime::kNoEvent;
  std::atomic<bool> user_status_set{false};
};

// Creating command queues and querying them; clFlush and clFinish.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"
#include "runtime/client/opencl/transfers/command.h"

_cl_command_queue::~_cl_command_queue() { wm::runtime::client::post_release(wm::runtime::ObjectKind::queue, id); }

namespace wm::runtime::client {
namespace {

constexpr cl_command_queue_properties kHostProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

cl_command_queue make_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                            cl_int& status) {
  using Queue = _cl_command_queue;
  if (!valid(context)) return refuse<Queue>(status, CL_INVALID_CONTEXT);
  if (!valid(device)) return refuse<Queue>(status, CL_INVALID_DEVICE);
  if ((properties & ~(kHostProperties | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)) != 0) {
    return refuse<Queue>(status, CL_INVALID_VALUE);
  }
  const auto able = process().device_value<cl_command_queue_properties>(CL_DEVICE_QUEUE_PROPERTIES);
  if ((properties & ~able) != 0) return refuse<Queue>(status, CL_INVALID_QUEUE_PROPERTIES);
  auto queue = std::make_unique<Queue>();
  queue->context = Retained<_cl_context>(context);
  queue->properties = properties;
  queue->id = connection().new_object_id();
  Writer message(Op::create_queue);
  message.put(CreateQueue{queue->id, properties});
  status = connection().call(message);
  return status == CL_SUCCESS ? queue.release() : nullptr;
}

}  // namespace

cl_command_queue create_command_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) { return make_queue(context, device, properties, status); });
}

cl_command_queue create_command_queue_with_properties(cl_context context, cl_device_id device,
                                                      const cl_queue_properties* properties, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_command_queue {
    cl_command_queue_properties wanted = 0;
    std::vector<cl_queue_properties> given;
    for (const cl_queue_properties* p = properties; p != nullptr && *p != 0; p += 2) {
      if (*p == CL_QUEUE_PROPERTIES) {
        wanted = p[1];
      } else {  // properties of device queues, which are not supported, and of extensions
        return refuse<_cl_command_queue>(status, *p == CL_QUEUE_SIZE ? CL_INVALID_QUEUE_PROPERTIES : CL_INVALID_VALUE);
      }
      given.insert(given.end(), {p[0], p[1]});
    }
    if (properties != nullptr) given.push_back(0);
    cl_command_queue queue = make_queue(context, device, wanted, status);
    if (queue != nullptr) queue->property_list = std::move(given);
    return queue;
  });
}

cl_int retain_command_queue(cl_command_queue queue) { return retain_checked(queue, CL_INVALID_COMMAND_QUEUE); }
cl_int release_command_queue(cl_command_queue queue) {
  return guarded([&] { return release_checked(queue, CL_INVALID_COMMAND_QUEUE); });
}

cl_int get_command_queue_info(cl_command_queue queue, cl_command_queue_info name, std::size_t size, void* value,
                              std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_QUEUE_CONTEXT:
        return info.put(queue->context.get());
      case CL_QUEUE_DEVICE:
        return info.put(process().device());
      case CL_QUEUE_REFERENCE_COUNT:
        return info.put(cl_uint{queue->references.load()});
      case CL_QUEUE_PROPERTIES:
        return info.put(queue->properties.load());
      case CL_QUEUE_PROPERTIES_ARRAY:
        return info.put_list(queue->property_list);
      case CL_QUEUE_DEVICE_DEFAULT:
        return info.put(cl_command_queue{nullptr});
      case CL_QUEUE_SIZE:
        return CL_INVALID_COMMAND_QUEUE;  // exists only for a device queue
      default:
        return CL_INVALID_VALUE;
    }
  });
}

// Deprecated since OpenCL 1.1, which allows an error here; the order of a queue is fixed when it is created.
cl_int set_command_queue_property(cl_command_queue queue, cl_command_queue_properties, cl_bool,
                                  cl_command_queue_properties*) {
  return valid(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

// The daemon reads commands as soon as they are enqueued, so there is nothing to flush.
cl_int flush(cl_command_queue queue) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    return connection().lost() ? kDaemonLost : CL_SUCCESS;
  });
}

cl_int finish(cl_command_queue queue) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    const EventId event = connection().allocate_event(CL_QUEUED);
    if (event == kNoEvent) return CL_OUT_OF_HOST_MEMORY;
    const std::uint64_t before = queue->enqueued_commands.load(std::memory_order_acquire);
    Writer message = begin_command(CommandType::marker, queue, event, kNoWaitList);
    const bool sent = connection().post(message);
    const std::int32_t state = sent ? connection().wait(event) : kDaemonLost;
    if (state == kDaemonLost && connection().lost()) return kDaemonLost;
    if (state >= 0) note_completed(queue, before + 1);  // else the daemon refuses later commands
    connection().release_event(event);
    return state < 0 ? CL_OUT_OF_RESOURCES : CL_SUCCESS;  // a kernel on this queue has faulted
  });
}

}  // namespace wm::runtime::client

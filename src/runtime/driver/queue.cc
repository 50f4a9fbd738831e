// Command queues.
#include "runtime/driver/api.h"

_cl_command_queue::~_cl_command_queue() {
  wm::runtime::Writer message(wm::runtime::Op::release);
  message.put(wm::runtime::Release{name, wm::runtime::Kind::queue, 0});
  wm::runtime::driver::link().post(message);
}

namespace wm::runtime::driver {
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
  const auto able = process().device_fact<cl_command_queue_properties>(CL_DEVICE_QUEUE_PROPERTIES);
  if ((properties & ~able) != 0) return refuse<Queue>(status, CL_INVALID_QUEUE_PROPERTIES);
  auto queue = std::make_unique<Queue>();
  queue->context = Held<_cl_context>(context);
  queue->properties = properties;
  queue->name = link().new_name();
  Writer message(Op::create_queue);
  message.put(CreateQueue{queue->name, properties});
  status = link().call(message);
  return status == CL_SUCCESS ? queue.release() : nullptr;
}

}  // namespace

cl_command_queue create_command_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* out) {
  return making(out, [&](cl_int& status) { return make_queue(context, device, properties, status); });
}

cl_command_queue create_command_queue_with_properties(cl_context context, cl_device_id device,
                                                      const cl_queue_properties* properties, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_command_queue {
    cl_command_queue_properties wanted = 0;
    std::vector<cl_queue_properties> given;
    for (const cl_queue_properties* p = properties; p != nullptr && *p != 0; p += 2) {
      if (*p == CL_QUEUE_PROPERTIES) {
        wanted = p[1];
      } else {  // sizes of queues on the device, which there are none of, and extensions
        return refuse<_cl_command_queue>(status, *p == CL_QUEUE_SIZE ? CL_INVALID_QUEUE_PROPERTIES : CL_INVALID_VALUE);
      }
      given.insert(given.end(), {p[0], p[1]});
    }
    if (properties != nullptr) given.push_back(0);
    cl_command_queue queue = make_queue(context, device, wanted, status);
    if (queue != nullptr) queue->given = std::move(given);
    return queue;
  });
}

cl_int retain_command_queue(cl_command_queue queue) { return retain_checked(queue, CL_INVALID_COMMAND_QUEUE); }
cl_int release_command_queue(cl_command_queue queue) {
  return guarded([&] { return release_checked(queue, CL_INVALID_COMMAND_QUEUE); });
}

cl_int get_command_queue_info(cl_command_queue queue, cl_command_queue_info name, std::size_t room, void* value,
                              std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    const Info info{room, value, needed};
    switch (name) {
      case CL_QUEUE_CONTEXT:
        return info.is(queue->context.get());
      case CL_QUEUE_DEVICE:
        return info.is(process().device());
      case CL_QUEUE_REFERENCE_COUNT:
        return info.is(cl_uint{queue->references.load()});
      case CL_QUEUE_PROPERTIES:
        return info.is(queue->properties.load());
      case CL_QUEUE_PROPERTIES_ARRAY:
        return info.list(queue->given);
      case CL_QUEUE_DEVICE_DEFAULT:
        return info.is(cl_command_queue{nullptr});
      case CL_QUEUE_SIZE:
        return CL_INVALID_COMMAND_QUEUE;  // of a queue on the device
      default:
        return CL_INVALID_VALUE;
    }
  });
}

// Deprecated since OpenCL 1.1, where it may refuse; the order of a queue is fixed when it is made.
cl_int set_command_queue_property(cl_command_queue queue, cl_command_queue_properties, cl_bool,
                                  cl_command_queue_properties*) {
  return valid(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

// The daemon takes commands as they come.
cl_int flush(cl_command_queue queue) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    return link().lost() ? kGone : CL_SUCCESS;
  });
}

cl_int finish(cl_command_queue queue) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    const std::uint32_t slot = link().take_slot(CL_QUEUED);
    if (slot == kNoSlot) return CL_OUT_OF_HOST_MEMORY;
    const std::uint64_t before = queue->posted.load(std::memory_order_acquire);
    Writer message = begin(Work::marker, queue, slot, {0, nullptr, nullptr});
    const bool sent = link().post(message);
    const std::int32_t ended = sent ? link().wait(slot) : kGone;
    if (ended == kGone && link().lost()) return kGone;
    note_ended(queue, before + 1);
    link().give_slot(slot);
    return CL_SUCCESS;
  });
}

}  // namespace wm::runtime::driver

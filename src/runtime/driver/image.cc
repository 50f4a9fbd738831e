// Images: making them and asking about them.
#include "runtime/driver/image.h"

#include <algorithm>

#include "runtime/driver/memory.h"

namespace wm::runtime::driver {
namespace {

std::size_t or_one(std::size_t n) { return std::max<std::size_t>(n, 1); }

// Its size in each dimension that origins and regions have.
void extents(cl_mem image, std::size_t* whole) {
  const cl_image_desc& d = image->image;
  whole[0] = d.image_width;
  whole[1] = whole[2] = 1;
  switch (image->type) {
    case CL_MEM_OBJECT_IMAGE2D:
      whole[1] = d.image_height;
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      whole[1] = d.image_height, whole[2] = d.image_depth;
      break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      whole[1] = d.image_array_size;
      break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      whole[1] = d.image_height, whole[2] = d.image_array_size;
      break;
    default:
      break;
  }
}

// Pitches in host memory: those given with a host pointer, or without gaps.
void set_pitches(cl_mem image) {
  const cl_image_desc& d = image->image;
  std::size_t whole[3];
  extents(image, whole);
  image->row = d.image_row_pitch != 0 ? d.image_row_pitch : d.image_width * image->element;
  const bool layers_of_rows = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  image->slice = d.image_slice_pitch != 0 ? d.image_slice_pitch : image->row * (layers_of_rows ? 1 : whole[1]);
  image->size = has_slices(image) ? image->slice * (layers_of_rows ? whole[1] : whole[2]) : image->row * whole[1];
}

// Whether rows and slices have room in their pitches.
bool pitches_hold(cl_mem image) {
  const cl_image_desc& d = image->image;
  if (image->row < d.image_width * image->element || image->row % image->element != 0) return false;
  if (!has_slices(image)) return true;
  std::size_t whole[3];
  extents(image, whole);
  const std::size_t least = image->row * (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : whole[1]);
  return image->slice >= least && image->slice % image->row == 0;
}

cl_int ask_element(cl_mem image) {
  Writer message(Op::image_info);
  message.put(Query{image->name, CL_IMAGE_ELEMENT_SIZE});
  std::vector<std::byte> answer;
  const cl_int status = link().call(message, &answer);
  if (status != CL_SUCCESS) return status;
  if (answer.size() != sizeof image->element) return CL_OUT_OF_RESOURCES;
  std::memcpy(&image->element, answer.data(), sizeof image->element);
  return CL_SUCCESS;
}

cl_int fill_image(cl_mem image, void* host) {
  const std::size_t origin[3] = {0, 0, 0};
  std::size_t whole[3];
  extents(image, whole);
  return move_rect(
      {process().own_queue(), image, CL_COMMAND_WRITE_IMAGE, true}, Work::write_image, image_box(origin, whole),
      host_box(image, static_cast<std::byte*>(host), whole, image->row, image->slice), {0, nullptr, nullptr});
}

cl_mem make_image(cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* desc,
                  void* host, cl_int& status) {
  if (!valid(context)) return refuse<_cl_mem>(status, CL_INVALID_CONTEXT);
  if (process().device_fact<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == 0)
    return refuse<_cl_mem>(status, CL_INVALID_OPERATION);
  status = check_memory_flags(flags, CL_MEM_KERNEL_READ_AND_WRITE);
  if (status != CL_SUCCESS) return nullptr;
  if (format == nullptr) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  if (desc == nullptr) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
  // Neither is offered.
  if (desc->num_mip_levels != 0 || desc->num_samples != 0) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
  cl_mem below = desc->mem_object;
  if (below != nullptr && !valid(below)) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
  if (below == nullptr) status = check_host_pointer(flags, host);
  if (status != CL_SUCCESS) return nullptr;
  constexpr cl_mem_flags kAny = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
  if (below != nullptr && (flags & kAny) == 0) flags |= below->flags & kAny;
  if (below != nullptr) {  // whose host memory, if any, it shares
    constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    flags = (flags & ~kHostPointer) | (below->flags & kHostPointer);
    host = nullptr;
  }
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  auto image = std::make_unique<_cl_mem>();
  image->context = Held<_cl_context>(context);
  image->type = desc->image_type;
  image->flags = flags;
  image->format = *format;
  image->image = *desc;
  image->parent = Held<_cl_mem>(below);
  if (below == nullptr && (flags & CL_MEM_USE_HOST_PTR) != 0) image->host = host;
  if (below != nullptr && !below->is_image()) image->host = below->host;
  image->name = link().new_name();
  CreateImage create;
  create.id = image->name;
  create.flags = device_flags(flags);
  create.buffer = below != nullptr ? below->name : 0;
  create.order = format->image_channel_order;
  create.type = format->image_channel_data_type;
  create.object_type = desc->image_type;
  create.width = desc->image_width;
  create.height = desc->image_height;
  create.depth = desc->image_depth;
  create.array_size = desc->image_array_size;
  if (below != nullptr || host == nullptr) {  // those of host memory stay here
    create.row_pitch = desc->image_row_pitch;
    create.slice_pitch = desc->image_slice_pitch;
  }
  Writer message(Op::create_image);
  message.put(create);
  status = link().call(message);
  if (status == CL_SUCCESS) status = ask_element(image.get());
  if (status != CL_SUCCESS) return nullptr;
  set_pitches(image.get());
  if (!pitches_hold(image.get())) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
  if (host != nullptr) status = fill_image(image.get(), host);
  if (status != CL_SUCCESS) return nullptr;
  process().add_memory(image.get());
  return image.release();
}

}  // namespace

bool has_slices(cl_mem image) {
  return image->type == CL_MEM_OBJECT_IMAGE3D || image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
         image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

cl_int check_image(cl_command_queue queue, cl_mem image, const std::size_t* origin, const std::size_t* region,
                   const Waits& waits) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(image) || !image->is_image()) return CL_INVALID_MEM_OBJECT;
  if (image->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  if (const cl_int bad = check(waits, queue->context.get()); bad != CL_SUCCESS) return bad;
  if (origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
  std::size_t whole[3];
  extents(image, whole);
  for (int i = 0; i < 3; ++i) {
    if (region[i] == 0 || !inside(origin[i], region[i], whole[i])) return CL_INVALID_VALUE;
  }
  return CL_SUCCESS;
}

RectTransfer image_box(const std::size_t* origin, const std::size_t* region) {
  RectTransfer box;
  std::copy_n(origin, 3, box.origin);
  std::copy_n(region, 3, box.region);
  return box;
}

HostRect host_box(cl_mem image, std::byte* at, const std::size_t* region, std::size_t row, std::size_t slice) {
  const std::size_t width = region[0] * image->element;
  if (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {at, row, slice, width, 1, region[1]};
  return {at, row, slice, width, region[1], region[2]};
}

cl_mem create_image(cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* desc,
                    void* host, cl_int* out) {
  return making(out, [&](cl_int& status) { return make_image(context, flags, format, desc, host, status); });
}

cl_mem create_image_with_properties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                    const cl_image_format* format, const cl_image_desc* desc, void* host, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_mem {
    if (properties != nullptr && *properties != 0) return refuse<_cl_mem>(status, CL_INVALID_PROPERTY);
    cl_mem image = make_image(context, flags, format, desc, host, status);
    if (image != nullptr && properties != nullptr) image->properties = {0};
    return image;
  });
}

cl_mem create_image_2d(cl_context context, cl_mem_flags flags, const cl_image_format* format, std::size_t width,
                       std::size_t height, std::size_t row_pitch, void* host, cl_int* out) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_row_pitch = row_pitch;
  return create_image(context, flags, format, &desc, host, out);
}

cl_mem create_image_3d(cl_context context, cl_mem_flags flags, const cl_image_format* format, std::size_t width,
                       std::size_t height, std::size_t depth, std::size_t row_pitch, std::size_t slice_pitch,
                       void* host, cl_int* out) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE3D;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_depth = depth;
  desc.image_row_pitch = row_pitch;
  desc.image_slice_pitch = slice_pitch;
  return create_image(context, flags, format, &desc, host, out);
}

cl_int get_supported_image_formats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint entries,
                                   cl_image_format* formats, cl_uint* count) {
  return guarded([&]() -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    if (entries == 0 && formats != nullptr) return CL_INVALID_VALUE;
    Writer message(Op::image_formats);
    message.put(ImageFormats{flags, type});
    std::vector<std::byte> answer;
    const cl_int status = link().call(message, &answer);
    if (status != CL_SUCCESS) return status;
    const auto all = static_cast<cl_uint>(answer.size() / sizeof(cl_image_format));
    if (count != nullptr) *count = all;
    if (formats != nullptr) std::memcpy(formats, answer.data(), std::min(entries, all) * sizeof(cl_image_format));
    return CL_SUCCESS;
  });
}

cl_int get_image_info(cl_mem image, cl_image_info name, std::size_t room, void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(image) || !image->is_image()) return CL_INVALID_MEM_OBJECT;
    const Info info{room, value, needed};
    std::size_t whole[3];
    extents(image, whole);
    const bool flat = image->type == CL_MEM_OBJECT_IMAGE1D || image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER ||
                      image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const bool array = has_slices(image) && image->type != CL_MEM_OBJECT_IMAGE3D;
    switch (name) {
      case CL_IMAGE_FORMAT:
        return info.is(image->format);
      case CL_IMAGE_ELEMENT_SIZE:
        return info.is(image->element);
      case CL_IMAGE_ROW_PITCH:
        return info.is(image->row);
      case CL_IMAGE_SLICE_PITCH:
        return info.is(has_slices(image) ? image->slice : std::size_t{0});
      case CL_IMAGE_WIDTH:
        return info.is(image->image.image_width);
      case CL_IMAGE_HEIGHT:
        return info.is(flat ? std::size_t{0} : whole[1]);
      case CL_IMAGE_DEPTH:
        return info.is(image->type == CL_MEM_OBJECT_IMAGE3D ? whole[2] : std::size_t{0});
      case CL_IMAGE_ARRAY_SIZE:
        return info.is(array ? or_one(image->image.image_array_size) : std::size_t{0});
      case CL_IMAGE_BUFFER:
        return info.is(image->parent.get());
      case CL_IMAGE_NUM_MIP_LEVELS:
        return info.is(cl_uint{image->image.num_mip_levels});
      case CL_IMAGE_NUM_SAMPLES:
        return info.is(cl_uint{image->image.num_samples});
      default:
        return CL_INVALID_VALUE;
    }
  });
}

}  // namespace wm::runtime::driver

// Creating images and querying them.
#include "runtime/client/opencl/api/image.h"

#include <algorithm>

namespace wm::runtime::client {
namespace {

std::size_t at_least_one(std::size_t n) { return std::max<std::size_t>(n, 1); }

// The size in each dimension of an origin or a region.
void get_extent(cl_mem image, std::size_t* extent) {
  const cl_image_desc& d = image->image.desc;
  extent[0] = d.image_width;
  extent[1] = extent[2] = 1;
  switch (image->type) {
    case CL_MEM_OBJECT_IMAGE2D:
      extent[1] = d.image_height;
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      extent[1] = d.image_height, extent[2] = d.image_depth;
      break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      extent[1] = d.image_array_size;
      break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      extent[1] = d.image_height, extent[2] = d.image_array_size;
      break;
    default:
      break;
  }
}

// Sets the pitches in host memory: those that the application gave with a host pointer, else without gaps.
void set_pitches(cl_mem image) {
  const cl_image_desc& d = image->image.desc;
  std::size_t extent[3];
  get_extent(image, extent);
  image->image.row_pitch = d.image_row_pitch != 0 ? d.image_row_pitch : d.image_width * image->image.element_size;
  const bool is_1d_array = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  image->image.slice_pitch =
      d.image_slice_pitch != 0 ? d.image_slice_pitch : image->image.row_pitch * (is_1d_array ? 1 : extent[1]);
  image->size = has_slices(image) ? image->image.slice_pitch * (is_1d_array ? extent[1] : extent[2])
                                  : image->image.row_pitch * extent[1];
}

// Whether the pitches are large enough for rows and slices.
bool pitches_valid(cl_mem image) {
  const cl_image_desc& d = image->image.desc;
  if (image->image.row_pitch < d.image_width * image->image.element_size ||
      image->image.row_pitch % image->image.element_size != 0)
    return false;
  if (!has_slices(image)) return true;
  std::size_t extent[3];
  get_extent(image, extent);
  const std::size_t min_slice = image->image.row_pitch * (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : extent[1]);
  return image->image.slice_pitch >= min_slice && image->image.slice_pitch % image->image.row_pitch == 0;
}

cl_int query_element_size(cl_mem image) {
  Writer message(Op::image_info);
  message.put(Query{image->id, CL_IMAGE_ELEMENT_SIZE});
  std::vector<std::byte> answer;
  const cl_int status = connection().call(message, &answer);
  if (status != CL_SUCCESS) return status;
  if (answer.size() != sizeof image->image.element_size) return CL_OUT_OF_RESOURCES;
  std::memcpy(&image->image.element_size, answer.data(), sizeof image->image.element_size);
  return CL_SUCCESS;
}

cl_int fill_image(cl_mem image, void* host) {
  const std::size_t origin[3] = {0, 0, 0};
  std::size_t extent[3];
  get_extent(image, extent);
  return transfer_box(
      {process().internal_queue(), image, CL_COMMAND_WRITE_IMAGE, true}, CommandType::write_image,
      image_box(origin, extent),
      host_box(image, static_cast<std::byte*>(host), extent, image->image.row_pitch, image->image.slice_pitch),
      kNoWaitList);
}

cl_mem make_image(cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* desc,
                  void* host, cl_int& status) {
  if (!valid(context)) return refuse<_cl_mem>(status, CL_INVALID_CONTEXT);
  if (process().device_value<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == 0)
    return refuse<_cl_mem>(status, CL_INVALID_OPERATION);
  status = check_memory_flags(flags, CL_MEM_KERNEL_READ_AND_WRITE);
  if (status != CL_SUCCESS) return nullptr;
  if (format == nullptr) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  if (desc == nullptr) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
  // Neither mip levels nor multisampling are supported.
  if (desc->num_mip_levels != 0 || desc->num_samples != 0) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
  cl_mem storage = desc->mem_object;
  if (storage != nullptr && !valid(storage)) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
  if (storage == nullptr) status = check_host_pointer(flags, host);
  if (status != CL_SUCCESS) return nullptr;
  constexpr cl_mem_flags kAny = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
  if (storage != nullptr && (flags & kAny) == 0) flags |= storage->flags & kAny;
  if (storage != nullptr) {  // the image shares the host memory of its storage
    constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    flags = (flags & ~kHostPointer) | (storage->flags & kHostPointer);
    host = nullptr;
  }
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  auto image = std::make_unique<_cl_mem>();
  image->context = Retained<_cl_context>(context);
  image->type = desc->image_type;
  image->flags = flags;
  image->image.format = *format;
  image->image.desc = *desc;
  image->parent = Retained<_cl_mem>(storage);
  if (storage == nullptr && (flags & CL_MEM_USE_HOST_PTR) != 0) image->host_ptr = host;
  if (storage != nullptr && !storage->is_image()) image->host_ptr = storage->host_ptr;
  image->id = connection().new_object_id();
  CreateImage create;
  create.id = image->id;
  create.flags = device_flags(flags);
  create.buffer = storage != nullptr ? storage->id : 0;
  create.order = format->image_channel_order;
  create.type = format->image_channel_data_type;
  create.object_type = desc->image_type;
  create.width = desc->image_width;
  create.height = desc->image_height;
  create.depth = desc->image_depth;
  create.array_size = desc->image_array_size;
  if (storage != nullptr || host == nullptr) {  // pitches of host memory concern only the client
    create.row_pitch = desc->image_row_pitch;
    create.slice_pitch = desc->image_slice_pitch;
  }
  Writer message(Op::create_image);
  message.put(create);
  status = connection().call(message);
  if (status == CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) {
    status = connection().native_result(NonstandardCall::image_of_unknown_format);
  }
  if (status == CL_SUCCESS) status = query_element_size(image.get());
  if (status != CL_SUCCESS) return nullptr;
  set_pitches(image.get());
  if (!pitches_valid(image.get())) return refuse<_cl_mem>(status, CL_INVALID_IMAGE_DESCRIPTOR);
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
                   const WaitList& wait_list) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(image) || !image->is_image()) return CL_INVALID_MEM_OBJECT;
  if (image->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  if (const cl_int error = check_wait_list(wait_list, queue->context.get()); error != CL_SUCCESS) return error;
  if (origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
  std::size_t extent[3];
  get_extent(image, extent);
  for (int i = 0; i < 3; ++i) {
    if (region[i] == 0 || !fits(origin[i], region[i], extent[i])) return CL_INVALID_VALUE;
  }
  return CL_SUCCESS;
}

RectTransfer image_box(const std::size_t* origin, const std::size_t* region) {
  RectTransfer box;
  std::copy_n(origin, 3, box.origin);
  std::copy_n(region, 3, box.region);
  return box;
}

HostBox host_box(cl_mem image, std::byte* start, const std::size_t* region, std::size_t row_pitch,
                 std::size_t slice_pitch) {
  const std::size_t width = region[0] * image->image.element_size;
  if (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {start, row_pitch, slice_pitch, width, 1, region[1]};
  return {start, row_pitch, slice_pitch, width, region[1], region[2]};
}

cl_mem create_image(cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* desc,
                    void* host, cl_int* status_out) {
  return guarded_create(status_out,
                        [&](cl_int& status) { return make_image(context, flags, format, desc, host, status); });
}

cl_mem create_image_with_properties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                    const cl_image_format* format, const cl_image_desc* desc, void* host,
                                    cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_mem {
    if (properties != nullptr && *properties != 0) return refuse<_cl_mem>(status, CL_INVALID_PROPERTY);
    cl_mem image = make_image(context, flags, format, desc, host, status);
    if (image != nullptr && properties != nullptr) image->properties = {0};
    return image;
  });
}

cl_mem create_image_2d(cl_context context, cl_mem_flags flags, const cl_image_format* format, std::size_t width,
                       std::size_t height, std::size_t row_pitch, void* host, cl_int* status_out) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_row_pitch = row_pitch;
  return create_image(context, flags, format, &desc, host, status_out);
}

cl_mem create_image_3d(cl_context context, cl_mem_flags flags, const cl_image_format* format, std::size_t width,
                       std::size_t height, std::size_t depth, std::size_t row_pitch, std::size_t slice_pitch,
                       void* host, cl_int* status_out) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE3D;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_depth = depth;
  desc.image_row_pitch = row_pitch;
  desc.image_slice_pitch = slice_pitch;
  return create_image(context, flags, format, &desc, host, status_out);
}

cl_int get_supported_image_formats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint entries,
                                   cl_image_format* formats, cl_uint* count) {
  return guarded([&]() -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    if (entries == 0 && formats != nullptr) return CL_INVALID_VALUE;
    Writer message(Op::image_formats);
    message.put(ImageFormats{flags, type});
    std::vector<std::byte> answer;
    const cl_int status = connection().call(message, &answer);
    if (status != CL_SUCCESS) return status;
    const auto all = static_cast<cl_uint>(answer.size() / sizeof(cl_image_format));
    if (count != nullptr) *count = all;
    if (formats != nullptr) std::memcpy(formats, answer.data(), std::min(entries, all) * sizeof(cl_image_format));
    return CL_SUCCESS;
  });
}

cl_int get_image_info(cl_mem image, cl_image_info name, std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(image) || !image->is_image()) return CL_INVALID_MEM_OBJECT;
    const Info info{size, value, size_ret};
    std::size_t extent[3];
    get_extent(image, extent);
    const bool is_1d = image->type == CL_MEM_OBJECT_IMAGE1D || image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER ||
                       image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const bool is_array = has_slices(image) && image->type != CL_MEM_OBJECT_IMAGE3D;
    switch (name) {
      case CL_IMAGE_FORMAT:
        return info.put(image->image.format);
      case CL_IMAGE_ELEMENT_SIZE:
        return info.put(image->image.element_size);
      case CL_IMAGE_ROW_PITCH:
        return info.put(image->image.row_pitch);
      case CL_IMAGE_SLICE_PITCH:
        return info.put(has_slices(image) ? image->image.slice_pitch : std::size_t{0});
      case CL_IMAGE_WIDTH:
        return info.put(image->image.desc.image_width);
      case CL_IMAGE_HEIGHT:
        return info.put(is_1d ? std::size_t{0} : extent[1]);
      case CL_IMAGE_DEPTH:
        return info.put(image->type == CL_MEM_OBJECT_IMAGE3D ? extent[2] : std::size_t{0});
      case CL_IMAGE_ARRAY_SIZE:
        return info.put(is_array ? at_least_one(image->image.desc.image_array_size) : std::size_t{0});
      case CL_IMAGE_BUFFER:
        return info.put(image->parent.get());
      case CL_IMAGE_NUM_MIP_LEVELS:
        return info.put(cl_uint{image->image.desc.num_mip_levels});
      case CL_IMAGE_NUM_SAMPLES:
        return info.put(cl_uint{image->image.desc.num_samples});
      default:
        return CL_INVALID_VALUE;
    }
  });
}

}  // namespace wm::runtime::client

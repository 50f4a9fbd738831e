// An OpenCL program that prints what its kernels read from images and write to them, for a comparison of two ways to
// run it: natively and through the daemon.
//
//   wm serve &
//   images > native.txt; wm run -- images > daemon.txt; diff native.txt daemon.txt
//
// A line for each case: kind of image, channel order, data type, what was done, and a digest of all bytes that came
// back; "not supported" where the device does not have the format, "refused" with the error where a kernel or a command
// fails. `images -v` adds the first values, and `images --binaries` prints the programs' binaries instead.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t kWidth = 13, kHeight = 7, kDepth = 3;
constexpr std::size_t kShown = 52;  // bytes of each case that -v prints

void must(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "images: %s: OpenCL error %d\n", what, status);
  std::_Exit(42);
}

struct Kind {
  cl_mem_object_type type;
  const char* name;
  const char* parameter;
  std::size_t height, depth;  // as origins and regions count
  const char* place;          // the coordinates of element i, j, k
  const char* normalized;     // the same as part of the size; null: no layers are normalised
  const char* sizes;          // that kernels ask for, beside the width
};
const Kind kKinds[] = {
    {CL_MEM_OBJECT_IMAGE1D, "1d", "image1d_t", 1, 1, "i", "u", "0, 0"},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, "1d_buffer", "image1d_buffer_t", 1, 1, "i", nullptr, "0, 0"},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, "1d_array", "image1d_array_t", kHeight, 1, "(int2)(i, j)", "(float2)(u, j)",
     "(int)get_image_array_size(from), 0"},
    {CL_MEM_OBJECT_IMAGE2D, "2d", "image2d_t", kHeight, 1, "(int2)(i, j)", "(float2)(u, v)",
     "get_image_height(from), get_image_dim(from).x"},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, "2d_array", "image2d_array_t", kHeight, kDepth, "(int4)(i, j, k, 0)",
     "(float4)(u, v, k, 0)", "get_image_height(from), (int)get_image_array_size(from)"},
    {CL_MEM_OBJECT_IMAGE3D, "3d", "image3d_t", kHeight, kDepth, "(int4)(i, j, k, 0)", "(float4)(u, v, w, 0)",
     "get_image_depth(from), get_image_dim(from).y"},
};
const cl_channel_order kOrders[] = {CL_R, CL_A, CL_RG, CL_RA, CL_RGBA, CL_BGRA, CL_ARGB, CL_INTENSITY, CL_LUMINANCE};
const cl_channel_type kTypes[] = {CL_SNORM_INT8,     CL_SNORM_INT16,    CL_UNORM_INT8,   CL_UNORM_INT16,
                                  CL_SIGNED_INT8,    CL_SIGNED_INT16,   CL_SIGNED_INT32, CL_UNSIGNED_INT8,
                                  CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT,   CL_FLOAT};

struct Sampler {
  const char* name;
  bool normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
};
const Sampler kSamplers[] = {{"edge", false, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST},
                             {"border", false, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST},
                             {"edge_linear", false, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR},
                             {"border_linear", true, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR},
                             {"repeat", true, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST},
                             {"repeat_linear", true, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR},
                             {"mirror_linear", true, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_LINEAR}};

// Samplers that are constants of the program.
const char* const kLiterals[][2] = {
    {"literal_edge", "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST"},
    {"literal_border", "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR"},
    {"literal_repeat", "CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR"},
    {"literal_mirror", "CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_NEAREST"}};

bool is_signed(cl_channel_type t) { return t == CL_SIGNED_INT8 || t == CL_SIGNED_INT16 || t == CL_SIGNED_INT32; }
bool is_unsigned(cl_channel_type t) {
  return t == CL_UNSIGNED_INT8 || t == CL_UNSIGNED_INT16 || t == CL_UNSIGNED_INT32;
}

std::uint64_t digest(const std::vector<unsigned char>& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char b : bytes) hash = (hash ^ b) * 0x100000001b3;
  return hash;
}

struct Program {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue queue = nullptr;
  bool verbose = false, binaries = false;

  void open() {
    cl_platform_id platform = nullptr;
    cl_int status = CL_SUCCESS;
    must(clGetPlatformIDs(1, &platform, nullptr), "platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "device");
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    must(status, "context");
    queue = clCreateCommandQueue(context, device, 0, &status);
    must(status, "queue");
  }

  // The kernels of one kind: writes of every type; reads by whole and by normalised places, some of them outside;
  // sizes.
  [[nodiscard]] cl_program build(const Kind& kind) const {
    const std::string parameter = kind.parameter, place = kind.place;
    const std::string ids = "int i = get_global_id(0) - 2, j = get_global_id(1) - 1, k = get_global_id(2) - 1;\n";
    const std::string at = "to[((k + 1) * get_global_size(1) + j + 1) * get_global_size(0) + i + 2]";
    std::string text = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n";
    // OpenCL 1.2 defines writes inside an image only; NVIDIA's OpenCL ends the context at others.
    const std::string no_outside = "if (i < 0 || i >= " + std::to_string(kWidth) +
                                   " || j < 0 || j >= " + std::to_string(kind.height) +
                                   " || k < 0 || k >= " + std::to_string(kind.depth) + ") return;\n";
    text += "kernel void wf(write_only " + parameter + " to) {\n" + ids + no_outside + "write_imagef(to, " + place +
            ", (float4)(i * 0.1f - 0.3f, j * 0.25f, k * 0.5f, 0.77f - i * 0.01f)); }\n";
    text += "kernel void wi(write_only " + parameter + " to) {\n" + ids + no_outside + "write_imagei(to, " + place +
            ", (int4)(i * 40 - 100, j * 9000, k * 70000, -i - j)); }\n";
    text += "kernel void wu(write_only " + parameter + " to) {\n" + ids + no_outside + "write_imageui(to, " + place +
            ", (uint4)(i * 40, j * 9000, k * 70000, i + j)); }\n";
    // Values that formats round, limit or cannot hold, by their bits: 0.5, -0.5, 1.5, 65519, 65520, 65536, -1e9, NaN,
    // infinity, the smallest half and one and a half of it, -0, 0.0019.
    text +=
        "constant uint edges[13] = {0x3f000000, 0xbf000000, 0x3fc00000, 0x477fef00, 0x477ff000, 0x47800000, "
        "0xce6e6b28, 0x7fc00000, 0x7f800000, 0x33800000, 0x33bf1c9d, 0x80000000, 0x3af90903};\n"
        "float edge(int i) { return as_float(edges[i % 13]); }\n";
    text += "kernel void we(write_only " + parameter + " to) {\n" + ids + no_outside + "write_imagef(to, " + place +
            ", (float4)(edge(i), edge(i + 5), edge(i + 7), edge(i + 3))); }\n";
    const char* letters[3] = {"f", "i", "ui"};
    const char* types[3] = {"float4", "int4", "uint4"};
    for (int n = 0; n < 3; ++n) {
      const std::string to = std::string("global ") + types[n] + "* to";
      if (kind.normalized == nullptr) {
        text += std::string("kernel void r") + letters[n] + "(read_only " + parameter + " from, " + to + ") {\n" + ids +
                "if (i >= 0 && i < 13) " + at + " = read_image" + letters[n] + "(from, i); }\n";
        continue;
      }
      text += std::string("kernel void r") + letters[n] + "(read_only " + parameter + " from, sampler_t how, " + to +
              ") {\n" + ids + at + " = read_image" + letters[n] + "(from, how, " + place + "); }\n";
      text += std::string("kernel void n") + letters[n] + "(read_only " + parameter + " from, sampler_t how, " + to +
              ", float sx, float sy, float sz) {\n" + ids +
              "float u = (i * 0.7f + 0.3f) * sx, v = (j * 1.3f + 0.1f) * sy, w = (k * 0.6f + 0.2f) * sz;\n" + at +
              " = read_image" + letters[n] + "(from, how, " + kind.normalized + "); }\n";
    }
    text += "kernel void ask(read_only " + parameter + " from, global int* to) { int more[2] = {" + kind.sizes +
            "};\nto[0] = get_image_width(from); to[3] = more[0]; to[4] = more[1];\n" +
            "to[1] = get_image_channel_order(from); to[2] = get_image_channel_data_type(from); }\n";
    if (kind.normalized != nullptr) text += literal_reads(kind, ids, at);
    const char* source = text.c_str();
    cl_int status = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    must(status, "program");
    status = clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    std::vector<char> log(1 << 16);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    if (std::strlen(log.data()) > 1) std::fprintf(stderr, "images: %s: %s\n", kind.name, log.data());
    if (status != CL_SUCCESS) std::printf("%s refused: OpenCL error %d\n", kind.name, status);
    if (status == CL_SUCCESS && binaries) print_binary(program);
    return status == CL_SUCCESS ? program : nullptr;
  }

  static std::string literal_reads(const Kind& kind, const std::string& ids, const std::string& at) {
    const std::string from = std::string("(read_only ") + kind.parameter + " from, global float4* to";
    std::string text = "kernel void texels" + from + ") {\n" + ids;
    text += "if (i >= 0 && j >= 0 && k >= 0 && i < 13 && j < 3 && k < 2) " + at + " = read_imagef(from, " + kind.place +
            "); }\n";
    for (const auto& [name, flags] : kLiterals) {
      const std::string sampler = std::string(name) + "_sampler";
      text += "constant sampler_t " + sampler + " = " + flags + ";\nkernel void " + name + from +
              ", float sx, float sy, float sz) {\n" + ids +
              "float u = (i * 0.7f + 0.3f) * sx, v = (j * 1.3f + 0.1f) * sy, w = (k * 0.6f + 0.2f) * sz;\n" + at +
              " = read_imagef(from, " + sampler + ", " + kind.normalized + "); }\n";
    }
    return text;
  }

  static void print_binary(cl_program program) {
    std::size_t size = 0;
    clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    std::string text(size, '\0');
    char* at = text.data();
    clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof at, static_cast<void*>(&at), nullptr);
    std::printf("%s\n", text.c_str());
  }

  void say(const Kind& kind, cl_channel_order order, cl_channel_type type, const char* what,
           const std::vector<unsigned char>& bytes) const {
    std::printf("%s %x %x %s %016llx", kind.name, order, type, what, static_cast<unsigned long long>(digest(bytes)));
    for (std::size_t i = 0; verbose && i < kShown && i < bytes.size(); ++i) std::printf(" %02x", bytes[i]);
    std::printf("\n");
  }

  void launch(cl_program program, const char* name, const std::vector<std::pair<std::size_t, const void*>>& arguments,
              std::size_t one) const {
    cl_int status = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    for (cl_uint i = 0; i < arguments.size() && status == CL_SUCCESS; ++i) {
      status = clSetKernelArg(kernel, i, arguments[i].first, arguments[i].second);
    }
    const std::size_t all[3] = {kWidth + 5, kHeight + 3, kDepth + 2}, single[3] = {1, 1, 1};
    if (status == CL_SUCCESS) {
      status = clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, one != 0 ? single : all, nullptr, 0, nullptr, nullptr);
    }
    if (status == CL_SUCCESS) status = clFinish(queue);
    if (status != CL_SUCCESS) std::printf("kernel %s refused: OpenCL error %d\n", name, status);
    if (kernel != nullptr) clReleaseKernel(kernel);
  }

  std::vector<unsigned char> contents(cl_mem image, const Kind& kind) const {
    std::size_t element = 0;
    clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
    const std::size_t zero[3] = {0, 0, 0}, all[3] = {kWidth, kind.height, kind.depth};
    std::vector<unsigned char> bytes(kWidth * kind.height * kind.depth * element);
    must(clEnqueueReadImage(queue, image, CL_TRUE, zero, all, 0, 0, bytes.data(), 0, nullptr, nullptr), "read image");
    return bytes;
  }

  void format(cl_program program, const Kind& kind, cl_channel_order order, cl_channel_type type) const {
    cl_image_format format{order, type};
    cl_image_desc desc{};
    desc.image_type = kind.type;
    desc.image_width = kWidth;
    desc.image_height = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 0 : kHeight;
    desc.image_depth = kDepth;
    desc.image_array_size = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? kHeight : kDepth;
    cl_int status = CL_SUCCESS;
    cl_mem storage = nullptr;
    if (kind.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
      storage = desc.buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kWidth * 16, nullptr, &status);
      must(status, "buffer");
    }
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &status);
    if (image == nullptr) {
      std::printf("%s %x %x not supported\n", kind.name, order, type);
      return;
    }
    const cl_uint colour[4] = {0x3e4ccccd, 0x3f000000, 0xbf800000, 0x3f800000};  // 0.2, 0.5, -1, 1
    const std::size_t zero[3] = {0, 0, 0}, all[3] = {kWidth, kind.height, kind.depth};
    must(clEnqueueFillImage(queue, image, colour, zero, all, 0, nullptr, nullptr), "fill");
    say(kind, order, type, "fill", contents(image, kind));
    const int n = is_signed(type) ? 1 : is_unsigned(type) ? 2 : 0;
    const char* writes[3] = {"wf", "wi", "wu"};
    launch(program, writes[n], {{sizeof image, &image}}, 0);
    say(kind, order, type, "write", contents(image, kind));
    if (n == 0) {
      const std::vector<unsigned char> before = contents(image, kind);
      launch(program, "we", {{sizeof image, &image}}, 0);
      say(kind, order, type, "edges", contents(image, kind));
      must(clEnqueueWriteImage(queue, image, CL_TRUE, zero, all, 0, 0, before.data(), 0, nullptr, nullptr),
           "write image");
    }
    const std::size_t items = (kWidth + 5) * (kHeight + 3) * (kDepth + 2);
    std::vector<unsigned char> read(items * 16);
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, read.size(), nullptr, &status);
    must(status, "buffer");
    const cl_uint none = 0;
    const auto take = [&](const char* what) {
      must(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, read.size(), read.data(), 0, nullptr, nullptr), "read");
      say(kind, order, type, what, read);
      clEnqueueFillBuffer(queue, to, &none, sizeof none, 0, read.size(), 0, nullptr, nullptr);
    };
    clEnqueueFillBuffer(queue, to, &none, sizeof none, 0, read.size(), 0, nullptr, nullptr);
    const char* reads[3] = {"rf", "ri", "rui"};
    const char* normalized[3] = {"nf", "ni", "nui"};
    if (kind.normalized == nullptr) {
      launch(program, reads[n], {{sizeof image, &image}, {sizeof to, &to}}, 0);
      take("read");
    }
    for (const Sampler& s : kSamplers) {
      // Integers are not filtered.
      if (kind.normalized == nullptr || (n != 0 && s.filter == CL_FILTER_LINEAR)) continue;
      cl_sampler how = clCreateSampler(context, s.normalized ? CL_TRUE : CL_FALSE, s.addressing, s.filter, &status);
      must(status, "sampler");
      if (!s.normalized && s.filter == CL_FILTER_NEAREST) {
        launch(program, reads[n], {{sizeof image, &image}, {sizeof how, &how}, {sizeof to, &to}}, 0);
        take((std::string("read ") + s.name).c_str());
      }
      const float scale[3] = {s.normalized ? 1.0F / kWidth : 1, s.normalized ? 1.0F / kHeight : 1,
                              s.normalized ? 1.0F / kDepth : 1};
      launch(program, normalized[n],
             {{sizeof image, &image},
              {sizeof how, &how},
              {sizeof to, &to},
              {4, &scale[0]},
              {4, &scale[1]},
              {4, &scale[2]}},
             0);
      take((std::string("sample ") + s.name).c_str());
      clReleaseSampler(how);
    }
    const float scale[3] = {1.0F / kWidth, 1.0F / kHeight, 1.0F / kDepth}, unscaled = 1;
    for (std::size_t l = 0; kind.normalized != nullptr && n == 0 && l < std::size(kLiterals); ++l) {
      std::vector<std::pair<std::size_t, const void*>> arguments{{sizeof image, &image}, {sizeof to, &to}};
      for (const float& one : scale) arguments.push_back({4, l < 2 ? &unscaled : &one});
      launch(program, kLiterals[l][0], arguments, 0);
      take(kLiterals[l][0]);
    }
    if (kind.normalized != nullptr && n == 0) {
      launch(program, "texels", {{sizeof image, &image}, {sizeof to, &to}}, 0);
      take("texels");
    }
    launch(program, "ask", {{sizeof image, &image}, {sizeof to, &to}}, 1);
    take("ask");
    clReleaseMemObject(image);
    clReleaseMemObject(to);
    if (storage != nullptr) clReleaseMemObject(storage);
  }

  // Commands with origins, regions and pitches, for one format.
  void commands(const Kind& kind) const {
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc{};
    desc.image_type = kind.type;
    desc.image_width = kWidth;
    desc.image_height = kHeight;
    desc.image_depth = kDepth;
    const bool is_1d_array = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    desc.image_array_size = is_1d_array ? kHeight : kDepth;
    const bool has_slices = is_1d_array || kind.depth > 1;
    constexpr std::size_t kRow = kWidth * 4 + 8;
    std::vector<unsigned char> host(kRow * (kHeight + 1) * kDepth);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7 + i / 256);
    cl_int status = CL_SUCCESS;
    cl_mem buffers[2] = {}, images[2] = {};
    for (cl_mem& b : buffers) {
      b = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, host.size(), host.data(), &status);
      must(status, "buffer");
    }
    for (int n = 0; n < 2; ++n) {
      const bool is_copied = kind.type != CL_MEM_OBJECT_IMAGE1D_BUFFER, has_pitches = is_copied && n == 0;
      desc.buffer = is_copied ? nullptr : buffers[n];
      desc.image_row_pitch = has_pitches ? kRow : 0;
      desc.image_slice_pitch = has_pitches && has_slices ? kRow * (is_1d_array ? 1 : kHeight + 1) : 0;
      images[n] = clCreateImage(context, is_copied ? CL_MEM_COPY_HOST_PTR : 0, &format, &desc,
                                is_copied ? host.data() : nullptr, &status);
      if (status != CL_SUCCESS) return void(std::printf("%s commands refused: OpenCL error %d\n", kind.name, status));
    }
    const auto note = [&](const char* what, cl_int error) {
      if (error != CL_SUCCESS) std::printf("%s %s: OpenCL error %d\n", kind.name, what, error);
      for (int n = 0; n < 2; ++n) {
        say(kind, format.image_channel_order, format.image_channel_data_type, what, contents(images[n], kind));
      }
    };
    const std::size_t from[3] = {2, kind.height > 1 ? 1U : 0U, kind.depth > 1 ? 1U : 0U};
    const std::size_t to[3] = {5, kind.height > 1 ? 3U : 0U, 0};
    const std::size_t box[3] = {6, kind.height > 1 ? 3U : 1U, kind.depth > 1 ? 2U : 1U};
    note("create", CL_SUCCESS);
    note("copy", clEnqueueCopyImage(queue, images[0], images[1], from, to, box, 0, nullptr, nullptr));
    const std::size_t slice = has_slices ? 32 * (is_1d_array ? 1 : 4) : 0;
    note("write",
         clEnqueueWriteImage(queue, images[1], CL_TRUE, from, box, 32, slice, host.data() + 9, 0, nullptr, nullptr));
    std::vector<unsigned char> back(host.size());
    cl_int error =
        clEnqueueReadImage(queue, images[0], CL_TRUE, from, box, 32, slice, back.data(), 0, nullptr, nullptr);
    note("read", error);
    say(kind, format.image_channel_order, format.image_channel_data_type, "bytes", back);
    note("to buffer", clEnqueueCopyImageToBuffer(queue, images[0], buffers[1], from, box, 20, 0, nullptr, nullptr));
    clEnqueueReadBuffer(queue, buffers[1], CL_TRUE, 0, back.size(), back.data(), 0, nullptr, nullptr);
    say(kind, format.image_channel_order, format.image_channel_data_type, "bytes", back);
    note("from buffer", clEnqueueCopyBufferToImage(queue, buffers[0], images[1], 36, to, box, 0, nullptr, nullptr));
    const cl_uint colour[4] = {1, 70000, 3, 4};
    note("fill", clEnqueueFillImage(queue, images[1], colour, from, box, 0, nullptr, nullptr));
    std::size_t row = 0, pitch = 0;
    auto* mapped = static_cast<unsigned char*>(clEnqueueMapImage(queue, images[0], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                                                 from, box, &row, &pitch, 0, nullptr, nullptr, &error));
    if (mapped != nullptr) {
      mapped[4] = static_cast<unsigned char>(mapped[4] + 1);
      error = clEnqueueUnmapMemObject(queue, images[0], mapped, 0, nullptr, nullptr);
    }
    note("map", error);
    for (int n = 0; n < 2; ++n) clReleaseMemObject(images[n]), clReleaseMemObject(buffers[n]);
  }

  // `begun` counts the cases; those before `first` are left out.
  void run(std::uint32_t first, volatile std::uint32_t& begun) const {
    begun = 0;
    const auto due = [&] {
      begun = begun + 1;
      return begun > first;
    };
    for (const Kind& kind : kKinds) {
      cl_program program = build(kind);
      if (!binaries && due()) commands(kind);
      if (program == nullptr || binaries) continue;
      for (const cl_channel_order order : kOrders) {
        for (const cl_channel_type type : kTypes) {
          if (due()) format(program, kind, order, type);
        }
      }
      clReleaseProgram(program);
    }
  }
};

}  // namespace

// A driver may fail in one case such that its context cannot be used any more. So the cases run in a process of their
// own; when it fails, the next one begins behind that case.
int main(int argc, char** argv) {
  constexpr int kFailures = 100;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Program program;
  program.verbose = argc > 1 && std::strcmp(argv[1], "-v") == 0;
  program.binaries = argc > 1 && std::strcmp(argv[1], "--binaries") == 0;
  void* shared = mmap(nullptr, sizeof(std::uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto& begun = *static_cast<volatile std::uint32_t*>(shared);
  for (int failures = 0; failures < kFailures; ++failures) {
    const std::uint32_t first = begun;
    const pid_t child = fork();
    if (child == 0) {
      program.open();
      program.run(first, begun);
      return 0;
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    std::printf("case %u failed\n", static_cast<unsigned>(begun));
    if (begun <= first) break;  // it failed before the first case that was due
  }
  return 1;
}

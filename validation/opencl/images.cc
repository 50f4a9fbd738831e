// An OpenCL program that prints what its kernels read from images and write to them, for a comparison of two ways to
// run it: natively and through the daemon.
//
//   images > native.txt; wm run -- images > daemon.txt; diff native.txt daemon.txt
//
// A line for each case: kind of image, channel order, data type, what was done, and a digest of all bytes that came
// back; "not supported" where the device does not have the format. `images -v` adds the first values.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kWidth = 13, kHeight = 7, kDepth = 3;

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
  const char* place;          // of the element i, j, k
  const char* normalized;     // the same as part of the size; null: no layers are normalised
};
const Kind kKinds[] = {
    {CL_MEM_OBJECT_IMAGE1D, "1d", "image1d_t", 1, 1, "i", "u"},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, "1d_buffer", "image1d_buffer_t", 1, 1, "i", nullptr},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, "1d_array", "image1d_array_t", kHeight, 1, "(int2)(i, j)", "(float2)(u, j)"},
    {CL_MEM_OBJECT_IMAGE2D, "2d", "image2d_t", kHeight, 1, "(int2)(i, j)", "(float2)(u, v)"},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, "2d_array", "image2d_array_t", kHeight, kDepth, "(int4)(i, j, k, 0)",
     "(float4)(u, v, k, 0)"},
    {CL_MEM_OBJECT_IMAGE3D, "3d", "image3d_t", kHeight, kDepth, "(int4)(i, j, k, 0)", "(float4)(u, v, w, 0)"},
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
  bool verbose = false;

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

  // The kernels of one kind: writes of every type, some of them outside; reads by whole and by normalised places;
  // sizes.
  [[nodiscard]] cl_program build(const Kind& kind) const {
    const std::string parameter = kind.parameter, place = kind.place;
    const std::string ids = "int i = get_global_id(0) - 2, j = get_global_id(1) - 1, k = get_global_id(2) - 1;\n";
    const std::string at = "to[((k + 1) * get_global_size(1) + j + 1) * get_global_size(0) + i + 2]";
    std::string text = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n";
    std::string no_outside = kind.type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? "if (i < 0 || i >= 13) return;\n" : "";
    // One thread writes an element.
    if (kind.height == 1) no_outside += "if (j != 0) return;\n";
    if (kind.depth == 1) no_outside += "if (k != 0) return;\n";
    text += "kernel void wf(write_only " + parameter + " to) {\n" + ids + no_outside + "write_imagef(to, " + place +
            ", (float4)(i * 0.1f - 0.3f, j * 0.25f, k * 0.5f, 0.77f - i * 0.01f)); }\n";
    text += "kernel void wi(write_only " + parameter + " to) {\n" + ids + no_outside + "write_imagei(to, " + place +
            ", (int4)(i * 40 - 100, j * 9000, k * 70000, -i - j)); }\n";
    text += "kernel void wu(write_only " + parameter + " to) {\n" + ids + no_outside + "write_imageui(to, " + place +
            ", (uint4)(i * 40, j * 9000, k * 70000, i + j)); }\n";
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
    text += "kernel void ask(read_only " + parameter + " from, global int* to) { to[0] = get_image_width(from);\n" +
            "to[1] = get_image_channel_order(from); to[2] = get_image_channel_data_type(from); }\n";
    const char* source = text.c_str();
    cl_int status = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    must(status, "program");
    if (clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) {
      std::vector<char> log(1 << 16);
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
      std::fprintf(stderr, "images: %s: %s\n", kind.name, log.data());
      std::_Exit(42);
    }
    return program;
  }

  void say(const Kind& kind, cl_channel_order order, cl_channel_type type, const char* what,
           const std::vector<unsigned char>& bytes) const {
    std::printf("%s %x %x %s %016llx", kind.name, order, type, what, static_cast<unsigned long long>(digest(bytes)));
    for (std::size_t i = 0; verbose && i < 24 && i < bytes.size(); ++i) std::printf(" %02x", bytes[i]);
    std::printf("\n");
  }

  void launch(cl_program program, const char* name, const std::vector<std::pair<std::size_t, const void*>>& arguments,
              std::size_t one) const {
    cl_int status = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    must(status, name);
    for (cl_uint i = 0; i < arguments.size(); ++i) {
      must(clSetKernelArg(kernel, i, arguments[i].first, arguments[i].second), "argument");
    }
    const std::size_t all[3] = {kWidth + 5, kHeight + 3, kDepth + 2}, single[3] = {1, 1, 1};
    must(clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, one != 0 ? single : all, nullptr, 0, nullptr, nullptr),
         name);
    clReleaseKernel(kernel);
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
    launch(program, "ask", {{sizeof image, &image}, {sizeof to, &to}}, 1);
    take("ask");
    clReleaseMemObject(image);
    clReleaseMemObject(to);
    if (storage != nullptr) clReleaseMemObject(storage);
  }

  void run() const {
    for (const Kind& kind : kKinds) {
      cl_program program = build(kind);
      for (const cl_channel_order order : kOrders) {
        for (const cl_channel_type type : kTypes) format(program, kind, order, type);
      }
      clReleaseProgram(program);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Program program;
  program.verbose = argc > 1 && std::strcmp(argv[1], "-v") == 0;
  program.open();
  program.run();
  return 0;
}

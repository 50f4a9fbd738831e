// Images and samplers through the client library.
#include <algorithm>
#include <numeric>

#include "runtime/conformance/sides.h"

namespace wm::runtime::test {
namespace {

constexpr std::size_t kWidth = 8, kHeight = 6;
constexpr cl_image_format kFormat{CL_RGBA, CL_UNSIGNED_INT8};

cl_mem image(const Side& s, cl_int* status, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr,
             std::size_t row_pitch = 0, cl_image_format format = kFormat) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = kWidth;
  desc.image_height = kHeight;
  desc.image_row_pitch = row_pitch;
  return clCreateImage(s.context, flags, &format, &desc, host, status);
}

std::vector<unsigned char> pixels(const Side& s, cl_mem of) {
  std::vector<unsigned char> bytes(kWidth * kHeight * 4, 0xee);
  const std::size_t origin[3] = {0, 0, 0}, region[3] = {kWidth, kHeight, 1};
  EXPECT_EQ(clEnqueueReadImage(s.queue, of, CL_TRUE, origin, region, 0, 0, bytes.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  return bytes;
}

bool supported(const Side& s) {
  cl_bool images = CL_FALSE;
  clGetDeviceInfo(s.device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, nullptr);
  return images != CL_FALSE;
}

// The CUDA backend has no images where our own compiler serves, and its devices say so. On a CPU both sides must say
// the same.
bool supported_by_the_daemon() {
  if (the_daemon() == nullptr) return false;
  if (is_on_cpu()) return true;
  const Side ours = open_side(true);
  const bool images = supported(ours);
  close_side(ours);
  return images;
}

TEST(Images, CreationAndQueriesHaveTheSameResults) {
  if (!supported_by_the_daemon()) GTEST_SKIP() << "no images";
  same_on_both([](const Side& s, Transcript& t) {
    t.say("supported", supported(s) ? 1 : 0);
    if (!supported(s)) return;
    cl_uint count = 0;
    t.say("formats",
          clGetSupportedImageFormats(s.context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &count));
    t.say("formats", count);
    std::vector<unsigned char> bytes(kHeight * 48);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    cl_int status = 1;
    cl_mem made = image(s, &status, CL_MEM_COPY_HOST_PTR, bytes.data(), 48);
    t.say("create", status);
    t.data("pixels", pixels(s, made));
    for (const cl_image_info name : {CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ELEMENT_SIZE,
                                     CL_IMAGE_SLICE_PITCH, CL_IMAGE_ARRAY_SIZE}) {
      std::size_t value = 99;
      t.say("info", clGetImageInfo(made, name, sizeof value, &value, nullptr));
      t.say("value", static_cast<long long>(value));
    }
    clReleaseMemObject(made);
    image(s, &status, CL_MEM_COPY_HOST_PTR);
    t.say("copy of nothing", status);
    image(s, &status, CL_MEM_READ_WRITE, nullptr, 0, {0x1234, CL_UNSIGNED_INT8});
    t.say("no such format", status);
  });
}

TEST(Images, TransfersCopiesFillsAndMapsHaveTheSameData) {
  if (!supported_by_the_daemon()) GTEST_SKIP() << "no images";
  same_on_both([](const Side& s, Transcript& t) {
    t.say("supported", supported(s) ? 1 : 0);
    if (!supported(s)) return;
    cl_mem a = image(s, nullptr), b = image(s, nullptr);
    const std::size_t all[3] = {kWidth, kHeight, 1}, zero[3] = {0, 0, 0}, at[3] = {2, 1, 0}, box[3] = {3, 2, 1};
    const cl_uint color[4] = {1, 2, 3, 4};
    t.say("fill", clEnqueueFillImage(s.queue, a, color, zero, all, 0, nullptr, nullptr));
    std::vector<unsigned char> bytes(256);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(100));
    t.say("write", clEnqueueWriteImage(s.queue, a, CL_TRUE, at, box, 20, 0, bytes.data(), 0, nullptr, nullptr));
    t.data("a", pixels(s, a));
    t.say("fill", clEnqueueFillImage(s.queue, b, color, zero, all, 0, nullptr, nullptr));
    t.say("copy", clEnqueueCopyImage(s.queue, a, b, at, zero, box, 0, nullptr, nullptr));
    t.data("b", pixels(s, b));
    t.say("outside", clEnqueueCopyImage(s.queue, a, b, at, zero, all, 0, nullptr, nullptr));
    t.say("onto itself", clEnqueueCopyImage(s.queue, a, a, zero, at, all, 0, nullptr, nullptr));
    cl_mem buffer = clCreateBuffer(s.context, 0, 256, nullptr, nullptr);
    t.say("to buffer", clEnqueueCopyImageToBuffer(s.queue, a, buffer, at, box, 16, 0, nullptr, nullptr));
    std::vector<unsigned char> back(24);
    clEnqueueReadBuffer(s.queue, buffer, CL_TRUE, 16, 24, back.data(), 0, nullptr, nullptr);
    t.data("buffer", back);
    t.say("from buffer", clEnqueueCopyBufferToImage(s.queue, buffer, b, 16, zero, box, 0, nullptr, nullptr));
    std::size_t row = 0, slice = 0;
    cl_int status = 1;
    auto* mapped = static_cast<unsigned char*>(clEnqueueMapImage(s.queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at,
                                                                 box, &row, &slice, 0, nullptr, nullptr, &status));
    t.say("map", status);
    ASSERT_NE(mapped, nullptr);
    t.data("mapped", std::vector<unsigned char>(mapped, mapped + 12));
    mapped[row] = 77;  // first byte of the box's second row
    t.say("unmap", clEnqueueUnmapMemObject(s.queue, b, mapped, 0, nullptr, nullptr));
    t.data("b", pixels(s, b));
    for (cl_mem m : {a, b, buffer}) clReleaseMemObject(m);
  });
}

// In the long suite only: PoCL takes long to compile kernels that sample images.
TEST(LongImages, KernelsReadTheSameSamples) {
  if (!supported_by_the_daemon()) GTEST_SKIP() << "no images";
  same_on_both([](const Side& s, Transcript& t) {
    t.say("supported", supported(s) ? 1 : 0);
    if (!supported(s)) return;
    const char* source = R"(
      kernel void sample(read_only image2d_t from, sampler_t how, global uint* to) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        uint4 c = read_imageui(from, how, at + (int2)(1, 1));
        to[at.y * get_global_size(0) + at.x] = c.x + 256 * c.y;
      })";
    cl_program program = build(s, source);
    cl_int status = 1;
    cl_kernel kernel = clCreateKernel(program, "sample", &status);
    t.say("kernel", status);
    std::vector<unsigned char> bytes(kWidth * kHeight * 4);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
    cl_mem from = image(s, nullptr, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes.data());
    cl_mem to = clCreateBuffer(s.context, 0, kWidth * kHeight * 4, nullptr, nullptr);
    cl_sampler how = clCreateSampler(s.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &status);
    t.say("sampler", status);
    t.say("image", clSetKernelArg(kernel, 0, sizeof from, &from));
    t.say("sampler", clSetKernelArg(kernel, 1, sizeof how, &how));
    t.say("buffer", clSetKernelArg(kernel, 2, sizeof to, &to));
    const std::size_t global[2] = {kWidth, kHeight};
    t.say("run", clEnqueueNDRangeKernel(s.queue, kernel, 2, nullptr, global, nullptr, 0, nullptr, nullptr));
    std::vector<unsigned> sampled(kWidth * kHeight);
    clEnqueueReadBuffer(s.queue, to, CL_TRUE, 0, sampled.size() * 4, sampled.data(), 0, nullptr, nullptr);
    t.data("sampled", sampled);
    clReleaseSampler(how);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
  });
}

// PoCL 3.1 accepts pitches that are too small, and writes outside its memory.
TEST(Images, PitchesMustHoldRowsAndSlices) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true);
  if (!supported(s)) GTEST_SKIP() << "no images";
  std::vector<unsigned char> bytes(kWidth * kHeight * 4 * 4);
  const auto made = [&](std::size_t row, std::size_t slice, void* host) {
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
    desc.image_width = kWidth;
    desc.image_height = kHeight;
    desc.image_array_size = 2;
    desc.image_row_pitch = row;
    desc.image_slice_pitch = slice;
    cl_int status = 1;
    cl_mem image = clCreateImage(s.context, host != nullptr ? CL_MEM_COPY_HOST_PTR : 0, &kFormat, &desc, host, &status);
    if (image != nullptr) clReleaseMemObject(image);
    return status;
  };
  constexpr std::size_t kRow = kWidth * 4;
  EXPECT_EQ(made(kRow, kRow * kHeight, bytes.data()), CL_SUCCESS);
  EXPECT_EQ(made(kRow, kRow * (kHeight + 1), bytes.data()), CL_SUCCESS);
  EXPECT_EQ(made(0, 0, nullptr), CL_SUCCESS);
  for (const auto& [row, slice] : {std::pair{kRow - 4, kRow * kHeight}, std::pair{kRow + 1, kRow * 2 * kHeight},
                                   std::pair{kRow, kRow * (kHeight - 1)}, std::pair{kRow, kRow}}) {
    EXPECT_EQ(made(row, slice, bytes.data()), CL_INVALID_IMAGE_DESCRIPTOR) << row << ", " << slice;
    EXPECT_NE(made(row, slice, nullptr), CL_SUCCESS) << row << ", " << slice;
  }
  close_side(s);
}

// PoCL 3.1 refuses to copy a 1D image of a buffer.
TEST(Images, ImagesOfBuffersAreCopied) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true);
  if (!supported(s)) GTEST_SKIP() << "no images";
  constexpr std::size_t kPixels = 32, kBytes = kPixels * 4;
  std::vector<unsigned char> bytes(kBytes);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  cl_mem buffers[2], rows[2];
  for (int i = 0; i < 2; ++i) {
    buffers[i] = clCreateBuffer(s.context, CL_MEM_COPY_HOST_PTR, kBytes, bytes.data(), nullptr);
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    desc.image_width = kPixels;
    desc.mem_object = buffers[i];
    cl_int status = 1;
    rows[i] = clCreateImage(s.context, CL_MEM_READ_WRITE, &kFormat, &desc, nullptr, &status);
    ASSERT_EQ(status, CL_SUCCESS);
  }
  const auto copy = [&](cl_mem from, std::size_t at, cl_mem to, std::size_t into) {
    const std::size_t origin[3] = {at, 0, 0}, target[3] = {into, 0, 0}, region[3] = {4, 1, 1};
    return clEnqueueCopyImage(s.queue, from, to, origin, target, region, 0, nullptr, nullptr);
  };
  cl_int status = 1;
  cl_mem plain = image(s, &status);
  EXPECT_EQ(copy(rows[0], 8, plain, 2), CL_SUCCESS);
  EXPECT_EQ(copy(plain, 2, rows[1], 0), CL_SUCCESS);
  EXPECT_EQ(copy(rows[0], 16, rows[1], 4), CL_SUCCESS);
  std::vector<unsigned char> out(kBytes);
  EXPECT_EQ(clEnqueueReadBuffer(s.queue, buffers[1], CL_TRUE, 0, kBytes, out.data(), 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 16, bytes.begin() + 32));
  EXPECT_TRUE(std::equal(out.begin() + 16, out.begin() + 32, bytes.begin() + 64));
  EXPECT_TRUE(std::equal(out.begin() + 32, out.end(), bytes.begin() + 32));
  for (cl_mem m : {plain, rows[0], rows[1], buffers[0], buffers[1]}) clReleaseMemObject(m);
  close_side(s);
}

// On a device in host memory, memory that a client freed may be allocated to the next client.
TEST(Images, NewMemoryObjectsShowNoDataOfOtherClients) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true);
  if (!supported(s)) GTEST_SKIP() << "no images";
  constexpr cl_uint kSecret[4] = {0x5ec4e7, 0x5ec4e7, 0x5ec4e7, 0x5ec4e7};
  constexpr cl_image_format kWide{CL_RGBA, CL_UNSIGNED_INT32};
  for (const std::size_t side : {8, 64, 256, 360, 512}) {  // sizes from 1 KB to 4 MB
    const std::size_t bytes = side * side * sizeof kSecret, zero[3] = {0, 0, 0}, region[3] = {side, side, 1};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = desc.image_height = side;
    const auto both = [&](const auto& look) {
      cl_mem image = clCreateImage(s.context, CL_MEM_READ_WRITE, &kWide, &desc, nullptr, nullptr);
      cl_mem buffer = clCreateBuffer(s.context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
      look(image, buffer);
      clReleaseMemObject(image);
      clReleaseMemObject(buffer);
    };
    for (int round = 0; round < 3; ++round) {
      both([&](cl_mem image, cl_mem buffer) {
        clEnqueueFillImage(s.queue, image, kSecret, zero, region, 0, nullptr, nullptr);
        clEnqueueFillBuffer(s.queue, buffer, kSecret, sizeof kSecret, 0, bytes, 0, nullptr, nullptr);
        clFinish(s.queue);
      });
      both([&](cl_mem image, cl_mem buffer) {
        std::vector<cl_uint> shown(bytes / 2);
        clEnqueueReadImage(s.queue, image, CL_TRUE, zero, region, 0, 0, shown.data(), 0, nullptr, nullptr);
        clEnqueueReadBuffer(s.queue, buffer, CL_TRUE, 0, bytes, shown.data() + bytes / 4, 0, nullptr, nullptr);
        EXPECT_EQ(std::count(shown.begin(), shown.end(), kSecret[0]), 0) << side;
      });
    }
  }
  close_side(s);
}

}  // namespace
}  // namespace wm::runtime::test

// Buffers through the client library: data and errors are those of the native driver.
#include <cstring>
#include <numeric>

#include "runtime/conformance/sides.h"

namespace wm::runtime::test {
namespace {

cl_mem buffer(const Side& s, std::size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) {
  return clCreateBuffer(s.context, flags, size, host, nullptr);
}

std::vector<unsigned char> counted(std::size_t size, unsigned start = 0) {
  std::vector<unsigned char> bytes(size);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(start));
  return bytes;
}

std::vector<unsigned char> contents(const Side& s, cl_mem memory, std::size_t size) {
  std::vector<unsigned char> bytes(size, 0xee);
  EXPECT_EQ(clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, size, bytes.data(), 0, nullptr, nullptr), CL_SUCCESS);
  return bytes;
}

TEST(Buffer, CreationFailsWhereTheNativeDriverFails) {
  same_on_both([](const Side& s, Transcript& t) {
    auto bytes = counted(64);
    const struct {
      cl_mem_flags flags;
      std::size_t size;
      void* host;
    } cases[] = {{CL_MEM_READ_WRITE, 64, nullptr},
                 {CL_MEM_READ_WRITE, 0, nullptr},
                 {CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, nullptr},
                 {CL_MEM_USE_HOST_PTR, 64, nullptr},
                 {CL_MEM_COPY_HOST_PTR, 64, nullptr},
                 {CL_MEM_READ_WRITE, 64, bytes.data()},
                 {CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, bytes.data()},
                 {CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, bytes.data()},
                 {CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 64, nullptr},
                 {CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, bytes.data()},
                 {cl_mem_flags{1} << 40, 64, nullptr}};
    for (const auto& c : cases) {
      cl_int status = 1;
      cl_mem memory = clCreateBuffer(s.context, c.flags, c.size, c.host, &status);
      t.say("create " + std::to_string(c.flags), status);
      if (memory != nullptr) t.say("release", clReleaseMemObject(memory));
    }
    cl_int status = 0;
    clCreateBuffer(nullptr, 0, 64, nullptr, &status);
    t.say("no context", status);
    t.say("release nothing", clReleaseMemObject(nullptr));
  });
}

// NVIDIA's driver creates a buffer of any size, and fails when it is used.
TEST(Buffer, ABufferThatNoDeviceCanHoldIsNotCreated) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no native device";
  const Side ours = open_side(true);
  cl_int status = CL_SUCCESS;
  EXPECT_EQ(clCreateBuffer(ours.context, CL_MEM_READ_WRITE, std::size_t{1} << 60, nullptr, &status), nullptr);
  EXPECT_TRUE(status == CL_INVALID_BUFFER_SIZE || status == CL_MEM_OBJECT_ALLOCATION_FAILURE) << status;
  close_side(ours);
}

TEST(Buffer, QueriesAnswerAsTheNativeDriver) {
  same_on_both([](const Side& s, Transcript& t) {
    auto bytes = counted(4096);
    for (const cl_mem_flags flags : {CL_MEM_READ_ONLY, CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR}) {
      void* host = flags == CL_MEM_READ_ONLY ? nullptr : bytes.data();
      cl_mem memory = buffer(s, 4096, flags, host);
      cl_mem_object_type type = 0;
      t.say("type", clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, nullptr));
      t.say("type", type);
      std::size_t size = 0;
      clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, nullptr);
      t.say("size", static_cast<long long>(size));
      void* pointer = nullptr;
      clGetMemObjectInfo(memory, CL_MEM_HOST_PTR, sizeof pointer, &pointer, nullptr);
      t.say("host pointer", pointer == bytes.data() ? "given" : pointer == nullptr ? "none" : "other");
      cl_uint count = 7;
      clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr);
      t.say("references", count);
      t.say("too small", clGetMemObjectInfo(memory, CL_MEM_SIZE, 1, &size, nullptr));
      t.say("unknown", clGetMemObjectInfo(memory, 0x9999, sizeof size, &size, nullptr));
      clRetainMemObject(memory);
      clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr);
      t.say("references", count);
      clReleaseMemObject(memory);
      clReleaseMemObject(memory);
    }
  });
}

TEST(Buffer, TransfersHaveTheSameErrorsAndData) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_mem memory = buffer(s, 256);
    auto bytes = counted(256);
    const auto write = [&](std::size_t offset, std::size_t size, const void* host) {
      return clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, offset, size, host, 0, nullptr, nullptr);
    };
    t.say("write", write(0, 256, bytes.data()));
    t.say("beyond", write(1, 256, bytes.data()));
    t.say("far beyond", write(1000, 1, bytes.data()));
    t.say("from nowhere", write(0, 16, nullptr));
    t.say("to no buffer", clEnqueueWriteBuffer(s.queue, nullptr, CL_TRUE, 0, 16, bytes.data(), 0, nullptr, nullptr));
    t.say("on no queue", clEnqueueWriteBuffer(nullptr, memory, CL_TRUE, 0, 16, bytes.data(), 0, nullptr, nullptr));
    t.say("empty list", clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, 0, 16, bytes.data(), 1, nullptr, nullptr));
    t.data("all", contents(s, memory, 256));
    clReleaseMemObject(memory);
  });
}

TEST(Buffer, RectanglesHaveTheSameErrorsAndData) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_mem memory = buffer(s, 1024);
    const auto zero = counted(1024, 3);
    clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, 0, 1024, zero.data(), 0, nullptr, nullptr);
    auto host = counted(1024, 100);
    const std::size_t buffer_origin[3] = {4, 1, 1}, host_origin[3] = {2, 3, 0}, region[3] = {5, 3, 2};
    t.say("write", clEnqueueWriteBufferRect(s.queue, memory, CL_TRUE, buffer_origin, host_origin, region, 16, 128, 20,
                                            200, host.data(), 0, nullptr, nullptr));
    t.data("after write", contents(s, memory, 1024));
    std::vector<unsigned char> back(1024, 0);
    t.say("read", clEnqueueReadBufferRect(s.queue, memory, CL_TRUE, buffer_origin, host_origin, region, 16, 128, 12, 60,
                                          back.data(), 0, nullptr, nullptr));
    t.data("read back", back);
    const std::size_t none[3] = {5, 0, 2};
    t.say("empty region", clEnqueueReadBufferRect(s.queue, memory, CL_TRUE, buffer_origin, host_origin, none, 16, 128,
                                                  12, 60, back.data(), 0, nullptr, nullptr));
    t.say("pitch too small", clEnqueueReadBufferRect(s.queue, memory, CL_TRUE, buffer_origin, host_origin, region, 4,
                                                     128, 12, 60, back.data(), 0, nullptr, nullptr));
    const std::size_t far[3] = {4, 1, 100};
    t.say("outside", clEnqueueReadBufferRect(s.queue, memory, CL_TRUE, far, host_origin, region, 16, 128, 12, 60,
                                             back.data(), 0, nullptr, nullptr));
    const std::size_t to[3] = {0, 20, 0};
    t.say("copy", clEnqueueCopyBufferRect(s.queue, memory, memory, buffer_origin, to, region, 16, 128, 16, 128, 0,
                                          nullptr, nullptr));
    const std::size_t near[3] = {5, 1, 1};
    t.say("copy onto itself", clEnqueueCopyBufferRect(s.queue, memory, memory, buffer_origin, near, region, 16, 128, 16,
                                                      128, 0, nullptr, nullptr));
    t.data("after copy", contents(s, memory, 1024));
    clReleaseMemObject(memory);
  });
}

TEST(Buffer, CopiesAndFillsHaveTheSameErrorsAndData) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_mem a = buffer(s, 256), b = buffer(s, 128);
    const auto bytes = counted(256);
    clEnqueueWriteBuffer(s.queue, a, CL_TRUE, 0, 256, bytes.data(), 0, nullptr, nullptr);
    const auto copy = [&](cl_mem from, cl_mem to, std::size_t x, std::size_t y, std::size_t n) {
      return clEnqueueCopyBuffer(s.queue, from, to, x, y, n, 0, nullptr, nullptr);
    };
    t.say("copy", copy(a, b, 100, 0, 128));
    t.say("too much", copy(a, b, 200, 0, 128));
    t.say("too far", copy(a, b, 0, 100, 64));
    t.say("overlap", copy(a, a, 0, 10, 64));
    t.say("beside", copy(a, a, 0, 64, 64));
    t.data("b", contents(s, b, 128));
    const unsigned pattern = 0x01020304;
    t.say("fill", clEnqueueFillBuffer(s.queue, a, &pattern, 4, 8, 32, 0, nullptr, nullptr));
    // NVIDIA's driver accepts an unaligned offset and fills other bytes, so these have a buffer of their own.
    cl_mem c = buffer(s, 256);
    const auto fill = [&](const void* p, std::size_t size, std::size_t offset, std::size_t n) {
      return clEnqueueFillBuffer(s.queue, c, p, size, offset, n, 0, nullptr, nullptr);
    };
    t.say("unaligned offset", fill(&pattern, 4, 6, 32));
    t.say("unaligned size", fill(&pattern, 4, 8, 30));
    t.say("odd pattern", fill(&pattern, 3, 0, 30));
    t.say("outside", fill(&pattern, 4, 240, 32));
    t.data("a", contents(s, a, 256));
    for (cl_mem m : {a, b, c}) clReleaseMemObject(m);
  });
}

TEST(Buffer, SubBuffersHaveTheSameErrorsAndData) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_mem parent = buffer(s, 1024, CL_MEM_READ_ONLY);
    const auto make = [&](cl_mem of, cl_mem_flags flags, std::size_t origin, std::size_t size) {
      const cl_buffer_region region{origin, size};
      cl_int status = 1;
      cl_mem sub = clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
      t.say("sub " + std::to_string(origin) + "+" + std::to_string(size), status);
      return sub;
    };
    cl_mem sub = make(parent, 0, 128, 256);
    make(parent, 0, 100, 256);
    make(parent, 0, 128, 1024);
    make(parent, 0, 128, 0);
    make(parent, CL_MEM_WRITE_ONLY, 128, 256);
    make(parent, CL_MEM_USE_HOST_PTR, 128, 256);
    make(sub, 0, 0, 128);
    make(nullptr, 0, 0, 128);
    const auto bytes = counted(256, 9);
    t.say("write", clEnqueueWriteBuffer(s.queue, sub, CL_TRUE, 0, 256, bytes.data(), 0, nullptr, nullptr));
    std::vector<unsigned char> back(256);
    t.say("read", clEnqueueReadBuffer(s.queue, parent, CL_TRUE, 128, 256, back.data(), 0, nullptr, nullptr));
    t.data("parent", back);
    std::size_t offset = 0;
    clGetMemObjectInfo(sub, CL_MEM_OFFSET, sizeof offset, &offset, nullptr);
    t.say("offset", static_cast<long long>(offset));
    cl_mem above = nullptr;
    clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof above, &above, nullptr);
    t.say("associated", above == parent ? "parent" : "other");
    cl_mem_flags flags = 0;
    clGetMemObjectInfo(sub, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
    t.say("flags", static_cast<long long>(flags));
    clReleaseMemObject(sub);
    clReleaseMemObject(parent);
  });
}

TEST(Buffer, MapsHaveTheSameData) {
  same_on_both([](const Side& s, Transcript& t) {
    auto own = counted(512, 50);
    for (cl_mem memory : {buffer(s, 512), buffer(s, 512, CL_MEM_USE_HOST_PTR, own.data())}) {
      const auto bytes = counted(512);
      clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, 0, 512, bytes.data(), 0, nullptr, nullptr);
      cl_int status = 1;
      auto* at = static_cast<unsigned char*>(clEnqueueMapBuffer(s.queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                                                64, 128, 0, nullptr, nullptr, &status));
      t.say("map", status);
      ASSERT_NE(at, nullptr);
      t.data("mapped", std::vector<unsigned char>(at, at + 128));
      cl_uint count = 0;
      clGetMemObjectInfo(memory, CL_MEM_MAP_COUNT, sizeof count, &count, nullptr);
      t.say("count", count);
      std::memset(at, 7, 64);
      t.say("unmap", clEnqueueUnmapMemObject(s.queue, memory, at, 0, nullptr, nullptr));
      t.say("finish", clFinish(s.queue));
      t.data("after", contents(s, memory, 512));
      t.say("unmap again", clEnqueueUnmapMemObject(s.queue, memory, at, 0, nullptr, nullptr));
      clEnqueueMapBuffer(s.queue, memory, CL_TRUE, CL_MAP_READ, 500, 128, 0, nullptr, nullptr, &status);
      t.say("map outside", status);
      clReleaseMemObject(memory);
    }
    cl_mem closed = buffer(s, 64, CL_MEM_HOST_NO_ACCESS);
    std::vector<unsigned char> bytes(64);
    t.say("no access", clEnqueueReadBuffer(s.queue, closed, CL_TRUE, 0, 64, bytes.data(), 0, nullptr, nullptr));
    clReleaseMemObject(closed);
  });
}

// A transfer larger than the staging area, blocking and non-blocking.
TEST(Buffer, LargeTransfersAreComplete) {
  same_on_both([](const Side& s, Transcript& t) {
    constexpr std::size_t kSize = 80 << 20;
    cl_mem memory = buffer(s, kSize);
    std::vector<unsigned> out(kSize / 4), back(kSize / 4);
    std::iota(out.begin(), out.end(), 5U);
    t.say("write", clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, 0, kSize, out.data(), 0, nullptr, nullptr));
    t.say("read", clEnqueueReadBuffer(s.queue, memory, CL_FALSE, 0, kSize, back.data(), 0, nullptr, nullptr));
    t.say("finish", clFinish(s.queue));
    t.say("same", back == out ? 1 : 0);
    std::fill(back.begin(), back.end(), 0U);
    out[7] = 1234;
    t.say("write", clEnqueueWriteBuffer(s.queue, memory, CL_FALSE, 0, kSize, out.data(), 0, nullptr, nullptr));
    t.say("read", clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, kSize, back.data(), 0, nullptr, nullptr));
    t.say("same", back == out ? 1 : 0);
    clReleaseMemObject(memory);
  });
}

// A write from host memory that an earlier read has not filled yet must send the data of that read. Not compared with
// the native driver: NVIDIA's copies the data of a small write when it is called.
TEST(Buffer, AWriteSendsTheDataOfAnEarlierRead) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_mem a = buffer(s, 256), b = buffer(s, 256);
    const auto bytes = counted(256, 11);
    clEnqueueWriteBuffer(s.queue, a, CL_TRUE, 0, 256, bytes.data(), 0, nullptr, nullptr);
    std::vector<unsigned char> between(256);
    clEnqueueReadBuffer(s.queue, a, CL_FALSE, 0, 256, between.data(), 0, nullptr, nullptr);
    clEnqueueWriteBuffer(s.queue, b, CL_FALSE, 0, 256, between.data(), 0, nullptr, nullptr);
    const auto arrived = contents(s, b, 256);
    t.say("bytes", static_cast<long long>(arrived.size()));
    EXPECT_TRUE(!s.ours || arrived == bytes);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
  });
}

}  // namespace
}  // namespace wm::runtime::test

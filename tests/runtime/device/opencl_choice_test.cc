// The device of several OpenCL platforms that is chosen, and the probe of its compiler.
#include <cstring>
#include <gtest/gtest.h>

#include "runtime/device/cuda/front_end.h"
#include "runtime/device/null_opencl.h"
#include "runtime/device/opencl_gpu.h"

namespace wm::runtime::test {
namespace {

struct Platform {
  std::string name, vendor;
  std::vector<std::string> devices;
  cl_int status = CL_SUCCESS;  // answers the question for its devices
};

// A driver with platforms of the test's choice. A platform's handle is its place, and a device's is a name.
class Platforms final : public Native {
 public:
  explicit Platforms(std::vector<Platform> platforms) {
    all() = std::move(platforms);
    cl.GetPlatformIDs = [](cl_uint room, cl_platform_id* to, cl_uint* count) -> cl_int {
      if (all().empty()) return -1001;  // and says no number
      if (count != nullptr) *count = static_cast<cl_uint>(all().size());
      for (cl_uint i = 0; to != nullptr && i < room; ++i) to[i] = reinterpret_cast<cl_platform_id>(&all().at(i));
      return CL_SUCCESS;
    };
    cl.GetPlatformInfo = [](cl_platform_id id, cl_platform_info name, std::size_t room, void* value,
                            std::size_t* needed) {
      const Platform& p = *reinterpret_cast<const Platform*>(id);
      return tell(name == CL_PLATFORM_NAME ? p.name : p.vendor, room, value, needed);
    };
    cl.GetDeviceIDs = [](cl_platform_id id, cl_device_type, cl_uint room, cl_device_id* to, cl_uint* count) -> cl_int {
      Platform& p = *reinterpret_cast<Platform*>(id);
      if ((room == 0) != (to == nullptr)) return CL_INVALID_VALUE;
      if (count != nullptr) *count = static_cast<cl_uint>(p.devices.size());
      for (cl_uint i = 0; i < room; ++i) to[i] = reinterpret_cast<cl_device_id>(&p.devices.at(i));
      return p.status;
    };
    cl.GetDeviceInfo = [](cl_device_id id, cl_device_info, std::size_t room, void* value, std::size_t* needed) {
      return tell(*reinterpret_cast<const std::string*>(id), room, value, needed);
    };
  }
  // The chosen device as "platform: device", or the error.
  std::string chosen(const std::string& text) {
    const auto result = choose(text);
    if (!result) return result.error().what;
    return platform_name() + ": " + this->text(CL_DEVICE_NAME);
  }

 private:
  static std::vector<Platform>& all() {
    static std::vector<Platform> platforms;
    return platforms;
  }
  static cl_int tell(const std::string& text, std::size_t room, void* value, std::size_t* needed) {
    if (text == "silent") return CL_INVALID_VALUE;
    const std::size_t size = text == "empty" ? 0 : text.size() + 1;
    if (needed != nullptr) *needed = size;
    if (value != nullptr && room >= size) std::memcpy(value, text.c_str(), size);
    return CL_SUCCESS;
  }
};

const std::vector<Platform> kTwo = {{"First", "Some Vendor", {"small", "Large"}},
                                    {"Portable Computing Language", "The pocl project", {"cpu-neoverse"}}};

TEST(OpenClChoice, TheFirstDeviceWhoseNamesContainTheText) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "First: small"},
      {"large", "First: Large"},
      {"FIRST: L", "First: Large"},
      {"vendor", "First: small"},
      {"portable", "Portable Computing Language: cpu-neoverse"},
      {"pocl", "Portable Computing Language: cpu-neoverse"},
      {"neoverse", "Portable Computing Language: cpu-neoverse"},
      {"other",
       "no OpenCL device named 'other' (there is 'First: small', 'First: Large', "
       "'Portable Computing Language: cpu-neoverse')"}};
  for (const auto& [text, chosen] : rows) EXPECT_EQ(Platforms(kTwo).chosen(text), chosen) << text;
}

TEST(OpenClChoice, PlatformsWithoutDevicesAreNamedWhereThereIsNoOther) {
  const std::string hint =
      " offers none to this user (PoCL must be able to write its cache, POCL_CACHE_DIR or XDG_CACHE_HOME or ~/.cache)";
  const Platform without{"Empty", "v", {}}, failing{"Failing", "v", {"hidden"}, CL_DEVICE_NOT_FOUND};
  EXPECT_EQ(Platforms({}).chosen(""), "no OpenCL device here");
  EXPECT_EQ(Platforms({without}).chosen(""), "no OpenCL device here: 'Empty'" + hint);
  EXPECT_EQ(Platforms({without, failing}).chosen(""), "no OpenCL device here: 'Empty', 'Failing'" + hint);
  EXPECT_EQ(Platforms({without, failing, kTwo[0]}).chosen("large"), "First: Large");
  EXPECT_EQ(Platforms({failing, kTwo[0]}).chosen("x"),
            "no OpenCL device named 'x' (there is 'First: small', 'First: Large')");
}

TEST(OpenClChoice, ADriverWithoutNamesIsUsable) {
  EXPECT_EQ(Platforms({{"silent", "empty", {"d"}}}).chosen("d"), ": d");
  EXPECT_EQ(Platforms({{"empty", "silent", {"silent"}}}).chosen(""), ": ");
  EXPECT_EQ(Platforms({{"", "", {"empty"}}}).chosen(""), ": ");
}

// --- What the name of a platform and the type of its device mean.

// The driver that computes nothing, with another name.
std::unique_ptr<Native> named(const char* name, bool cpu) {
  static std::string platform;
  platform = name;
  auto native = null_opencl(cpu);
  native->cl.GetPlatformInfo = [](cl_platform_id, cl_platform_info, std::size_t room, void* value,
                                  std::size_t* needed) -> cl_int {
    if (needed != nullptr) *needed = platform.size() + 1;
    if (value != nullptr && room > platform.size()) std::memcpy(value, platform.c_str(), platform.size() + 1);
    return CL_SUCCESS;
  };
  return native;
}

TEST(OpenClPlatform, TellsWhetherKernelsAreCompiledAtLaunchAndWhetherRegistersAreReported) {
  struct Row {
    const char* name;
    bool cpu, compiles_at_launch, reports_registers;
  };
  for (const Row& row : {Row{"Portable Computing Language", true, true, false},
                         Row{"Portable Computing Language", false, false, false}, Row{"Other", true, false, false},
                         Row{"NVIDIA CUDA", false, false, true}, Row{"Not NVIDIA", false, false, false}}) {
    const OpenClGpu gpu(named(row.name, row.cpu));
    EXPECT_EQ(gpu.capabilities().compiles_at_launch, row.compiles_at_launch) << row.name;
    EXPECT_EQ(gpu.capabilities().reports_registers, row.reports_registers) << row.name;
  }
}

TEST(OpenClPlatform, OnlyNvidiasCompilerMakesPtx) {
  EXPECT_EQ(cuda::make_nvidia_opencl(named("Not NVIDIA", false)).error().what, "no OpenCL of NVIDIA here");
  const auto compiler = cuda::make_nvidia_opencl(named("NVIDIA CUDA", false));
  ASSERT_TRUE(compiler.ok());
  EXPECT_EQ((*compiler)->platform_name(), "NVIDIA CUDA");
  EXPECT_TRUE((*compiler)->reports_registers());
  EXPECT_FALSE((*compiler)->always_argument_info()) << "this one makes no probe";
}

TEST(OpenClPlatform, NvidiasCompilerHasImages) {
  EXPECT_TRUE((*cuda::make_nvidia_opencl(named("NVIDIA CUDA", false)))->has_images());
}

TEST(OpenClPlatform, NvidiasCompilerIsAskedForTheFirstParameterOfAProbe) {
  struct Row {
    bool builds, tells, answer;
  };
  for (const Row& row : {Row{true, true, true}, Row{false, true, false}, Row{true, false, false}}) {
    static bool builds, tells;
    builds = row.builds;
    tells = row.tells;
    auto native = named("NVIDIA CUDA", false);
    static decltype(NativeCalls::CreateKernel) create;
    create = native->cl.CreateKernel;
    native->cl.CreateKernel = [](cl_program program, const char*, cl_int* status) {
      return create(program, "k", status);
    };
    native->cl.BuildProgram = [](cl_program, cl_uint, const cl_device_id*, const char*,
                                 void(CL_CALLBACK*)(cl_program, void*),
                                 void*) { return builds ? cl_int{CL_SUCCESS} : cl_int{CL_BUILD_PROGRAM_FAILURE}; };
    native->cl.GetKernelArgInfo = [](cl_kernel, cl_uint index, cl_kernel_arg_info, std::size_t, void*,
                                     std::size_t* needed) -> cl_int {
      if (needed != nullptr) *needed = 4;
      return tells && index == 0 ? CL_SUCCESS : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    };
    EXPECT_EQ((*cuda::make_nvidia_opencl(std::move(native)))->always_argument_info(), row.answer);
  }
}

// --- The probe: a kernel that writes 1 to the probe's memory.

struct ProbedGpu : testing::Test {
  ProbedGpu() {
    native = null_opencl(false);
    create() = native->cl.CreateKernel;
    released() = 0;
    static decltype(NativeCalls::ReleaseKernel) release;
    release = native->cl.ReleaseKernel;
    native->cl.CreateKernel = [](cl_program program, const char* name, cl_int* status) {
      return create()(program, std::strcmp(name, "probe") == 0 ? "k" : name, status);
    };
    native->cl.ReleaseKernel = [](cl_kernel kernel) {
      ++released();
      return release(kernel);
    };
  }
  static decltype(NativeCalls::CreateKernel)& create() {
    static decltype(NativeCalls::CreateKernel) original;
    return original;
  }
  static int& released() {
    static int count;
    return count;
  }
  // Whether the device answers after its compiler was probed.
  bool is_alive() {
    OpenClGpu gpu(std::move(native));
    EXPECT_TRUE(gpu.is_alive()) << "without a probe a write is enough";
    gpu.probe_compiler();
    return gpu.is_alive() && gpu.is_alive();
  }
  std::unique_ptr<Native> native;
};

TEST_F(ProbedGpu, IsAliveWhileTheProbeWritesItsResult) {
  EXPECT_TRUE(is_alive());
  EXPECT_EQ(released(), 1);
}

TEST_F(ProbedGpu, IsNotAliveWhereTheProbeWritesNothing) {
  native->cl.EnqueueNDRangeKernel = [](cl_command_queue, cl_kernel, cl_uint, const std::size_t*, const std::size_t*,
                                       const std::size_t*, cl_uint, const cl_event*,
                                       cl_event*) { return cl_int{CL_SUCCESS}; };
  EXPECT_FALSE(is_alive());
}

TEST_F(ProbedGpu, IsNotAliveWhereTheProbeCannotBeLaunched) {
  static decltype(NativeCalls::EnqueueNDRangeKernel) launch;
  launch = native->cl.EnqueueNDRangeKernel;
  native->cl.EnqueueNDRangeKernel = [](cl_command_queue q, cl_kernel k, cl_uint d, const std::size_t* o,
                                       const std::size_t* g, const std::size_t* l, cl_uint n, const cl_event* after,
                                       cl_event* event) {
    launch(q, k, d, o, g, l, n, after, event);
    return cl_int{CL_OUT_OF_RESOURCES};
  };
  EXPECT_FALSE(is_alive());
}

TEST_F(ProbedGpu, IsNotAliveWhereTheResultCannotBeRead) {
  static decltype(NativeCalls::EnqueueReadBuffer) read;
  read = native->cl.EnqueueReadBuffer;
  native->cl.EnqueueReadBuffer = [](cl_command_queue q, cl_mem m, cl_bool wait, std::size_t at, std::size_t size,
                                    void* to, cl_uint n, const cl_event* after, cl_event* event) {
    read(q, m, wait, at, size, to, n, after, event);
    return cl_int{CL_OUT_OF_RESOURCES};
  };
  EXPECT_FALSE(is_alive());
}

// Its argument is the only one: a driver that refuses it leaves nothing to launch.
TEST_F(ProbedGpu, AProbeWithoutItsArgumentIsNotLaunched) {
  static int asked;
  asked = -1;
  native->cl.SetKernelArg = [](cl_kernel, cl_uint index, std::size_t, const void*) {
    asked = static_cast<int>(index);
    return cl_int{CL_INVALID_ARG_INDEX};
  };
  EXPECT_TRUE(is_alive());
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(released(), 1) << "at once";
}

}  // namespace
}  // namespace wm::runtime::test

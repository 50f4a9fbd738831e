// The dispatch table has every function of OpenCL 1.2 to 3.0, and the queries of newer versions are consistent.
#include <CL/cl_icd.h>
#include <array>
#include <cstring>

#include "runtime/conformance/sides.h"

namespace wm::runtime::test {
namespace {

// clang-format off
#define WM_OPENCL_12(X)                                                                                                \
  X(GetPlatformIDs)                                                                                                    \
  X(GetPlatformInfo)                                                                                                   \
  X(GetDeviceIDs) X(GetDeviceInfo) X(CreateContext) X(CreateContextFromType) X(RetainContext) X(ReleaseContext)        \
      X(GetContextInfo) X(CreateCommandQueue) X(RetainCommandQueue) X(ReleaseCommandQueue) X(GetCommandQueueInfo) X(   \
          SetCommandQueueProperty) X(CreateBuffer) X(CreateImage2D) X(CreateImage3D) X(RetainMemObject)                \
          X(ReleaseMemObject) X(GetSupportedImageFormats) X(GetMemObjectInfo) X(GetImageInfo) X(CreateSampler) X(      \
              RetainSampler) X(ReleaseSampler) X(GetSamplerInfo) X(CreateProgramWithSource) X(CreateProgramWithBinary) \
              X(RetainProgram) X(ReleaseProgram) X(BuildProgram) X(UnloadCompiler) X(GetProgramInfo)                   \
                  X(GetProgramBuildInfo) X(CreateKernel) X(CreateKernelsInProgram) X(RetainKernel) X(ReleaseKernel) X( \
                      SetKernelArg) X(GetKernelInfo) X(GetKernelWorkGroupInfo) X(WaitForEvents) X(GetEventInfo)        \
                      X(RetainEvent) X(ReleaseEvent) X(GetEventProfilingInfo) X(Flush) X(Finish) X(EnqueueReadBuffer)  \
                          X(EnqueueWriteBuffer) X(EnqueueCopyBuffer) X(EnqueueReadImage) X(EnqueueWriteImage) X(       \
                              EnqueueCopyImage) X(EnqueueCopyImageToBuffer) X(EnqueueCopyBufferToImage)                \
                              X(EnqueueMapBuffer) X(EnqueueMapImage) X(EnqueueUnmapMemObject) X(EnqueueNDRangeKernel)  \
                                  X(EnqueueTask) X(EnqueueNativeKernel) X(EnqueueMarker) X(EnqueueWaitForEvents)       \
                                      X(EnqueueBarrier) X(GetExtensionFunctionAddress) X(SetEventCallback)             \
                                          X(CreateSubBuffer) X(SetMemObjectDestructorCallback) X(CreateUserEvent)      \
                                              X(SetUserEventStatus) X(EnqueueReadBufferRect) X(EnqueueWriteBufferRect) \
                                                  X(EnqueueCopyBufferRect) X(CreateSubDevices) X(RetainDevice) X(      \
                                                      ReleaseDevice) X(CreateImage) X(CreateProgramWithBuiltInKernels) \
                                                      X(CompileProgram) X(LinkProgram) X(UnloadPlatformCompiler)       \
                                                          X(GetKernelArgInfo) X(EnqueueFillBuffer) X(EnqueueFillImage) \
                                                              X(EnqueueMigrateMemObjects) X(EnqueueMarkerWithWaitList) \
                                                                  X(EnqueueBarrierWithWaitList)                        \
                                                                      X(GetExtensionFunctionAddressForPlatform)
#define WM_OPENCL_30(X)                                                                                               \
  X(CreateCommandQueueWithProperties)                                                                                 \
  X(CreatePipe)                                                                                                       \
  X(GetPipeInfo) X(SVMAlloc) X(SVMFree) X(EnqueueSVMFree) X(EnqueueSVMMemcpy) X(EnqueueSVMMemFill) X(EnqueueSVMMap)   \
      X(EnqueueSVMUnmap) X(CreateSamplerWithProperties) X(SetKernelArgSVMPointer) X(SetKernelExecInfo) X(CloneKernel) \
          X(CreateProgramWithIL) X(EnqueueSVMMigrateMem) X(GetDeviceAndHostTimer) X(GetHostTimer)                     \
              X(GetKernelSubGroupInfo) X(SetDefaultDeviceCommandQueue) X(SetProgramReleaseCallback)                   \
                  X(SetProgramSpecializationConstant) X(CreateBufferWithProperties) X(CreateImageWithProperties)      \
                      X(SetContextDestructorCallback)
// clang-format on

TEST(Table, HasEveryFunction) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true);
  ASSERT_NE(s.queue, nullptr);
  const cl_icd_dispatch* table = nullptr;
  std::memcpy(&table, s.device, sizeof table);  // every object begins with it
  int count = 0;
#define WM_FILLED(name)                                                        \
  EXPECT_NE(reinterpret_cast<const void*>(table->cl##name), nullptr) << #name; \
  ++count;
  WM_OPENCL_12(WM_FILLED)
  EXPECT_EQ(count, 89);
  WM_OPENCL_30(WM_FILLED)
#undef WM_FILLED
  close_side(s);
}

template <typename T>
std::vector<T> list_of(cl_device_id device, cl_device_info name) {
  std::size_t size = 0;
  if (clGetDeviceInfo(device, name, 0, nullptr, &size) != CL_SUCCESS) return {};
  std::vector<T> all(size / sizeof(T));
  clGetDeviceInfo(device, name, size, all.data(), nullptr);
  return all;
}

template <typename T>
T one_of(cl_device_id device, cl_device_info name) {
  T value{};
  clGetDeviceInfo(device, name, sizeof value, &value, nullptr);
  return value;
}

// A language feature that needs unsupported API functions is not listed.
TEST(Table, QueriesOfNewerVersionsAreConsistent) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true), native = open_side(false);
  ASSERT_NE(s.queue, nullptr);
  const auto features = list_of<cl_name_version>(s.device, CL_DEVICE_OPENCL_C_FEATURES);
  const auto has = [&](const char* name) {
    return std::any_of(features.begin(), features.end(), [&](const auto& f) { return std::string(f.name) == name; });
  };
  EXPECT_FALSE(has("__opencl_c_pipes"));
  EXPECT_FALSE(has("__opencl_c_device_enqueue"));
  EXPECT_FALSE(has("__opencl_c_subgroups"));
  EXPECT_EQ(one_of<cl_uint>(s.device, CL_DEVICE_MAX_NUM_SUB_GROUPS), 0U);
  EXPECT_EQ(one_of<cl_bool>(s.device, CL_DEVICE_PIPE_SUPPORT), CL_FALSE);
  EXPECT_EQ(one_of<cl_ulong>(s.device, CL_DEVICE_SVM_CAPABILITIES), 0U);
  EXPECT_EQ(one_of<cl_ulong>(s.device, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES), 0U);
  // Features of the device itself are those that the native driver lists.
  const auto versions = [](cl_device_id d) { return list_of<cl_name_version>(d, CL_DEVICE_OPENCL_C_ALL_VERSIONS); };
  const auto ours = versions(s.device), theirs = versions(native.device);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i].version, theirs[i].version);
  for (const cl_device_info name :
       {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, CL_DEVICE_NUMERIC_VERSION,
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT,
        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT}) {
    EXPECT_EQ(one_of<cl_ulong>(s.device, name), one_of<cl_ulong>(native.device, name)) << std::hex << name;
  }
  // Extensions as a string and as a list are the same.
  const auto text = list_of<char>(s.device, CL_DEVICE_EXTENSIONS);
  const auto listed = list_of<cl_name_version>(s.device, CL_DEVICE_EXTENSIONS_WITH_VERSION);
  const std::string words(text.data());
  EXPECT_EQ(static_cast<std::size_t>(std::count(words.begin(), words.end(), ' ')) + (words.empty() ? 0 : 1),
            theirs.empty() ? 0U : listed.size());
  for (const auto& e : listed) EXPECT_NE(words.find(e.name), std::string::npos) << e.name;
  close_side(native);
  close_side(s);
}

}  // namespace
}  // namespace wm::runtime::test

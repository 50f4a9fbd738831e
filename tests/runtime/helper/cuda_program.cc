// A CUDA program as an application is: it opens libcuda.so.1 by name and knows the driver API from its own
// declarations.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace {

constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u32 n)
{
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;
mul.wide.u32 %d1, %r4, 4; ld.param.u64 %d2, [a]; ld.param.u64 %d3, [b];
add.s64 %d2, %d2, %d1; add.s64 %d3, %d3, %d1;
ld.global.u32 %r6, [%d2]; ld.global.u32 %r7, [%d3]; add.u32 %r6, %r6, %r7; st.global.u32 [%d3], %r6;
ret;
})";

void* library = nullptr;

// Calls a function of the driver; an error ends the program.
template <typename... Arguments>
void cu(const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  const int result = function == nullptr ? -1 : function(arguments...);
  if (result == 0) return;
  std::printf("%s: %d\n", name, result);
  std::exit(1);
}

}  // namespace

int main() {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::printf("no driver: %s\n", dlerror());
    return 1;
  }
  int device = 0;
  void *context = nullptr, *module = nullptr, *function = nullptr;
  char name[100];
  cu("cuInit", 0U);
  cu("cuDeviceGet", &device, 0);
  cu("cuDeviceGetName", static_cast<char*>(name), 100, device);
  cu("cuDevicePrimaryCtxRetain", &context, device);
  cu("cuCtxSetCurrent", context);
  cu("cuModuleLoadData", &module, static_cast<const void*>(kPtx));
  cu("cuModuleGetFunction", &function, module, "add");
  unsigned n = 5000;
  std::vector<unsigned> values(n, 20);
  unsigned long long a = 0, b = 0;
  cu("cuMemAlloc_v2", &a, std::size_t{n} * 4);
  cu("cuMemAlloc_v2", &b, std::size_t{n} * 4);
  cu("cuMemcpyHtoD_v2", a, static_cast<const void*>(values.data()), std::size_t{n} * 4);
  cu("cuMemsetD32_v2", b, 3U, std::size_t{n});
  void* parameters[] = {&a, &b, &n};
  cu("cuLaunchKernel", function, 20U, 1U, 1U, 256U, 1U, 1U, 0U, static_cast<void*>(nullptr),
     static_cast<void**>(parameters), static_cast<void**>(nullptr));
  cu("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), b, std::size_t{n} * 4);
  for (const unsigned v : values) {
    if (v != 23) return 1;
  }
  std::printf("%s: correct\n", name);
  return 0;
}

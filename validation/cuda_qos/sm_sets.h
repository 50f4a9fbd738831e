// Streams on sets of SMs, for the time of a task on all groups of 4 SMs but some.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <vector>

namespace tasks {

inline void check_driver(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "tasks: %s: error %d\n", what, static_cast<int>(result));
  std::_Exit(1);
}

// As the driver cuts them.
inline std::vector<CUdevResource> groups_of_sms(unsigned sms) {
  constexpr unsigned kIgnoreCoscheduling = 1;
  CUdevResource all{}, rest{};
  std::vector<CUdevResource> groups(128);
  unsigned count = 128;
  check_driver(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource");
  check_driver(cuDevSmResourceSplitByCount(groups.data(), &count, &all, &rest, kIgnoreCoscheduling, sms),
               "cuDevSmResourceSplitByCount");
  groups.resize(count);
  return groups;
}

// A stream in a green context of all groups but these.
class StreamWithout {
 public:
  StreamWithout(const std::vector<CUdevResource>& groups, const std::vector<std::size_t>& missing) {
    std::vector<CUdevResource> chosen;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (std::find(missing.begin(), missing.end(), i) == missing.end()) chosen.push_back(groups[i]);
    }
    CUdevResourceDesc description = nullptr;
    check_driver(cuDevResourceGenerateDesc(&description, chosen.data(), static_cast<unsigned>(chosen.size())),
                 "cuDevResourceGenerateDesc");
    check_driver(cuGreenCtxCreate(&context_, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
    check_driver(cuGreenCtxStreamCreate(&stream_, context_, CU_STREAM_NON_BLOCKING, 0), "cuGreenCtxStreamCreate");
  }
  ~StreamWithout() {
    cuStreamDestroy(stream_);
    cuGreenCtxDestroy(context_);
  }
  StreamWithout(const StreamWithout&) = delete;
  StreamWithout& operator=(const StreamWithout&) = delete;
  [[nodiscard]] CUstream get() const { return stream_; }

 private:
  CUgreenCtx context_ = nullptr;
  CUstream stream_ = nullptr;
};

}  // namespace tasks

#include "runtime/client/forward/green_contexts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

constexpr unsigned kMaxGroups = 64;
// Splits in steps of two SMs. Larger groups hold SMs of one cluster, and clusters of blocks are not placed.
constexpr unsigned kIgnoreCoscheduling = 1;

// Orders groups of equal size as policies count them. The driver cuts the groups from one GPC after the other, and the
// last ones from what is left of several. On one of two H200s kernels were 1 to 2% slower on a set that lacks one of
// the last groups, or neighbours, than on one that lacks others (`validation/cuda_qos/tasks.cu sets`). Policies leave
// out the last ones of this order first, which are of different GPCs.
std::vector<CUdevResource> spread(const std::vector<CUdevResource>& cut) {
  const std::size_t spread_count = cut.size() - cut.size() / 8;
  std::size_t stride = std::max<std::size_t>(spread_count / 3, 1);
  while (std::gcd(stride, spread_count) != 1) ++stride;
  std::vector<CUdevResource> ordered(cut.begin() + static_cast<std::ptrdiff_t>(spread_count), cut.end());
  for (std::size_t i = spread_count; i-- > 0;) ordered.push_back(cut[i * stride % spread_count]);
  return ordered;
}

bool can_create() {
  const RealFunctions& f = real();
  return f.cuDeviceGetDevResource != nullptr && f.cuDevSmResourceSplitByCount != nullptr &&
         f.cuDevResourceGenerateDesc != nullptr && f.cuGreenCtxCreate != nullptr && f.cuGreenCtxDestroy != nullptr &&
         f.cuGreenCtxStreamCreate != nullptr;
}

}  // namespace

AllowedInCaptures::AllowedInCaptures() {
  if (const auto exchange = real().cuThreadExchangeStreamCaptureMode) (void)exchange(&mode_);
}

AllowedInCaptures::~AllowedInCaptures() {
  if (const auto exchange = real().cuThreadExchangeStreamCaptureMode) (void)exchange(&mode_);
}

GreenContexts& GreenContexts::get() {
  static auto* only = new GreenContexts;
  return *only;
}

void GreenContexts::primary_retained(CUdevice device, CUcontext context) {
  if (device != kDevice) return;
  const std::lock_guard lock(mutex_);
  if (primary_ != context) forget_locked();
  primary_ = context;
  ++retained_;
}

void GreenContexts::primary_released(CUdevice device) {
  std::map<std::uint64_t, CUgreenCtx> ended;
  {
    const std::lock_guard lock(mutex_);
    if (device != kDevice || retained_ == 0 || --retained_ != 0) return;
    ended = contexts_;
    forget_locked();
  }
  for (const auto& [groups, context] : ended) (void)real().cuGreenCtxDestroy(context);
}

void GreenContexts::forget(CUdevice device) {
  if (device != kDevice) return;
  const std::lock_guard lock(mutex_);
  forget_locked();
}

void GreenContexts::forget_locked() {
  contexts_.clear();
  last_ = 0;
  retained_ = 0;
  primary_ = nullptr;
  ++generation_;
}

bool GreenContexts::split(std::uint32_t sms_of_group) {
  if (sms_of_group_ == sms_of_group) return !groups_.empty();
  sms_of_group_ = sms_of_group;
  CUdevResource all{}, rest{};
  std::vector<CUdevResource> groups(kMaxGroups - 1);
  unsigned count = kMaxGroups - 1;
  const unsigned flags = sms_of_group % 8 == 0 ? 0 : kIgnoreCoscheduling;
  if (real().cuDeviceGetDevResource(kDevice, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
      real().cuDevSmResourceSplitByCount(groups.data(), &count, &all, &rest, flags, sms_of_group) != CUDA_SUCCESS)
    return false;
  groups.resize(count);
  groups = spread(groups);
  if (rest.sm.smCount != 0) groups.push_back(rest);
  groups_ = std::move(groups);
  return true;
}

void GreenContexts::prepare(std::uint64_t groups, std::uint32_t sms_of_group) {
  std::vector<CUdevResource> chosen;
  std::uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    if (groups == 0 || primary_ == nullptr || contexts_.contains(groups) || !can_create() || !split(sms_of_group))
      return;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if ((groups >> i & 1U) != 0) chosen.push_back(groups_[i]);
    }
    generation = generation_;
  }
  const AllowedInCaptures allowed;
  CUdevResourceDesc description = nullptr;
  CUgreenCtx context = nullptr;
  if (chosen.empty() ||
      real().cuDevResourceGenerateDesc(&description, chosen.data(), static_cast<unsigned>(chosen.size())) !=
          CUDA_SUCCESS ||
      real().cuGreenCtxCreate(&context, description, kDevice, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
    return;
  {
    const std::lock_guard lock(mutex_);
    if (generation == generation_ && contexts_.emplace(groups, context).second) return;
  }
  (void)real().cuGreenCtxDestroy(context);  // the primary context has gone meanwhile
}

bool GreenContexts::is_current() const {
  CUcontext current = nullptr;
  const auto call = real().cuCtxGetCurrent;
  if (call == nullptr || call(&current) != CUDA_SUCCESS || current == nullptr) return false;
  const std::lock_guard lock(mutex_);
  return current == primary_;
}

GreenContexts::Set GreenContexts::find(std::uint64_t groups) {
  const std::lock_guard lock(mutex_);
  const auto at = contexts_.find(groups);
  if (at != contexts_.end()) last_ = groups;
  const auto used = contexts_.find(last_);
  return used == contexts_.end() ? Set{} : Set{used->first, used->second};
}

std::uint64_t GreenContexts::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

}  // namespace wm::forward

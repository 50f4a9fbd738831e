#include "runtime/daemon/units.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace wm::runtime {
namespace {

constexpr std::size_t kMostUnits = 1024;

// Every group notes where it is, and stays long enough for the others to go elsewhere.
const char* const kWhere = R"(
kernel void where(global uint* seen, volatile global uint* never) {
  uint unit;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
  if (get_local_id(0) == 0) seen[unit % 1024] = 1;
  for (uint i = 0; i < 200 && *never == 0; ++i) {}
})";

std::vector<std::uint32_t> ask_smid(const Native& native, std::size_t units) {
  const NativeCalls& cl = native.cl;
  std::vector<std::uint32_t> seen(kMostUnits, 0);
  const char* text = kWhere;
  const cl_program program = cl.CreateProgramWithSource(native.context, 1, &text, nullptr, nullptr);
  const cl_command_queue queue = cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
  const cl_mem memory = cl.CreateBuffer(native.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                        seen.size() * sizeof seen[0], seen.data(), nullptr);
  const cl_mem never =
      cl.CreateBuffer(native.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof seen[0], seen.data(), nullptr);
  cl_kernel kernel = nullptr;
  if (program != nullptr && cl.BuildProgram(program, 1, &native.device, "", nullptr, nullptr) == CL_SUCCESS) {
    kernel = cl.CreateKernel(program, "where", nullptr);
  }
  if (kernel != nullptr && queue != nullptr && memory != nullptr && never != nullptr) {
    const std::size_t local = 256, global = local * 8 * units;
    cl.SetKernelArg(kernel, 0, sizeof memory, &memory);
    cl.SetKernelArg(kernel, 1, sizeof never, &never);
    cl.EnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr);
    cl.EnqueueReadBuffer(queue, memory, CL_TRUE, 0, seen.size() * sizeof seen[0], seen.data(), 0, nullptr, nullptr);
  }
  if (kernel != nullptr) cl.ReleaseKernel(kernel);
  if (program != nullptr) cl.ReleaseProgram(program);
  if (memory != nullptr) cl.ReleaseMemObject(memory);
  if (never != nullptr) cl.ReleaseMemObject(never);
  if (queue != nullptr) cl.ReleaseCommandQueue(queue);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    if (seen[i] != 0) ids.push_back(i);
  }
  return ids;
}

}  // namespace

UnitsFound find_units(const Native& native) {
  if (native.in_host_memory()) return {};
  // A variable for tests: workers count as on that many units by their number; 0: they cannot tell.
  if (const char* pretended = std::getenv("WARPMUX_UNITS")) {
    const std::size_t count = std::min<std::size_t>(std::strtoul(pretended, nullptr, 10), kMostUnits);
    if (count == 0) return {};
    std::vector<std::uint32_t> ids(count);
    std::iota(ids.begin(), ids.end(), 0U);
    return {std::move(ids), " -DWM__UNITS=" + std::to_string(count)};
  }
  if (!native.platform_name().starts_with("NVIDIA")) return {};
  const std::size_t units = native.fact<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
  auto ids = ask_smid(native, units);
  if (ids.size() != units || units < 2) return {};  // some of them are not ours, or numbers do not mean what we think
  return {std::move(ids), " -DWM__SMID"};
}

Units::Units(std::vector<std::uint32_t> ids) : ids_(std::move(ids)) {
  if (known()) table_.assign(*std::max_element(ids_.begin(), ids_.end()) + 1, 0);
}

std::uint32_t Units::of(std::uint32_t tag) const {
  return static_cast<std::uint32_t>(std::count(table_.begin(), table_.end(), tag));
}

bool Units::divide(std::span<const Wish> wishes) {
  const auto before = table_;
  std::vector<std::uint32_t> have(wishes.size(), 0);
  for (const std::uint32_t id : ids_) {
    const auto wish = std::find_if(wishes.begin(), wishes.end(), [&](const Wish& w) { return w.tag == table_[id]; });
    const bool keeps = wish != wishes.end() && have[static_cast<std::size_t>(wish - wishes.begin())] < wish->units;
    if (keeps) ++have[static_cast<std::size_t>(wish - wishes.begin())];
    if (!keeps) table_[id] = 0;
  }
  auto free = ids_.begin();
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    for (; have[i] < wishes[i].units; ++have[i]) {
      free = std::find_if(free, ids_.end(), [&](std::uint32_t id) { return table_[id] == 0; });
      if (free == ids_.end()) return table_ != before;
      table_[*free] = wishes[i].tag;
    }
  }
  return table_ != before;
}

UnitTable::UnitTable(const Native& native, std::size_t entries) : native_(native) {
  if (entries == 0) return;
  queue_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
  std::vector<std::uint32_t> nobody(entries, 0);
  memory_ = native.cl.CreateBuffer(native.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   entries * sizeof(std::uint32_t), nobody.data(), nullptr);
}

UnitTable::~UnitTable() {
  if (queue_ != nullptr) native_.cl.Finish(queue_);
  for (Copy& copy : copies_) {
    if (copy.written != nullptr) native_.cl.ReleaseEvent(copy.written);
  }
  if (memory_ != nullptr) native_.cl.ReleaseMemObject(memory_);
  if (queue_ != nullptr) native_.cl.ReleaseCommandQueue(queue_);
}

void UnitTable::write(const std::vector<std::uint32_t>& table) {
  const NativeCalls& cl = native_.cl;
  Copy& copy = copies_[next_++ % copies_.size()];
  if (copy.written != nullptr) {
    cl.WaitForEvents(1, &copy.written);
    cl.ReleaseEvent(copy.written);
    copy.written = nullptr;
  }
  copy.words = table;
  cl.EnqueueWriteBuffer(queue_, memory_, CL_FALSE, 0, copy.words.size() * sizeof copy.words[0], copy.words.data(), 0,
                        nullptr, &copy.written);
  cl.Flush(queue_);
}

}  // namespace wm::runtime

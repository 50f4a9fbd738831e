#include "runtime/sandbox/form_run.h"

#include <algorithm>
#include <cstring>

#include "rewrite/program.h"

namespace wm::runtime::sandbox {

cl_program FormRun::create(const Program& program) const {
  if (!program.binary) {
    const char* source = program.text.c_str();
    return cl_.CreateProgramWithSource(native_.context, 1, &source, nullptr, nullptr);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(program.text.data());
  const std::size_t length = program.text.size();
  return cl_.CreateProgramWithBinary(native_.context, 1, &native_.device, &length, &bytes, nullptr, nullptr);
}

bool FormRun::build(const Program& program) {
  queue_ = cl_.CreateCommandQueue(native_.context, native_.device, 0, nullptr);
  const cl_program built = create(program);
  if (queue_ == nullptr || built == nullptr ||
      cl_.BuildProgram(built, 1, &native_.device, program.options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    return false;
  }
  kernel_ = cl_.CreateKernel(built, comparison_.kernel.c_str(), nullptr);
  return kernel_ != nullptr;
}

bool FormRun::run(InputSet set, bool guarded, std::span<std::byte> results) {
  if (!create_buffers(set, guarded) || !set_arguments()) return false;
  const bool launched = form_ == Form::workers ? launch_workers() : launch_unmodified();
  if (!launched || cl_.Finish(queue_) != CL_SUCCESS) return false;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const auto bytes = results.subspan(buffers_[i].at, buffers_[i].compared);
    if (!bytes.empty() && cl_.EnqueueReadBuffer(queue_, memory_[i], CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                                                nullptr) != CL_SUCCESS) {
      return false;
    }
  }
  return true;
}

bool FormRun::create_buffers(InputSet set, bool guarded) {
  const std::uint64_t bound = element_bound(buffers_);
  memory_.clear();
  for (const ComparedBuffer& buffer : buffers_) {
    std::vector<std::byte> content(buffer.compared);
    fill(buffer, set, bound, content);
    memory_.push_back(guarded ? create_guarded(buffer.size, content) : create_buffer(buffer.size, content));
    if (memory_.back() == nullptr) return false;
  }
  return true;
}

cl_mem FormRun::create_buffer(std::uint64_t size, std::span<const std::byte> content) const {
  const cl_mem made =
      cl_.CreateBuffer(native_.context, CL_MEM_READ_WRITE, std::max<std::uint64_t>(size, 1), nullptr, nullptr);
  if (made == nullptr || content.empty()) return made;
  const cl_int written =
      cl_.EnqueueWriteBuffer(queue_, made, CL_TRUE, 0, content.size(), content.data(), 0, nullptr, nullptr);
  return written == CL_SUCCESS ? made : nullptr;
}

cl_mem FormRun::create_guarded(std::uint64_t size, std::span<const std::byte> content) {
  const std::uint64_t bytes = std::max<std::uint64_t>(size, 1);
  guarded_.push_back(std::make_unique<GuardedMemory>(bytes));
  if (!guarded_.back()->ok()) return nullptr;
  std::byte* const data = guarded_.back()->bytes().data();
  if (!content.empty()) std::memcpy(data, content.data(), content.size());
  return cl_.CreateBuffer(native_.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, nullptr);
}

bool FormRun::set_arguments() {
  next_argument_ = 0;
  for (const ComparedArgument& a : comparison_.arguments) {
    cl_mem memory = nullptr;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (a.kind == ComparedArgument::Kind::buffer && buffers_[i].number == a.buffer) memory = memory_[i];
    }
    const bool is_value = a.kind == ComparedArgument::Kind::value, is_local = a.kind == ComparedArgument::Kind::local;
    const void* value = is_value ? static_cast<const void*>(a.bytes.data()) : is_local ? nullptr : &memory;
    if (!set_argument(is_value ? a.bytes.size() : is_local ? a.size : sizeof memory, value)) return false;
  }
  return true;
}

bool FormRun::set_argument(std::size_t size, const void* value) {
  return cl_.SetKernelArg(kernel_, next_argument_++, size, value) == CL_SUCCESS;
}

bool FormRun::launch_unmodified() const {
  std::size_t global[3], local[3], offset[3];
  for (std::size_t i = 0; i < 3; ++i) {
    local[i] = comparison_.local[i];
    global[i] = comparison_.groups[i] * comparison_.local[i];
    offset[i] = comparison_.offset[i];
  }
  const bool has_offset = offset[0] + offset[1] + offset[2] != 0;
  return cl_.EnqueueNDRangeKernel(queue_, kernel_, comparison_.dimensions, has_offset ? offset : nullptr, global, local,
                                  0, nullptr, nullptr) == CL_SUCCESS;
}

// One worker executes all groups, two at a time, in the order in which the device executes those of a launch.
bool FormRun::launch_workers() {
  const std::uint32_t words[2] = {0, 1};  // the queue of groups, and the control word
  for (const std::uint32_t& word : words) {
    const cl_mem memory = create_buffer(sizeof word, std::as_bytes(std::span(&word, 1)));
    if (memory == nullptr || !set_argument(sizeof memory, &memory)) return false;
  }
  rewrite::Range range;
  std::size_t local[3];
  for (std::size_t i = 0; i < 3; ++i) {
    range.groups[i] = static_cast<std::uint32_t>(comparison_.groups[i]);
    range.offset[i] = comparison_.offset[i];
    local[i] = comparison_.local[i];
  }
  range.chunk = 2;
  range.dimensions = comparison_.dimensions;
  if (!set_argument(sizeof range, &range)) return false;
  return cl_.EnqueueNDRangeKernel(queue_, kernel_, 3, nullptr, local, local, 0, nullptr, nullptr) == CL_SUCCESS;
}

}  // namespace wm::runtime::sandbox

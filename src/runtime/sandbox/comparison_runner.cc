#include "runtime/sandbox/comparison_runner.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewrite/program.h"
#include "runtime/device/opencl_native.h"
#include "runtime/sandbox/comparison_inputs.h"

namespace wm::runtime::sandbox {
namespace {

// For one form, its compilation included. The time of the processor is limited, since a busy host slows both forms
// down; the time that passes, for a form that waits.
constexpr unsigned kProcessorSeconds = 10, kSeconds = 60;
constexpr int kDriverRefuses = 100;  // exit status of a process whose driver returned an error

// Memory that a process shares with its children.
class SharedBytes {
 public:
  explicit SharedBytes(std::size_t size) : size_(std::max<std::size_t>(size, 1)) {
    void* at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bytes_ = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
  }
  ~SharedBytes() {
    if (bytes_ != nullptr) ::munmap(bytes_, size_);
  }
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  [[nodiscard]] bool ok() const { return bytes_ != nullptr; }
  [[nodiscard]] std::span<std::byte> of(const ComparedBuffer& b) const { return {bytes_ + b.at, b.compared}; }

 private:
  std::size_t size_;
  std::byte* bytes_ = nullptr;
};

// One form of the kernel, executed in this process. Objects are released when the process ends.
class FormRun {
 public:
  FormRun(const Native& native, const Comparison& comparison)
      : native_(native), cl_(native.cl), comparison_(comparison), buffers_(buffers_of(comparison)) {}

  bool run(const Program& program, bool workers, const SharedBytes& results) {
    queue_ = cl_.CreateCommandQueue(native_.context, native_.device, 0, nullptr);
    const cl_program built = create(program);
    if (queue_ == nullptr || built == nullptr ||
        cl_.BuildProgram(built, 1, &native_.device, program.options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
      return false;
    }
    kernel_ = cl_.CreateKernel(built, comparison_.kernel.c_str(), nullptr);
    if (kernel_ == nullptr || !create_buffers(results) || !set_arguments()) return false;
    if (!(workers ? launch_workers() : launch_unmodified()) || cl_.Finish(queue_) != CL_SUCCESS) return false;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const auto bytes = results.of(buffers_[i]);
      if (!bytes.empty() && cl_.EnqueueReadBuffer(queue_, memory_[i], CL_TRUE, 0, bytes.size(), bytes.data(), 0,
                                                  nullptr, nullptr) != CL_SUCCESS) {
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] cl_program create(const Program& program) const {
    if (!program.binary) {
      const char* source = program.text.c_str();
      return cl_.CreateProgramWithSource(native_.context, 1, &source, nullptr, nullptr);
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(program.text.data());
    const std::size_t length = program.text.size();
    return cl_.CreateProgramWithBinary(native_.context, 1, &native_.device, &length, &bytes, nullptr, nullptr);
  }
  // The results' memory holds the inputs first.
  bool create_buffers(const SharedBytes& results) {
    for (const ComparedBuffer& buffer : buffers_) {
      const auto bytes = results.of(buffer);
      fill(buffer, bytes);
      memory_.push_back(create_buffer(buffer.size, bytes));
      if (memory_.back() == nullptr) return false;
    }
    return true;
  }

  [[nodiscard]] cl_mem create_buffer(std::uint64_t size, std::span<const std::byte> content) const {
    const cl_mem made =
        cl_.CreateBuffer(native_.context, CL_MEM_READ_WRITE, std::max<std::uint64_t>(size, 1), nullptr, nullptr);
    if (made == nullptr || content.empty()) return made;
    const cl_int written =
        cl_.EnqueueWriteBuffer(queue_, made, CL_TRUE, 0, content.size(), content.data(), 0, nullptr, nullptr);
    return written == CL_SUCCESS ? made : nullptr;
  }

  bool set_arguments() {
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

  bool set_argument(std::size_t size, const void* value) {
    return cl_.SetKernelArg(kernel_, next_argument_++, size, value) == CL_SUCCESS;
  }

  [[nodiscard]] bool launch_unmodified() const {
    std::size_t global[3], local[3], offset[3];
    for (std::size_t i = 0; i < 3; ++i) {
      local[i] = comparison_.local[i];
      global[i] = comparison_.groups[i] * comparison_.local[i];
      offset[i] = comparison_.offset[i];
    }
    const bool has_offset = offset[0] + offset[1] + offset[2] != 0;
    return cl_.EnqueueNDRangeKernel(queue_, kernel_, comparison_.dimensions, has_offset ? offset : nullptr, global,
                                    local, 0, nullptr, nullptr) == CL_SUCCESS;
  }

  // One worker executes all groups, two at a time, in the order in which the device executes those of a launch.
  bool launch_workers() {
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

  const Native& native_;
  const NativeCalls& cl_;
  const Comparison& comparison_;
  const std::vector<ComparedBuffer> buffers_;
  std::vector<cl_mem> memory_;
  cl_command_queue queue_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_uint next_argument_ = 0;
};

pid_t start(const Request& request, bool workers, const SharedBytes& results, const std::function<void()>& prepare) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit limit{kProcessorSeconds, kProcessorSeconds + 1};
  ::setrlimit(RLIMIT_CPU, &limit);
  ::alarm(kSeconds);
  prepare();
  // One thread executes the groups in their order, so that kernels whose results depend on the order can be compared.
  ::setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
  const auto native = Native::open({request.device});
  if (!native) ::_exit(kDriverRefuses);
  FormRun form(**native, *request.comparison);
  ::_exit(form.run(request.programs[workers ? 1 : 0], workers, results) ? 0 : kDriverRefuses);
}

struct Failure {
  std::string how;
  bool by_host = false;  // a slower host than usual may be the cause
};

// How a form failed; nothing where it did not.
std::optional<Failure> failure(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM) return Failure{fmt::format("did not end within {} s", kSeconds), true};
  if (signal == SIGXCPU) return Failure{fmt::format("did not end within {} s", kProcessorSeconds)};
  if (signal == SIGKILL) return Failure{"was killed", true};
  if (signal != 0) return Failure{fmt::format("crashed: signal {} ({})", signal, ::strsignal(signal))};
  if (WEXITSTATUS(status) != 0) return Failure{"is refused by the driver", true};
  return std::nullopt;
}

}  // namespace

ComparisonResult run_comparison(const Request& request, const std::function<void()>& prepare) {
  using Verdict = ComparisonResult::Verdict;
  if (!request.comparison || request.programs.size() != 2) return {Verdict::unverifiable, "an incomplete request"};
  const auto buffers = buffers_of(*request.comparison);
  const std::size_t size = buffers.empty() ? 0 : buffers.back().at + buffers.back().compared;
  const SharedBytes expected(size), got(size);
  if (!expected.ok() || !got.ok()) return {Verdict::unverifiable, "no memory"};
  const pid_t unmodified = start(request, false, expected, prepare), workers = start(request, true, got, prepare);
  if (unmodified < 0 || workers < 0) return {Verdict::unverifiable, "no process"};
  const auto original_failure = failure(unmodified), worker_failure = failure(workers);
  if (original_failure) {
    return {Verdict::unverifiable, "the unmodified kernel " + original_failure->how + " on test inputs"};
  }
  if (worker_failure) {
    return {worker_failure->by_host ? Verdict::unverifiable : Verdict::different,
            "its worker form " + worker_failure->how + " in a comparison"};
  }
  for (const ComparedBuffer& buffer : buffers) {
    if (const auto where = difference(buffer, expected.of(buffer), got.of(buffer))) {
      return {Verdict::different, fmt::format("its worker form gave a different result in a comparison (buffer {}, {})",
                                              buffer.number, *where)};
    }
  }
  return {Verdict::same, {}};
}

}  // namespace wm::runtime::sandbox

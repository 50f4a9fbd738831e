#include "runtime/sandbox/comparison_runner.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/sandbox/form_run.h"

namespace wm::runtime::sandbox {
namespace {

// For one form, its compilation included. The time of the processor is limited, since a busy host slows both forms
// down; the time that passes, for a form that waits.
constexpr unsigned kProcessorSeconds = 10, kSeconds = 60;
constexpr int kDriverRefuses = 100;  // exit status of a process whose driver returned an error

// For the inputs after the first ones, which may make a kernel loop for long; the kernel is compiled by then.
constexpr itimerval kFurtherInputs{{0, 0}, {0, 100'000}};

// The results of one form, in memory that its process shares with this one.
class FormResults {
 public:
  explicit FormResults(std::size_t set_size) : set_size_(set_size) {
    void* at = ::mmap(nullptr, mapped(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bytes_ = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
    if (bytes_ != nullptr) completed_ = new (bytes_) std::atomic<std::uint32_t>(0);
  }
  ~FormResults() {
    if (bytes_ != nullptr) ::munmap(bytes_, mapped());
  }
  FormResults(const FormResults&) = delete;
  FormResults& operator=(const FormResults&) = delete;

  [[nodiscard]] bool ok() const { return bytes_ != nullptr; }
  // The number of input sets on which the form was executed.
  [[nodiscard]] std::uint32_t completed() const { return *completed_; }
  void complete_one() const { ++*completed_; }
  [[nodiscard]] std::span<std::byte> of(std::size_t set) const {
    return {bytes_ + kHeader + set * set_size_, set_size_};
  }

 private:
  static constexpr std::size_t kHeader = 64;
  [[nodiscard]] std::size_t mapped() const { return kHeader + kInputSets.size() * set_size_; }

  std::size_t set_size_;
  std::byte* bytes_ = nullptr;
  std::atomic<std::uint32_t>* completed_ = nullptr;
};

// Executes the form on one input set after the other. Further sets are used on CPU devices only, where buffers can be
// guarded: a kernel that leaves its buffers with such values has no result that could be compared.
int run_form(const Request& request, FormRun::Form form, const FormResults& results) {
  const auto native = Native::open({request.device});
  if (!native) return kDriverRefuses;
  FormRun run(**native, *request.comparison, form);
  if (!run.build(request.programs[form == FormRun::Form::workers ? 1 : 0])) return kDriverRefuses;
  if (!run.run(kInputSets.front(), false, results.of(0))) return kDriverRefuses;
  results.complete_one();
  if (((*native)->fact<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) == 0) return 0;
  for (std::size_t set = 1; set < kInputSets.size(); ++set) {
    ::setitimer(ITIMER_PROF, &kFurtherInputs, nullptr);
    if (!run.run(kInputSets[set], true, results.of(set))) return 0;
    results.complete_one();
  }
  return 0;
}

pid_t start(const Request& request, FormRun::Form form, const FormResults& results,
            const std::function<void()>& prepare) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit limit{kProcessorSeconds, kProcessorSeconds + 1};
  ::setrlimit(RLIMIT_CPU, &limit);
  ::alarm(kSeconds);
  prepare();
  // One thread executes the groups in their order, so that kernels whose results depend on the order can be compared.
  ::setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
  ::_exit(run_form(request, form, results));
}

struct Failure {
  // A slower host than usual may be the cause of `host`.
  enum class Cause : std::uint8_t { crash, time, host };

  std::string how;
  Cause cause = Cause::crash;
};

// How a form failed; nothing where it did not.
std::optional<Failure> failure(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM) return Failure{fmt::format("did not end within {} s", kSeconds), Failure::Cause::host};
  if (signal == SIGXCPU)
    return Failure{fmt::format("did not end within {} s", kProcessorSeconds), Failure::Cause::time};
  if (signal == SIGPROF) return Failure{"takes long", Failure::Cause::time};
  if (signal == SIGKILL) return Failure{"was killed", Failure::Cause::host};
  if (signal != 0) return Failure{fmt::format("crashed: signal {} ({})", signal, ::strsignal(signal))};
  if (WEXITSTATUS(status) != 0) return Failure{"is refused by the driver", Failure::Cause::host};
  return std::nullopt;
}

using Verdict = ComparisonResult::Verdict;

ComparisonResult compare(std::span<const ComparedBuffer> buffers, std::size_t set, const FormResults& expected,
                         const FormResults& got) {
  for (const ComparedBuffer& b : buffers) {
    const auto where = difference(b, expected.of(set).subspan(b.at, b.compared), got.of(set).subspan(b.at, b.compared));
    if (where) {
      return {Verdict::different,
              fmt::format("its worker form gave a different result in a comparison (buffer {}, {})", b.number, *where)};
    }
  }
  return {Verdict::same, {}};
}

ComparisonResult failed_workers(const Failure& failure) {
  return {failure.cause == Failure::Cause::host ? Verdict::unverifiable : Verdict::different,
          "its worker form " + failure.how + " in a comparison"};
}

}  // namespace

ComparisonResult run_comparison(const Request& request, const std::function<void()>& prepare) {
  if (!request.comparison || request.programs.size() != 2) return {Verdict::unverifiable, "an incomplete request"};
  const auto buffers = buffers_of(*request.comparison);
  const std::size_t size = buffers.empty() ? 0 : buffers.back().at + buffers.back().compared;
  const FormResults expected(size), got(size);
  if (!expected.ok() || !got.ok()) return {Verdict::unverifiable, "no memory"};
  const pid_t unmodified = start(request, FormRun::Form::unmodified, expected, prepare);
  const pid_t workers = start(request, FormRun::Form::workers, got, prepare);
  if (unmodified < 0 || workers < 0) return {Verdict::unverifiable, "no process"};
  const auto original_failure = failure(unmodified), worker_failure = failure(workers);
  if (expected.completed() == 0) {
    const std::string how = original_failure ? original_failure->how : "has no result";
    return {Verdict::unverifiable, "the unmodified kernel " + how + " on test inputs"};
  }
  if (got.completed() == 0)
    return failed_workers(worker_failure.value_or(Failure{"has no result", Failure::Cause::host}));
  for (std::size_t set = 0; set < expected.completed(); ++set) {
    if (set == got.completed()) {
      // With other inputs than the first ones only a crash tells anything.
      const bool crashed = worker_failure && worker_failure->cause == Failure::Cause::crash;
      return crashed ? failed_workers(*worker_failure) : ComparisonResult{Verdict::same, {}};
    }
    ComparisonResult result = compare(buffers, set, expected, got);
    if (result.verdict != Verdict::same) return result;
  }
  return {Verdict::same, {}};
}

}  // namespace wm::runtime::sandbox

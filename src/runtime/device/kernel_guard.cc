#include "runtime/device/kernel_guard.h"

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace wm::runtime {
namespace {

using KernelFunction = void (*)(void* const*, const std::size_t*, std::size_t, std::size_t, std::size_t);

// PoCL 3.1 never unloads a kernel, and reaches the limit of mappings (vm.max_map_count) with some 20,000.
constexpr std::uint32_t kMaxKernels = 20480;
constexpr std::size_t kEntryBytes = 16;

}  // namespace
}  // namespace wm::runtime

// One entry per kernel: each passes its number as the sixth argument, behind those of the kernel.
#if defined(__aarch64__)
#define WM_GUARDED_ENTRY "hint 34\n movz w5, wm_entry_number\n b wm_call_guarded_kernel\n"
#elif defined(__x86_64__)
#define WM_GUARDED_ENTRY "endbr64\n movl $wm_entry_number, %r9d\n jmp wm_call_guarded_kernel\n"
#endif
#if defined(WM_GUARDED_ENTRY)
asm(".text\n .p2align 4\n .hidden wm_call_guarded_kernel\n"
    "wm_guarded_entries:\n"
    ".set wm_entry_number, 0\n"
    ".rept 20480\n .p2align 4\n" WM_GUARDED_ENTRY
    ".set wm_entry_number, wm_entry_number + 1\n"
    ".endr\n");
extern "C" const char wm_guarded_entries[]  // NOLINT(readability-identifier-naming): a label of the code above
    __attribute__((visibility("hidden")));
namespace wm::runtime {
static const char* first_entry() { return wm_guarded_entries; }
}  // namespace wm::runtime
#else
namespace wm::runtime {
static const char* first_entry() { return nullptr; }
}  // namespace wm::runtime
#endif

namespace wm::runtime {
namespace {

struct GuardedKernels {
  std::mutex mutex;
  std::unordered_map<void*, std::uint32_t> entries;
  std::vector<std::string> names;
};
std::array<std::atomic<KernelFunction>, kMaxKernels> guarded_functions;  // by entry

GuardedKernels& guarded_kernels() {
  static auto* const kernels = new GuardedKernels;  // PoCL's threads may outlive static objects
  return *kernels;
}

std::atomic<KernelGuardListener*> the_listener{nullptr};

// Written by the signal handler of the same thread.
struct ThreadState {
  volatile std::sig_atomic_t guarded = 0;
  volatile int signal = 0;
  volatile std::uint64_t address = 0;
  std::jmp_buf* back = nullptr;
};
thread_local ThreadState thread_state;

// A stack for the handler: the kernel's own may be the one that has overflowed.
class SignalStack {
 public:
  SignalStack() : memory_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) return;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = kBytes;
    ::sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    if (memory_ == MAP_FAILED) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, kBytes);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  void use() const {}

 private:
  static constexpr std::size_t kBytes = 64 << 10;
  void* memory_;
};

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
std::array<struct sigaction, 65> previous_actions;

void handle_fault(int signal, siginfo_t* info, void* context) {
  ThreadState& state = thread_state;
  const bool by_instruction = info->si_code > 0;  // not sent by a process
  if (state.guarded != 0 && by_instruction) {
    state.guarded = 0;
    state.signal = signal;
    state.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    std::longjmp(*state.back, 1);
  }
  const struct sigaction& previous = previous_actions[static_cast<std::size_t>(signal)];
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  // The instruction faults again, or the signal is raised again, and ends the process.
  std::signal(signal, SIG_DFL);
  if (!by_instruction) std::raise(signal);
}

// PoCL's own handler of SIGFPE, on x86, continues behind an integer division by zero; it stays.
void install_handlers() {
  for (const int signal : kSignals) {
    struct sigaction& previous = previous_actions[static_cast<std::size_t>(signal)];
    ::sigaction(signal, nullptr, &previous);
    const bool handled = (previous.sa_flags & SA_SIGINFO) != 0 || previous.sa_handler != SIG_DFL;
    if (signal == SIGFPE && handled) continue;
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

// Calls `function(data)`; false: it ended with a fault, which `thread_state` describes. No object with a destructor
// may live in a frame that the fault leaves.
bool call_guarded(void (*function)(void*), void* data) {
  ThreadState& state = thread_state;
  std::jmp_buf here;
  std::jmp_buf* const outer = state.back;
  if (_setjmp(here) != 0) {
    thread_state.back = outer;
    return false;
  }
  state.back = &here;
  state.guarded = 1;
  function(data);
  state.guarded = 0;
  state.back = outer;
  return true;
}

struct Call {
  KernelFunction function;
  void* const* arguments;
  const std::size_t* context;
  std::array<std::size_t, 3> group;
};

void run_call(void* data) {
  const Call& c = *static_cast<const Call*>(data);
  c.function(c.arguments, c.context, c.group[0], c.group[1], c.group[2]);
}

std::string name_of(std::uint32_t entry) {
  GuardedKernels& kernels = guarded_kernels();
  const std::lock_guard lock(kernels.mutex);
  return kernels.names[entry];
}

void report_fault(const Call& call, std::uint32_t entry) {
  const std::string name = name_of(entry);
  const KernelFault fault{name, thread_state.signal, thread_state.address};
  if (the_listener.load()->record_fault({name, call.arguments, call.context}, fault)) return;
  std::signal(fault.signal, SIG_DFL);
  std::raise(fault.signal);
}

bool may_run_group(const Call& call, std::uint32_t entry) {
  KernelGuardListener* const listener = the_listener.load(std::memory_order_acquire);
  return !listener->any_faulted() || listener->runs({name_of(entry), call.arguments, call.context});
}

// The function that PoCL calls in place of a kernel. Null: all entries are taken, and the kernel stays unguarded.
void* guarded(void* kernel, std::string_view name) {
  GuardedKernels& kernels = guarded_kernels();
  const std::lock_guard lock(kernels.mutex);
  const auto next = static_cast<std::uint32_t>(kernels.entries.size());
  if (next == kMaxKernels && !kernels.entries.contains(kernel)) return nullptr;
  const std::uint32_t entry = kernels.entries.try_emplace(kernel, next).first->second;
  if (entry == kernels.names.size()) kernels.names.emplace_back();
  kernels.names[entry] = name;
  guarded_functions[entry] = reinterpret_cast<KernelFunction>(kernel);
  return const_cast<char*>(first_entry()) + entry * kEntryBytes;
}

// In place of `dlsym`, for PoCL's library only.
void* find_symbol(void* library, const char* symbol) {
  void* const found = ::dlsym(library, symbol);
  const std::string_view name = symbol, prefix = "_pocl_kernel_", suffix = "_workgroup";
  if (found == nullptr || !name.starts_with(prefix) || !name.ends_with(suffix)) return found;
  void* const entry = guarded(found, name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
  return entry != nullptr ? entry : found;
}

// An address that the loader tells as a number.
template <typename T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The dynamic section of a loaded library.
struct DynamicSection {
  explicit DynamicSection(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = at<const ElfW(Sym)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) strings = at<const char>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_JMPREL) tables[0].first = at<const ElfW(Rela)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_PLTRELSZ) tables[0].bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_RELA) tables[1].first = at<const ElfW(Rela)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_RELASZ) tables[1].bytes = entry->d_un.d_val;
    }
  }
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  };
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  std::array<Relocations, 2> tables;  // one for functions, one for everything else
};

bool replace(std::uintptr_t place, void* function) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const start = at<void>(place / page * page);
  if (::mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return false;
  *at<void*>(place) = function;
  ::mprotect(start, page, PROT_READ);
  return true;
}

int replace_dlsym(dl_phdr_info* library, std::size_t, void* replaced) {
  const std::string_view path = library->dlpi_name;
  if (!path.substr(path.rfind('/') + 1).starts_with("libpocl.so")) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    if (part.p_type != PT_DYNAMIC) continue;
    const DynamicSection section(at<const ElfW(Dyn)>(library->dlpi_addr + part.p_vaddr));
    for (const auto& table : section.tables) {
      for (std::size_t r = 0; r < table.bytes / sizeof(ElfW(Rela)); ++r) {
        const std::size_t symbol = ELF64_R_SYM(table.first[r].r_info);
        if (symbol == 0 || section.strings + section.symbols[symbol].st_name != std::string_view("dlsym")) continue;
        if (replace(library->dlpi_addr + table.first[r].r_offset, reinterpret_cast<void*>(&find_symbol))) {
          *static_cast<bool*>(replaced) = true;
        }
      }
    }
  }
  return 0;
}

}  // namespace

bool ends_without_fault(void (*access)(void*), void* data) { return call_guarded(access, data); }

bool guard_kernels(KernelGuardListener& listener) {
  static const bool replaced = [] {
    if (first_entry() == nullptr) return false;
    bool found = false;
    ::dl_iterate_phdr(replace_dlsym, &found);
    if (found) install_handlers();
    return found;
  }();
  if (replaced) the_listener.store(&listener);
  return replaced;
}

}  // namespace wm::runtime

extern "C" __attribute__((visibility("hidden"), used)) void wm_call_guarded_kernel(void* const* arguments,
                                                                                   const std::size_t* context,
                                                                                   std::size_t x, std::size_t y,
                                                                                   std::size_t z, std::uint32_t entry) {
  using namespace wm::runtime;
  thread_local const SignalStack stack;
  stack.use();
  Call call{guarded_functions[entry].load(std::memory_order_relaxed), arguments, context, {x, y, z}};
  if (may_run_group(call, entry) && !call_guarded(run_call, &call)) report_fault(call, entry);
}

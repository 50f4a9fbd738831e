#include "runtime/client/forward/rewritten_kernels.h"

#include <algorithm>
#include <cstdio>

#include "runtime/client/forward/code_table.h"
#include "runtime/client/forward/gate_follower.h"
#include "runtime/client/forward/gate_words.h"
#include "runtime/client/forward/green_contexts.h"
#include "runtime/client/forward/kernel_attributes.h"
#include "runtime/client/forward/managed_work.h"
#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

// Makes another context current for a while.
class CurrentContext {
 public:
  explicit CurrentContext(CUcontext context) {
    const RealFunctions& f = real();
    if (f.cuCtxGetCurrent != nullptr) (void)f.cuCtxGetCurrent(&before_);
    is_set_ = f.cuCtxSetCurrent != nullptr && f.cuCtxSetCurrent(context) == CUDA_SUCCESS;
  }
  ~CurrentContext() {
    if (is_set_) (void)real().cuCtxSetCurrent(before_);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  [[nodiscard]] bool is_set() const { return is_set_; }

 private:
  CUcontext before_ = nullptr;
  bool is_set_ = false;
};

constexpr int kMaxRegistersOption = 0;  // an option of cuModuleLoadDataEx
// With so many registers a thread, an SM is full of threads whatever the size of blocks.
constexpr int kRegistersOfAFullSm = 32;

int number_of(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  const auto get = real().cuFuncGetAttribute;
  return get != nullptr && get(&value, attribute, function) == CUDA_SUCCESS ? value : 0;
}

// Registers are allocated in steps.
int rounded_registers(std::optional<int> registers) { return (registers.value_or(0) + 7) / 8 * 8; }

CUcontext current_context() {
  CUcontext context = nullptr;
  const auto get = real().cuCtxGetCurrent;
  return get != nullptr && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

std::optional<std::uint64_t> address_of(const void* owner, CodeOwner kind, const std::string& variable) {
  const RealFunctions& f = real();
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  CUresult result = CUDA_ERROR_NOT_SUPPORTED;
  auto* handle = const_cast<void*>(owner);
  if (kind == CodeOwner::module && f.cuModuleGetGlobal_v2 != nullptr)
    result = f.cuModuleGetGlobal_v2(&address, &bytes, static_cast<CUmodule>(handle), variable.c_str());
  if (kind == CodeOwner::library && f.cuLibraryGetGlobal != nullptr)
    result = f.cuLibraryGetGlobal(&address, &bytes, static_cast<CUlibrary>(handle), variable.c_str());
  if (result != CUDA_SUCCESS) return std::nullopt;
  return address;
}

runtime::KernelNote* find_note(const std::string& name) {
  runtime::GateCounters& gates = page().gates;
  const auto end = gates.kernels.begin() + gates.notes.load(std::memory_order_acquire);
  const auto at = std::find_if(gates.kernels.begin(), end, [&](const runtime::KernelNote& n) {
    return name.compare(0, sizeof n.name - 1, n.name) == 0;
  });
  return at == end ? nullptr : &*at;
}

// Tells the daemon what has become of a kernel, as far as there is room.
void note(const std::string& name, const std::string& reason) {
  runtime::GateCounters& gates = page().gates;
  const std::uint32_t count = gates.notes.load(std::memory_order_relaxed);
  if (count >= runtime::kKernelNotes || find_note(name) != nullptr) return;
  runtime::KernelNote& added = gates.kernels[count];
  std::snprintf(added.name, sizeof added.name, "%s", name.c_str());
  std::snprintf(added.reason, sizeof added.reason, "%s", reason.c_str());
  added.has_form.store(reason.empty() ? 1 : 0, std::memory_order_relaxed);
  gates.notes.store(count + 1, std::memory_order_release);
}

bool makes_workers() { return page().words.workers.load(std::memory_order_relaxed) != 0; }

std::string form_name() { return makes_workers() ? "as workers" : "with gates"; }

// Launches of workers are counted where they are made.
CUfunction count_launch(runtime::ControlPage& page, CUfunction launched, bool is_gated) {
  if (makes_workers()) return launched;
  (is_gated ? page.gates.gated_launches : page.gates.ungated_launches).fetch_add(1, std::memory_order_relaxed);
  return launched;
}

}  // namespace

RewrittenKernels*& RewrittenKernels::instance() {
  static auto* only = new RewrittenKernels;
  return only;
}

void RewrittenKernels::forget_after_fork() {
  instance() = new RewrittenKernels;
  GateWords::forget_after_fork();
  WorkerWords::forget_after_fork();
}

RewrittenKernels::Form RewrittenKernels::find(const Key& key) const {
  const std::shared_lock lock(mutex_);
  const auto at = forms_.find(key);
  return at == forms_.end() ? Form{} : at->second;
}

RewrittenKernels::Choice RewrittenKernels::choose(runtime::ControlPage& page, CUfunction function, CUstream stream,
                                                  unsigned shared_bytes) {
  const CUcontext context = current_context();
  // A graph keeps the kernels that it was captured with, and the program may look at them.
  if (context == nullptr || is_capturing(stream)) return {count_launch(page, function, false)};
  const Key key{context, function};
  Form found = find(key);
  const bool is_first = found.owner == nullptr;
  constexpr auto kAtOnce = static_cast<std::uint32_t>(runtime::FormUse::at_once);
  const runtime::Word& use = makes_workers() ? page.words.workers : page.words.gates;
  if (is_first && use.load(std::memory_order_relaxed) == kAtOnce) {
    launched(function);
    while (prepare_next()) {
    }
    found = find(key);
  }
  if (found.state != Form::State::ready) return {count_launch(page, function, false), is_first};
  const bool fits = static_cast<int>(shared_bytes) <= found.max_dynamic || allows(key, shared_bytes);
  return {count_launch(page, fits ? found.rewritten : function, fits), false, fits ? found.workers : nullptr};
}

void RewrittenKernels::launched(CUfunction function) {
  const auto origin = FunctionTable::get().origin(function);
  const CUcontext context = current_context();
  if (!origin || context == nullptr) return;
  static std::once_flag once;
  std::call_once(once, end_before_compiler);
  const std::unique_lock lock(mutex_);
  forms_.emplace(Key{context, function}, Form{.owner = origin->owner});
}

// Functions for the end of a process are called in the reverse of their order: the driver's compiler, a library that
// the driver loads when it needs it, has to be there before this function registers.
void RewrittenKernels::end_before_compiler() {
  const AllowedInCaptures allowed;
  const Made made =
      load(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n", "nothing", 0);
  if (made.module != nullptr) (void)real().cuModuleUnload(made.module);
  std::atexit([] {
    RewrittenKernels& kernels = get();
    const std::lock_guard lock(kernels.making_);
    kernels.has_ended_ = true;
  });
}

bool RewrittenKernels::allows(const Key& key, unsigned shared_bytes) {
  constexpr auto kMaxDynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const std::unique_lock lock(mutex_);
  const auto at = forms_.find(key);
  if (at == forms_.end()) return false;
  const auto kernel = KernelOnDevice::find(key.second), rewritten = KernelOnDevice::find(at->second.rewritten);
  if (!kernel || !rewritten) return false;
  const int allowed = kernel->attribute(kMaxDynamic).value_or(0);
  const int present = rewritten->attribute(kMaxDynamic).value_or(0);
  if (static_cast<int>(shared_bytes) > allowed) return false;
  int reachable = allowed;
  if (allowed > present && !rewritten->set(kMaxDynamic, allowed)) {
    // Workers need a few bytes of shared memory themselves.
    constexpr auto kStatic = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    reachable -= std::max(rewritten->attribute(kStatic).value_or(0) - kernel->attribute(kStatic).value_or(0), 0);
    if (static_cast<int>(shared_bytes) > reachable || !rewritten->set(kMaxDynamic, reachable)) return false;
  }
  at->second.max_dynamic = reachable;
  return true;
}

void RewrittenKernels::refused(CUfunction function) {
  const auto origin = FunctionTable::get().origin(function);
  runtime::KernelNote* const note = origin ? find_note(origin->name) : nullptr;
  if (note != nullptr) note->has_form.store(0, std::memory_order_relaxed);
  const std::unique_lock lock(mutex_);
  for (auto& [key, form] : forms_) {
    if (key.second == function) form.state = Form::State::refused;
  }
}

std::optional<RewrittenKernels::Key> RewrittenKernels::next_asked() const {
  const std::shared_lock lock(mutex_);
  for (const auto& [key, form] : forms_) {
    if (form.state == Form::State::asked) return key;
  }
  return std::nullopt;
}

bool RewrittenKernels::prepare_next() {
  const std::lock_guard lock(making_);
  const auto key = next_asked();
  if (!key || has_ended_) return false;
  const AllowedInCaptures allowed;
  const CurrentContext context(key->first);
  finish(*key, context.is_set() ? make(*key) : Made{.reason = "its context has ended"});
  return true;
}

RewrittenKernels::Made RewrittenKernels::load(const std::string& ptx, const std::string& kernel, int max_registers) {
  const RealFunctions& f = real();
  Made made;
  int options[] = {kMaxRegistersOption};
  // The driver takes numbers as pointers. NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* values[] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(max_registers))};
  const CUresult loaded = f.cuModuleLoadDataEx(&made.module, ptx.c_str(), max_registers == 0 ? 0 : 1, options, values);
  if (loaded != CUDA_SUCCESS)
    return {.reason = "the driver refuses it " + form_name() + ": error " + std::to_string(static_cast<int>(loaded))};
  if (f.cuModuleGetFunction(&made.function, made.module, kernel.c_str()) == CUDA_SUCCESS) return made;
  (void)f.cuModuleUnload(made.module);
  return {.reason = "the driver does not find it " + form_name()};
}

gates::RewrittenKernel RewrittenKernels::rewrite(gates::LoadedCode& code, const std::string& kernel,
                                                 std::uint32_t architecture, const gates::AddressOf& address_of) {
  if (makes_workers()) return code.make_workers(kernel, architecture, address_of);
  const auto word = GateWords::get().of_current();
  if (!word) return {{}, "the driver makes no word for gates"};
  return code.gate(kernel, architecture, *word, address_of);
}

RewrittenKernels::Made RewrittenKernels::make(const Key& key) {
  const RealFunctions& f = real();
  const auto origin = FunctionTable::get().origin(key.second);
  const auto kernel = KernelOnDevice::find(key.second);
  if (!origin || !kernel || f.cuModuleLoadDataEx == nullptr) return {.reason = "its module is not known"};
  const CodeTable::Code code = CodeTable::get().find(origin->owner);
  if (code.code == nullptr) return {.reason = "its module is not known"};
  const auto architecture = static_cast<std::uint32_t>(kernel->attribute(CU_FUNC_ATTRIBUTE_PTX_VERSION).value_or(0));
  const gates::RewrittenKernel rewritten =
      rewrite(*code.code, origin->name, architecture,
              [&](const std::string& name) { return address_of(origin->owner, code.owner, name); });
  if (!rewritten.reason.empty()) return {.reason = rewritten.reason};
  Made made = load(rewritten.ptx, origin->name, 0);
  if (made.function == nullptr) return made;
  if (makes_workers()) made.workers = std::make_shared<WorkerForm>(WorkerForm{rewritten.parameters, rewritten.chunk});
  // The second form takes a few registers more. Where these cost room for a block, the compiler shall do without them.
  const int limit = std::max(kRegistersOfAFullSm, rounded_registers(kernel->attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)));
  if (rounded_registers(number_of(made.function, CU_FUNC_ATTRIBUTE_NUM_REGS)) <= limit) return made;
  Made smaller = load(rewritten.ptx, origin->name, limit);
  if (smaller.function == nullptr) return made;
  smaller.workers = made.workers;
  const bool spills = number_of(smaller.function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) >
                      number_of(made.function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  (void)f.cuModuleUnload(spills ? smaller.module : made.module);
  return spills ? made : smaller;
}

void RewrittenKernels::finish(const Key& key, const Made& made) {
  const auto origin = FunctionTable::get().origin(key.second);
  if (made.function != nullptr) {
    FunctionTable::get().add(made.function, HandleKind::function, made.module, origin ? origin->name.c_str() : "");
    // The division of an SM's memory that the program has chosen for its kernel.
    const auto kernel = KernelOnDevice::find(key.second), rewritten = KernelOnDevice::find(made.function);
    const auto division = kernel ? kernel->attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) : std::nullopt;
    if (rewritten && division && *division >= 0)
      (void)rewritten->set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, *division);
  }
  {
    const std::unique_lock lock(mutex_);
    const auto at = forms_.find(key);
    if (at == forms_.end()) return;
    Form& form = at->second;
    form.state = made.function != nullptr ? Form::State::ready : Form::State::refused;
    form.module = made.module;
    form.rewritten = made.function;
    form.workers = made.workers;
  }
  if (origin) note(origin->name, made.reason);
  if (made.function != nullptr && !makes_workers()) GateFollower::wake();
}

void RewrittenKernels::forget_owner(const void* owner) {
  const std::lock_guard making(making_);
  const std::unique_lock lock(mutex_);
  std::erase_if(forms_, [&](const auto& entry) {
    const auto& [key, form] = entry;
    if (form.owner != owner) return false;
    if (form.module != nullptr) {
      FunctionTable::get().remove_owner(form.module);
      WorkerWords::get().forget(form.rewritten);
      const CurrentContext context(key.first);
      if (context.is_set()) (void)real().cuModuleUnload(form.module);
    }
    return true;
  });
}

RewrittenKernels::Pause::Pause()
    : making_(RewrittenKernels::get().making_),
      gates_(GateWords::get().open_and_lock()),
      workers_(WorkerWords::get()) {}

void RewrittenKernels::Pause::forget(CUcontext context) {
  RewrittenKernels& kernels = RewrittenKernels::get();
  const std::unique_lock lock(kernels.mutex_);
  std::erase_if(kernels.forms_, [&](const auto& entry) { return entry.first.first == context; });
  gates_.forget(context);
  workers_.forget(context);
}

void RewrittenKernels::Pause::forget_all() {
  RewrittenKernels& kernels = RewrittenKernels::get();
  const std::unique_lock lock(kernels.mutex_);
  kernels.forms_.clear();
  gates_.forget_all();
  workers_.forget_all();
}

}  // namespace wm::forward

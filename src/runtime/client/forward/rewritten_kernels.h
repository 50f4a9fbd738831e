// Second forms of the program's kernels, with gates or as workers, in modules of this library's own.
//
// A launch under `kGate` or `kWorkers` uses the second form if there is one; a daemon asks for one kind of them. It is
// made the first time that a kernel is launched so, by the thread that keeps the connection to the daemon; until then,
// and where a kernel can have none, the kernel is launched as it is. The program sees only its own kernels.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/forward/daemon_page.h"
#include "runtime/client/forward/function_table.h"
#include "runtime/client/forward/gate_words.h"
#include "runtime/client/forward/worker_words.h"
#include "runtime/client/gates/loaded_code.h"

namespace wm::forward {

// A kernel as workers: the places of its own parameters, and the blocks that a worker takes at a time.
struct WorkerForm {
  std::vector<gates::ParameterPlace> parameters;
  std::uint32_t chunk = 1;
};

class RewrittenKernels {
 public:
  static RewrittenKernels& get() { return *instance(); }
  static void forget_after_fork();

  // The kernel to launch in the current context in place of `function`, with so much dynamic shared memory.
  struct Choice {
    CUfunction kernel = nullptr;  // `function` itself: no other
    bool is_first = false;        // there was no launch of it: `launched` follows if the driver takes it
    std::shared_ptr<const WorkerForm> workers{};  // null: the kernel has gates, or is `function`
  };
  [[nodiscard]] Choice choose(runtime::ControlPage& page, CUfunction function, CUstream stream, unsigned shared_bytes);
  // The first launch of the kernel in the current context has succeeded: a second form is made.
  void launched(CUfunction function);
  // The driver takes the kernel, but not its second form.
  void refused(CUfunction function);

  // Makes one of the second forms that launches have asked for; false: there is none to make.
  bool prepare_next();

  // Before a module or library ends: the forms of its kernels end too.
  void forget_owner(const void* owner);

  // Held while the driver ends contexts: gates are open, nothing is made, no word written and no workers added.
  class Pause {
   public:
    Pause();
    // These contexts have ended, and what this process had in them.
    void forget(CUcontext context);
    void forget_all();

   private:
    const std::unique_lock<std::mutex> making_;
    const GateWords::Lock gates_;
    const WorkerWords::Lock workers_;
  };

 private:
  using Key = std::pair<CUcontext, CUfunction>;
  struct Form {
    enum class State { asked, ready, refused };
    State state = State::asked;
    const void* owner = nullptr;
    CUmodule module = nullptr;
    CUfunction rewritten = nullptr;
    std::shared_ptr<const WorkerForm> workers{};
    int max_dynamic = 0;  // bytes of dynamic shared memory that it may have
  };
  struct Made {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    std::shared_ptr<const WorkerForm> workers{};
    std::string reason{};  // why there is none
  };

  [[nodiscard]] static RewrittenKernels*& instance();
  // Without an owner: nothing has asked for it.
  [[nodiscard]] Form find(const Key& key) const;
  [[nodiscard]] std::optional<Key> next_asked() const;
  // In the context of the key, which is current.
  [[nodiscard]] static Made make(const Key& key);
  [[nodiscard]] static gates::RewrittenKernel rewrite(gates::LoadedCode& code, const std::string& kernel,
                                                      std::uint32_t architecture, const gates::AddressOf& address_of);
  // `max_registers`: of a thread; 0: as the compiler likes.
  [[nodiscard]] static Made load(const std::string& ptx, const std::string& kernel, int max_registers);
  void finish(const Key& key, const Made& made);
  [[nodiscard]] bool allows(const Key& key, unsigned shared_bytes);

  // When the process ends, forms that are being made are completed and no more are made, before the driver's compiler
  // ends: a thread that uses it then never returns, or crashes.
  static void end_before_compiler();

  std::mutex making_;  // held while a form is made: what it needs must not end meanwhile
  bool has_ended_ = false;
  mutable std::shared_mutex mutex_;
  std::map<Key, Form> forms_;
};

}  // namespace wm::forward

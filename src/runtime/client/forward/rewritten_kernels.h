// Second forms of the program's kernels, with gates, in modules of this library's own.
//
// A launch under `kGate` uses the second form if there is one. It is made the first time that a kernel is launched so,
// by the thread that keeps the connection to the daemon; until then, and where a kernel can have none, the kernel is
// launched as it is. The program sees only its own kernels.
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

namespace wm::forward {

class GatedKernels {
 public:
  static GatedKernels& get() { return *instance(); }
  static void forget_after_fork();

  // The kernel to launch in the current context in place of `function`, with so much dynamic shared memory.
  struct Choice {
    CUfunction kernel = nullptr;  // `function` itself: no other
    bool is_first = false;        // there was no launch of it: `launched` follows if the driver takes it
  };
  [[nodiscard]] Choice choose(runtime::ControlPage& page, CUfunction function, CUstream stream, unsigned shared_bytes);
  // The first launch of the kernel in the current context has succeeded: a second form is made.
  void launched(CUfunction function);
  // The driver takes the kernel, but not its second form.
  void refused(CUfunction function);

  // Makes the second forms that launches have asked for.
  void prepare();

  // Before a module or library ends: the forms of its kernels end too.
  void forget_owner(const void* owner);

  // Held while the driver ends contexts: gates are open, nothing is made and no word written.
  class Pause {
   public:
    Pause();
    // These contexts have ended, and what this process had in them.
    void forget(CUcontext context);
    void forget_all();

   private:
    const std::unique_lock<std::mutex> making_;
    const GateWords::Lock words_;
  };

 private:
  using Key = std::pair<CUcontext, CUfunction>;
  struct Form {
    enum class State { asked, ready, refused };
    State state = State::asked;
    const void* owner = nullptr;
    CUmodule module = nullptr;
    CUfunction gated = nullptr;
    int max_dynamic = 0;  // bytes of dynamic shared memory that it may have
  };
  struct Made {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    std::string reason;  // why there is none
  };

  [[nodiscard]] static GatedKernels*& instance();
  // Without an owner: nothing has asked for it.
  [[nodiscard]] Form find(const Key& key) const;
  [[nodiscard]] std::optional<Key> next_asked() const;
  // In the context of the key, which is current.
  [[nodiscard]] static Made make(const Key& key);
  // `max_registers`: of a thread; 0: as the compiler likes.
  [[nodiscard]] static Made load(const std::string& ptx, const std::string& kernel, int max_registers);
  void finish(const Key& key, const Made& made);
  [[nodiscard]] bool allows(const Key& key, unsigned shared_bytes);

  std::mutex making_;  // held while a form is made: what it needs must not end meanwhile
  mutable std::shared_mutex mutex_;
  std::map<Key, Form> forms_;
};

}  // namespace wm::forward

// The kernels that the program has asked the driver for, and the kind of their handles: launches take both, other calls
// do not. A handle that came another way is unknown; attributes of its kernel are neither read nor set.
#pragma once

#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

namespace wm::forward {

enum class HandleKind { function, kernel };

class FunctionTable {
 public:
  static FunctionTable& get();

  // A handle that the program got for the name from a module or library.
  void add(const void* handle, HandleKind kind, const void* owner, const char* name);
  // The function of a kernel, which belongs to the kernel's library.
  void add_function_of(const void* kernel, const void* function);
  // Forgets the handles of a module or library; addresses may be used again.
  void remove_owner(const void* owner);
  // A context may have ended, and its functions with it; kernels of libraries belong to none.
  void forget_functions();
  struct Origin {
    HandleKind kind;
    const void* owner;  // a module or library
    std::string name;
  };
  [[nodiscard]] std::optional<Origin> origin(const void* handle) const;
  [[nodiscard]] std::optional<HandleKind> kind(const void* handle) const;
  // Increases whenever handles were forgotten.
  [[nodiscard]] unsigned generation() const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<const void*, Origin> entries_;
  unsigned generation_ = 0;
};

}  // namespace wm::forward

// The kernels that the program has asked the driver for, and the kind of their handles: launches take both, other calls
// do not. A handle that came another way is unknown; attributes of its kernel are neither read nor set.
#pragma once

#include <map>
#include <optional>
#include <shared_mutex>

namespace wm::forward {

enum class HandleKind { function, kernel };

class FunctionTable {
 public:
  static FunctionTable& get();

  // `owner` is the module or library that the handle belongs to, or the kernel that a function was asked from.
  void add(const void* handle, HandleKind kind, const void* owner);
  // Forgets the handles of a module or library; addresses may be used again.
  void remove_owner(const void* owner);
  // A context may have ended, and its functions with it; kernels of libraries belong to none.
  void forget_functions();
  [[nodiscard]] std::optional<HandleKind> kind(const void* handle) const;
  // Increases whenever handles were forgotten.
  [[nodiscard]] unsigned generation() const;

 private:
  struct Entry {
    HandleKind kind;
    const void* owner;
  };
  mutable std::shared_mutex mutex_;
  std::map<const void*, Entry> entries_;
  unsigned generation_ = 0;
};

}  // namespace wm::forward

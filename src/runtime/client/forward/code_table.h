// The code of the modules and libraries that the program has loaded, kept while the daemon uses second forms.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/gates/loaded_code.h"

namespace wm::forward {

enum class CodeOwner { module, library };

class CodeTable {
 public:
  static CodeTable& get();

  struct Code {
    CodeOwner owner = CodeOwner::module;
    std::shared_ptr<gates::LoadedCode> code;  // null: its image could not be read
  };
  // The program has loaded `image` as this module or library.
  void add(const void* owner, CodeOwner kind, const void* image);
  void add_file(const void* owner, CodeOwner kind, const char* file);
  // The driver has made a module of a library.
  void add_module_of(const void* module, const void* library);
  void remove(const void* owner);
  [[nodiscard]] Code find(const void* owner) const;

 private:
  mutable std::mutex mutex_;
  std::map<const void*, Code> codes_;
};

}  // namespace wm::forward

#include "runtime/client/cuda/state/module.h"

namespace wm::cuda {

Result<std::shared_ptr<Function>> Module::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = functions_.find(name); known != functions_.end()) return known->second;
  auto kernel = loaded_->kernel(name);
  if (!kernel) return kernel.error();
  auto function = std::make_shared<Function>(this, name, *kernel);
  functions_.emplace(name, function);
  return function;
}

}  // namespace wm::cuda

// Modules, their functions, and libraries.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/simulated/kernel_runner.h"
#include "runtime/simulated/loaded_module.h"

namespace wm::cuda {

class Function {
 public:
  Function(Module* module, std::string name, const runtime::LoadedKernel* kernel)
      : module(module), name(std::move(name)), kernel(kernel) {}

  Module* const module;
  const std::string name;
  const runtime::LoadedKernel* const kernel;
  std::atomic<int> max_dynamic_shared{0};  // 0: the limit without opt-in
  std::atomic<int> carveout{-1};
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  // `runner` runs its kernels and outlives it.
  Module(std::unique_ptr<runtime::LoadedModule> loaded, Context* context, runtime::KernelRunner& runner)
      : context(context), loaded_(std::move(loaded)), runner_(runner) {}
  ~Module() { runner_.module_unloaded(*loaded_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // The function of a name, made when it is first asked for. The error says why a kernel cannot run.
  Result<std::shared_ptr<Function>> function(const std::string& name);
  [[nodiscard]] runtime::LoadedModule& loaded() { return *loaded_; }

  Context* const context;
  std::string left_out;  // why a part of the program was not loaded; empty: none

 private:
  std::unique_ptr<runtime::LoadedModule> loaded_;
  runtime::KernelRunner& runner_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Function>> functions_;
};

class Library {
 public:
  explicit Library(std::shared_ptr<Module> module) : module(std::move(module)) {}
  const std::shared_ptr<Module> module;
};

}  // namespace wm::cuda

// The library that gives kernels of CUDA programs gates.
#include <map>
#include <memory>
#include <mutex>

#include "ptx/parse.h"
#include "ptx/print.h"
#include "rewrite/ptx/gates.h"
#include "rewrite/ptx/separate_kernel.h"
#include "runtime/client/gates/kept_ptx.h"
#include "runtime/client/gates/loaded_code.h"

namespace wm::gates {
namespace {

// A parsed module takes many times the memory of its text, in the process of the program.
constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;

// "sm_90a" is 90.
std::uint32_t architecture_of(const ptx::Module& module) {
  constexpr std::size_t kPrefix = 3;
  if (module.targets.empty() || module.targets[0].size() <= kPrefix) return 0;
  return static_cast<std::uint32_t>(std::atoi(module.targets[0].c_str() + kPrefix));
}

class GatedCode final : public LoadedCode {
 public:
  explicit GatedCode(KeptPtx kept) : kept_(std::move(kept)) {}

  GatedKernel gate(const std::string& kernel, std::uint32_t architecture, std::uint64_t word,
                   const AddressOf& address_of) override {
    const std::lock_guard lock(mutex_);
    const auto text = rewritten(kernel, architecture, word, address_of);
    if (!text) return {{}, text.error().what};
    return {*text, {}};
  }

 private:
  Result<const ptx::Module*> parsed(std::uint32_t architecture) {
    if (const auto at = modules_.find(architecture); at != modules_.end()) return &at->second;
    const auto text = kept_.text(architecture);
    if (!text) return text.error();
    if (text->size() > kMaxTextBytes) return Error{"its module has more than 16 MB of PTX"};
    auto module = ptx::parse(*text, "module", ptx::OnUnsupported::refuse_function);
    if (!module) return module.error();
    if (const std::uint32_t target = architecture_of(*module); target != architecture) {
      return Error{"it was compiled for sm_" + std::to_string(architecture) + ", its PTX is for sm_" +
                   std::to_string(target)};
    }
    return &modules_.emplace(architecture, *std::move(module)).first->second;
  }

  Result<std::string> rewritten(const std::string& kernel, std::uint32_t architecture, std::uint64_t word,
                                const AddressOf& address_of) {
    const auto module = parsed(architecture);
    if (!module) return module.error();
    auto separate = rewrite::separate_kernel(**module, kernel, address_of);
    if (!separate) return separate.error();
    const auto gated = rewrite::add_gates(*separate, kernel, {.word_address = word});
    if (!gated) return gated.error();
    if (gated->gates == 0) return Error{"it has no loops"};
    return ptx::print(*separate);
  }

  const KeptPtx kept_;
  std::mutex mutex_;
  std::map<std::uint32_t, ptx::Module> modules_;  // by architecture, parsed when first needed
};

}  // namespace
}  // namespace wm::gates

extern "C" __attribute__((visibility("default"))) wm::gates::LoadedCode* wm_read_code(const void* image) {
  return new wm::gates::GatedCode(wm::gates::KeptPtx::from(image));
}

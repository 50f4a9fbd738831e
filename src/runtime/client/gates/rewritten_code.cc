// The library that gives kernels of CUDA programs gates, or makes workers of them.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "ptx/parse.h"
#include "ptx/print.h"
#include "rewrite/ptx/gates.h"
#include "rewrite/ptx/persistent.h"
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

const ptx::Function& kernel_of(const ptx::Module& separate) {
  return *std::find_if(separate.functions.begin(), separate.functions.end(),
                       [](const ptx::Function& f) { return f.entry; });
}

// A parameter stands behind the one before it, at the next address that its alignment allows.
std::vector<ParameterPlace> places(const ptx::Function& kernel) {
  std::vector<ParameterPlace> found;
  std::uint64_t offset = 0;
  for (const ptx::Variable& v : kernel.parameters) {
    const std::uint64_t align = std::max<std::uint64_t>(v.align, 1);
    offset = (offset + align - 1) / align * align;
    found.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(v.bytes())});
    offset += v.bytes();
  }
  return found;
}

class RewrittenCode final : public LoadedCode {
 public:
  explicit RewrittenCode(KeptPtx kept) : kept_(std::move(kept)) {}

  RewrittenKernel gate(const std::string& kernel, std::uint32_t architecture, std::uint64_t word,
                       const AddressOf& address_of) override {
    return rewritten(kernel, architecture, address_of, [&](ptx::Module& separate, RewrittenKernel&) -> Result<void> {
      const auto gated = rewrite::add_gates(separate, kernel, {.word_address = word});
      if (!gated) return gated.error();
      if (gated->gates == 0) return Error{"it has no loops"};
      return {};
    });
  }
  RewrittenKernel make_workers(const std::string& kernel, std::uint32_t architecture,
                               const AddressOf& address_of) override {
    return rewritten(kernel, architecture, address_of, [&](ptx::Module& separate, RewrittenKernel& made) {
      const ptx::Function& original = kernel_of(separate);
      made.parameters = places(original);
      made.chunk = rewrite::min_chunk(original);
      return rewrite::make_persistent(separate, kernel, rewrite::Completion::launch);
    });
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

  // `change` rewrites the kernel, which is the only one of its module.
  template <typename Change>
  RewrittenKernel rewritten(const std::string& kernel, std::uint32_t architecture, const AddressOf& address_of,
                            Change&& change) {
    const std::lock_guard lock(mutex_);
    const auto module = parsed(architecture);
    if (!module) return {{}, module.error().what};
    auto separate = rewrite::separate_kernel(**module, kernel, address_of);
    if (!separate) return {{}, separate.error().what};
    RewrittenKernel made;
    if (const Result<void> changed = change(*separate, made); !changed) return {{}, changed.error().what};
    made.ptx = ptx::print(*separate);
    return made;
  }

  const KeptPtx kept_;
  std::mutex mutex_;
  std::map<std::uint32_t, ptx::Module> modules_;  // by architecture, parsed when first needed
};

}  // namespace
}  // namespace wm::gates

extern "C" __attribute__((visibility("default"))) wm::gates::LoadedCode* wm_read_code(const void* image) {
  return new wm::gates::RewrittenCode(wm::gates::KeptPtx::from(image));
}

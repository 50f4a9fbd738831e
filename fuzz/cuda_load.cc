// Any text as the PTX of a CUDA program, perhaps of several parts: it is loaded into the simulated GPU's memory and its
// kernels are decoded, or it is refused.
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/line_mutator.h"
#include "gpu/load_gpu.h"
#include "runtime/simulated/loaded_module.h"

namespace {

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

const wm::gpu::GpuConfig& config() {
  static const auto loaded = wm::gpu::load_gpu("qos16", "configs/gpus");  // started in the project's folder
  if (!loaded) __builtin_trap();
  return *loaded;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wm::runtime::DeviceMemory memory(1U << 24);
  std::string text(view(data, size));
  // Two parts where the input has the letter that no PTX begins with.
  if (const std::size_t at = text.find('\x01'); at != std::string::npos) {
    text.replace(at, 1, wm::runtime::kPartSeparator);
  }
  const auto loaded = wm::runtime::LoadedModule::load(text, "fuzz.ptx", config(), memory, nullptr);
  if (!loaded) {
    if (loaded.error().what.empty()) __builtin_trap();
    return 0;
  }
  for (const std::string& name : (*loaded)->kernel_names()) (void)(*loaded)->kernel(name);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text(view(data, size));
  const std::string changed = wm::fuzz::LineMutator(text, seed).mutate(text);
  const std::size_t bytes = changed.size() < max_size ? changed.size() : max_size;
  std::memcpy(data, changed.data(), bytes);
  return bytes;
}

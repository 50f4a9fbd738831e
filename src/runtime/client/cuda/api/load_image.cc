#include "runtime/client/cuda/api/load_image.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/api/device_attributes.h"
#include "runtime/client/cuda/interface/lasting_thread_object.h"
#include "runtime/simulated/fat_binary.h"

namespace wm::cuda {
namespace {

// Options of the just-in-time compiler that ask for its messages.
enum JitOption : int { info_log = 3, info_log_bytes = 4, error_log = 5, error_log_bytes = 6 };

std::string& last_messages() { return LastingThreadObject<std::string, struct LoadMessagesTag>::get(); }

CUresult refuse(CUresult result, const std::string& message) {
  last_messages() = message;
  explain(message);
  return result;
}

// The first four bytes of an image; a text may be shorter, and no magic number has a byte of zero.
std::uint32_t magic_of(const void* image) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  std::uint32_t magic = 0;
  for (unsigned i = 0; i < sizeof magic && bytes[i] != 0; ++i) magic |= std::uint32_t{bytes[i]} << (8 * i);
  return magic;
}

constexpr std::uint32_t kElfMagic = 0x464c457fU;

// The structure that nvcc puts around a fat binary. `fat_binaries` of version 2 is a list of several, which ends with
// nullptr.
struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* const* fat_binaries;
};

Result<std::string> ptx_of(const Driver& driver, const void* image, std::string& left_out);

// The PTX of the parts of a program built with -rdc=true. The wrapper's own data is their machine code, linked by nvcc.
// nvcc also links its library for launches from kernels, whose PTX is for the newest architecture only. Parts without
// PTX for this one are left out: a kernel that needs them is refused when it is used.
Result<std::string> linked_parts(const Driver& driver, const FatBinaryWrapper& wrapper, std::string& left_out) {
  if (wrapper.fat_binaries == nullptr) return ptx_of(driver, wrapper.data, left_out);
  std::string all;
  for (const void* const* part = wrapper.fat_binaries; *part != nullptr; ++part) {
    const auto ptx = ptx_of(driver, *part, left_out);
    if (!ptx) {
      left_out = ptx.error().what;
      continue;
    }
    if (!all.empty()) all += runtime::kPartSeparator;
    all += *ptx;
  }
  if (all.empty() && !left_out.empty()) return Error{left_out};
  return all.empty() ? ptx_of(driver, wrapper.data, left_out) : all;
}

// The PTX of an image, of whatever kind it is. `left_out` gets why a part of it has none.
Result<std::string> ptx_of(const Driver& driver, const void* image, std::string& left_out) {
  const std::uint32_t magic = magic_of(image);
  if (magic == runtime::kFatBinaryWrapperMagic) {
    const auto* wrapper = static_cast<const FatBinaryWrapper*>(image);
    if (wrapper->version == 1) return ptx_of(driver, wrapper->data, left_out);
    return linked_parts(driver, *wrapper, left_out);
  }
  if (magic == runtime::kFatBinaryMagic) {
    const std::span bytes(static_cast<const std::byte*>(image), runtime::fat_binary_bytes(image));
    return runtime::best_ptx(bytes, static_cast<std::uint32_t>(compute_capability(driver.config())));
  }
  if (magic == kElfMagic) {
    return Error{"the image is machine code of a GPU, which the simulator cannot run: build the program with PTX"};
  }
  return std::string(static_cast<const char*>(image));
}

// The newest major version of PTX that a driver of our version reads.
constexpr int kMaxPtxVersion = 9;

// Whether the text begins with a `.version` that is too new.
bool is_too_new(std::string_view ptx) {
  constexpr std::string_view kDirective = ".version";
  const std::size_t at = ptx.find(kDirective);
  if (at == std::string_view::npos) return false;
  return std::atoi(std::string(ptx.substr(at + kDirective.size(), 8)).c_str()) > kMaxPtxVersion;
}

}  // namespace

CUresult load_image(Context& context, const void* image, std::shared_ptr<Module>& module) {
  last_messages().clear();
  Driver& driver = driver_of(context);
  std::string left_out;
  const auto ptx = ptx_of(driver, image, left_out);
  if (!ptx) return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, ptx.error().what);
  if (is_too_new(*ptx)) {
    return refuse(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                  "the PTX is of a newer version than " + std::to_string(kMaxPtxVersion) + ", the last one known");
  }
  auto loaded = runtime::LoadedModule::load(*ptx, "module.ptx", driver.config(), driver.memory(), &context);
  if (!loaded) return refuse(CUDA_ERROR_INVALID_PTX, loaded.error().to_string());
  if (auto told = driver.runner().module_loaded(**loaded, *ptx); !told)
    return refuse(CUDA_ERROR_INVALID_PTX, told.error().what);
  module = std::make_shared<Module>(*std::move(loaded), &context, driver.runner());
  module->left_out = std::move(left_out);
  return CUDA_SUCCESS;
}

void answer_jit_options(unsigned count, const int* options, void** values) {
  constexpr unsigned kMaxOptions = 256;  // there are fewer; a larger count is a mistake
  if (options == nullptr || values == nullptr || count > kMaxOptions) return;
  const auto find = [&](int option) {
    const int* at = std::find(options, options + count, option);
    return at == options + count ? nullptr : &values[at - options];
  };
  const auto fill = [&](int buffer, int bytes, std::string_view text) {
    void** target = find(buffer);
    void** size = find(bytes);
    if (size == nullptr) return;
    const auto room = reinterpret_cast<std::uintptr_t>(*size) & 0xffffffffU;
    std::size_t written = 0;
    if (target != nullptr && *target != nullptr && room > 0) {
      written = std::min<std::size_t>(text.size(), room - 1);
      std::copy_n(text.data(), written, static_cast<char*>(*target));
      static_cast<char*>(*target)[written] = 0;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver returns the size so
    *size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written == 0 ? 0 : written + 1));
  };
  fill(error_log, error_log_bytes, last_messages());
  fill(info_log, info_log_bytes, {});
}

}  // namespace wm::cuda

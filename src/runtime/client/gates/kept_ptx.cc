#include "runtime/client/gates/kept_ptx.h"

#include <cstring>
#include <span>

namespace wm::gates {
namespace {

constexpr std::uint32_t kElfMagic = 0x464c457fU;
// The compressed PTX that is kept of one image. Larger ones are libraries of thousands of kernels.
constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20;

// The first four bytes of an image; a text may be shorter, and no magic number has a byte of zero.
std::uint32_t magic_of(const void* image) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  std::uint32_t magic = 0;
  for (unsigned i = 0; i < sizeof magic && bytes[i] != 0; ++i) magic |= std::uint32_t{bytes[i]} << (8 * i);
  return magic;
}

// The structure that nvcc puts around a fat binary; version 2 is for programs that are linked from several.
struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* const* fat_binaries;
};

}  // namespace

KeptPtx KeptPtx::refused(std::string reason) {
  KeptPtx kept;
  kept.reason_ = std::move(reason);
  return kept;
}

KeptPtx KeptPtx::from_fat_binary(const void* image) {
  const std::span bytes(static_cast<const std::byte*>(image), runtime::fat_binary_bytes(image));
  const auto entries = runtime::read_fat_binary(bytes);
  if (!entries) return refused(entries.error().what);
  KeptPtx kept;
  std::size_t kept_bytes = 0;
  for (const runtime::FatBinaryEntry& entry : *entries) {
    if (entry.kind != runtime::FatBinaryEntry::Kind::ptx) continue;
    kept_bytes += entry.payload.size();
    if (kept_bytes > kMaxKeptBytes) return refused("its module has more than 64 MB of PTX");
    kept.entries_.push_back({entry, {entry.payload.begin(), entry.payload.end()}});
    kept.entries_.back().about.payload = {};
  }
  if (kept.entries_.empty()) kept.reason_ = "its module has machine code only";
  return kept;
}

KeptPtx KeptPtx::from(const void* image) {
  switch (magic_of(image)) {
    case runtime::kFatBinaryWrapperMagic: {
      const auto* wrapper = static_cast<const FatBinaryWrapper*>(image);
      if (wrapper->version != 1 && wrapper->fat_binaries != nullptr)
        return refused("its module is linked from several");
      return from(wrapper->data);
    }
    case runtime::kFatBinaryMagic:
      return from_fat_binary(image);
    case kElfMagic:
      return refused("its module has machine code only");
    default: {
      KeptPtx kept;
      kept.text_ = static_cast<const char*>(image);
      return kept;
    }
  }
}

Result<std::string> KeptPtx::text(std::uint32_t architecture) const {
  if (!reason_.empty()) return Error{reason_};
  if (entries_.empty()) return text_;
  for (const Entry& entry : entries_) {
    if (entry.about.architecture != architecture) continue;
    runtime::FatBinaryEntry found = entry.about;
    found.payload = entry.payload;
    return runtime::ptx_text(found);
  }
  return Error{"its machine code was compiled for sm_" + std::to_string(architecture) +
               ", and its module has PTX for another architecture only"};
}

}  // namespace wm::gates

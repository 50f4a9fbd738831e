// Fuzzes the reader of fat binaries: any bytes are read or refused, never followed out of their bounds.
#include "runtime/simulated/fat_binary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto entries = wm::runtime::read_fat_binary(bytes);
  if (!entries) return 0;
  for (const auto& entry : *entries) {
    if (entry.uncompressed_bytes <= (1U << 20)) (void)wm::runtime::ptx_text(entry);
  }
  (void)wm::runtime::decompress_lz4(bytes, 1U << 16);
  return 0;
}

// Fat binaries as nvcc makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/simulated/fat_binary.h"

namespace wm::runtime {

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

struct Entry {
  std::uint16_t kind = 1;
  std::uint32_t architecture = 90;
  std::string payload;
  std::uint64_t flags = 0;
  std::uint64_t uncompressed = 0;
};

inline std::vector<std::byte> container(const std::vector<Entry>& entries) {
  std::vector<std::byte> bytes(16);
  for (const Entry& entry : entries) {
    const std::size_t at = bytes.size(), padded = (entry.payload.size() + 7) / 8 * 8;
    bytes.resize(at + 64 + padded);
    put(bytes, at, entry.kind);
    put(bytes, at + 2, std::uint16_t{0x101});
    put(bytes, at + 4, std::uint32_t{64});
    put(bytes, at + 8, std::uint64_t{padded});
    if (entry.flags != 0) put(bytes, at + 16, static_cast<std::uint32_t>(entry.payload.size()));
    put(bytes, at + 28, entry.architecture);
    put(bytes, at + 40, entry.flags);
    put(bytes, at + 56, entry.uncompressed);
    std::memcpy(bytes.data() + at + 64, entry.payload.data(), entry.payload.size());
  }
  put(bytes, 0, kFatBinaryMagic);
  put(bytes, 4, std::uint16_t{1});
  put(bytes, 6, std::uint16_t{16});
  put(bytes, 8, std::uint64_t{bytes.size() - 16});
  return bytes;
}

}  // namespace wm::runtime

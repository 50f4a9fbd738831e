// Reads the containers in which nvcc puts the code of a program: PTX and machine code for several architectures, PTX
// perhaps compressed with LZ4 or zstd.
//
// Layout, as seen in binaries of CUDA 11 to 13: a header of 16 bytes (magic 0xba55ed50, version, its size, bytes that
// follow), then entries, each with a header of its own of 64 bytes or more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace wm::runtime {

inline constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50U;
inline constexpr std::uint32_t kFatBinaryWrapperMagic = 0x466243b1U;

struct FatBinaryEntry {
  enum class Kind : std::uint8_t { ptx, machine_code, other };
  enum class Compression : std::uint8_t { none, lz4, zstd };
  Kind kind = Kind::other;
  Compression compression = Compression::none;
  std::uint32_t architecture = 0;  // 90 for sm_90
  std::span<const std::byte> payload;
  std::uint64_t uncompressed_bytes = 0;
};

// The bytes of the container at `image`, as its header tells, but not beyond the memory that can be read; 0: this is no
// fat binary. The caller knows that 16 bytes can be read.
std::uint64_t fat_binary_bytes(const void* image);

// The entries of a container. They point into `bytes`.
Result<std::vector<FatBinaryEntry>> read_fat_binary(std::span<const std::byte> bytes);

// The text of a PTX entry.
Result<std::string> ptx_text(const FatBinaryEntry& entry);

// The PTX for a GPU of the given compute capability (90 for 9.0): the newest that it runs. Where there is none, the
// error says what the container has and how to build the program.
Result<std::string> best_ptx(std::span<const std::byte> bytes, std::uint32_t capability);

// Decompresses a block of LZ4. An error where the data is damaged or does not have `bytes` bytes.
Result<std::string> decompress_lz4(std::span<const std::byte> data, std::uint64_t bytes);

}  // namespace wm::runtime

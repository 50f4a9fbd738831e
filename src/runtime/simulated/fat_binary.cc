#include "runtime/simulated/fat_binary.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <set>

#ifdef WM_HAVE_ZSTD
#include <zstd.h>
#else
#include <dlfcn.h>
#endif

namespace wm::runtime {

namespace {

constexpr std::uint64_t kContainerHeader = 16;
constexpr std::uint64_t kEntryHeader = 64;
constexpr std::uint64_t kLargestText = std::uint64_t{1} << 30;
enum : std::uint64_t { flag_lz4 = 0x2000, flag_zstd = 0x8000 };

template <typename T>
T field(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Result<std::string> decompress_zstd(std::span<const std::byte> data, std::uint64_t bytes) {
#ifdef WM_HAVE_ZSTD
  std::string text(bytes, '\0');
  const std::size_t written = ZSTD_decompress(text.data(), text.size(), data.data(), data.size());
  if (ZSTD_isError(written) != 0) return Error{fmt::format("damaged zstd data: {}", ZSTD_getErrorName(written))};
  text.resize(written);
  return text;
#else
  // The library may be installed without its headers.
  static void* const library = ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  using Decompress = std::size_t (*)(void* to, std::size_t room, const void* from, std::size_t bytes);
  auto* const decompress =
      library == nullptr ? nullptr : reinterpret_cast<Decompress>(::dlsym(library, "ZSTD_decompress"));
  if (decompress == nullptr) return Error{"the PTX is compressed with zstd, and this machine has no libzstd.so.1"};
  std::string text(bytes, '\0');
  const std::size_t written = decompress(text.data(), text.size(), data.data(), data.size());
  if (written > text.size()) return Error{"damaged zstd data"};  // an error is a huge number
  text.resize(written);
  return text;
#endif
}

// Reads lengths and bytes of LZ4 and never past the end.
class Lz4Reader {
 public:
  explicit Lz4Reader(std::span<const std::byte> data) : data_(data) {}

  [[nodiscard]] bool at_end() const { return at_ == data_.size(); }
  bool byte(std::uint32_t& value) {
    if (at_end()) return false;
    value = std::to_integer<std::uint32_t>(data_[at_++]);
    return true;
  }
  // A length of 15 goes on in further bytes, up to the first that is not 255.
  bool length(std::uint64_t& value) {
    if (value != 15) return true;
    std::uint32_t more = 255;
    while (more == 255) {
      if (!byte(more)) return false;
      value += more;
    }
    return true;
  }
  bool copy(std::uint64_t bytes, std::string& to) {
    if (bytes > data_.size() - at_) return false;
    to.append(reinterpret_cast<const char*>(data_.data()) + at_, bytes);
    at_ += bytes;
    return true;
  }

 private:
  std::span<const std::byte> data_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::string> decompress_lz4(std::span<const std::byte> data, std::uint64_t bytes) {
  const Error damaged{"damaged LZ4 data"};
  Lz4Reader reader(data);
  std::string text;
  while (!reader.at_end()) {
    std::uint32_t token = 0, low = 0, high = 0;
    if (!reader.byte(token)) return damaged;
    std::uint64_t literals = token >> 4;
    if (!reader.length(literals) || text.size() + literals > bytes || !reader.copy(literals, text)) return damaged;
    if (reader.at_end()) break;  // the last sequence has literals only
    if (!reader.byte(low) || !reader.byte(high)) return damaged;
    const std::uint64_t distance = low | high << 8;
    std::uint64_t match = token & 15U;
    if (!reader.length(match)) return damaged;
    match += 4;
    if (distance == 0 || distance > text.size() || text.size() + match > bytes) return damaged;
    for (std::uint64_t i = 0; i < match; ++i) text.push_back(text[text.size() - distance]);
  }
  if (text.size() != bytes) return damaged;
  return text;
}

namespace {

// The bytes from `address` to the end of the memory that this process may read without a gap.
std::uint64_t readable_bytes(const void* address) {
  const auto from = reinterpret_cast<std::uint64_t>(address);
  std::uint64_t end = from;
  // Not /proc/self: that is the main thread, which may have ended.
  std::ifstream maps("/proc/thread-self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t first = 0, last = 0;
    char mode = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %c", &first, &last, &mode) != 3 || mode != 'r') continue;
    if (first <= end && end < last) end = last;
  }
  return end - from;
}

}  // namespace

std::uint64_t fat_binary_bytes(const void* image) {
  const std::span bytes(static_cast<const std::byte*>(image), kContainerHeader);
  if (field<std::uint32_t>(bytes, 0) != kFatBinaryMagic) return 0;
  const std::uint64_t readable = readable_bytes(image), header = field<std::uint16_t>(bytes, 6);
  const std::uint64_t length = field<std::uint64_t>(bytes, 8);
  return header >= readable || length > readable - header ? readable : header + length;
}

Result<std::vector<FatBinaryEntry>> read_fat_binary(std::span<const std::byte> bytes) {
  if (bytes.size() < kContainerHeader || field<std::uint32_t>(bytes, 0) != kFatBinaryMagic)
    return Error{"this is no fat binary"};
  const auto header = field<std::uint16_t>(bytes, 6);
  const auto length = field<std::uint64_t>(bytes, 8);
  if (header < kContainerHeader || header > bytes.size() || length > bytes.size() - header)
    return Error{"the fat binary is cut off"};
  std::vector<FatBinaryEntry> entries;
  for (auto rest = bytes.subspan(header, length); rest.size() >= kEntryHeader;) {
    const auto kind = field<std::uint16_t>(rest, 0);
    const auto entry_header = field<std::uint32_t>(rest, 4);
    const auto payload = field<std::uint64_t>(rest, 8);
    const auto compressed = field<std::uint32_t>(rest, 16);
    const auto flags = field<std::uint64_t>(rest, 40);
    if (entry_header < kEntryHeader || entry_header > rest.size() || payload > rest.size() - entry_header)
      return Error{"an entry of the fat binary is cut off"};
    FatBinaryEntry entry;
    entry.kind = kind == 1   ? FatBinaryEntry::Kind::ptx
                 : kind == 2 ? FatBinaryEntry::Kind::machine_code
                             : FatBinaryEntry::Kind::other;
    entry.architecture = field<std::uint32_t>(rest, 28);
    entry.payload = rest.subspan(entry_header, payload);
    if ((flags & flag_lz4) != 0) entry.compression = FatBinaryEntry::Compression::lz4;
    if ((flags & flag_zstd) != 0) entry.compression = FatBinaryEntry::Compression::zstd;
    if (entry.compression != FatBinaryEntry::Compression::none) {
      if (compressed > payload) return Error{"an entry of the fat binary is cut off"};
      entry.payload = entry.payload.first(compressed);
      entry.uncompressed_bytes = field<std::uint64_t>(rest, 56);
    }
    entries.push_back(entry);
    rest = rest.subspan(entry_header + payload);
  }
  return entries;
}

Result<std::string> ptx_text(const FatBinaryEntry& entry) {
  using Compression = FatBinaryEntry::Compression;
  if (entry.uncompressed_bytes > kLargestText) return Error{"the PTX of the fat binary is too large"};
  Result<std::string> text = std::string(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
  if (entry.compression == Compression::lz4) text = decompress_lz4(entry.payload, entry.uncompressed_bytes);
  if (entry.compression == Compression::zstd) text = decompress_zstd(entry.payload, entry.uncompressed_bytes);
  if (!text) return text.error();
  text->erase(std::find(text->begin(), text->end(), '\0'), text->end());
  return text;
}

Result<std::string> best_ptx(std::span<const std::byte> bytes, std::uint32_t capability) {
  const auto entries = read_fat_binary(bytes);
  if (!entries) return entries.error();
  const FatBinaryEntry* best = nullptr;
  std::set<std::string> present;
  for (const FatBinaryEntry& entry : *entries) {
    const bool is_ptx = entry.kind == FatBinaryEntry::Kind::ptx;
    present.insert(fmt::format("{} for sm_{}", is_ptx ? "PTX" : "machine code", entry.architecture));
    if (!is_ptx || entry.architecture > capability) continue;
    if (best == nullptr || entry.architecture > best->architecture) best = &entry;
  }
  if (best != nullptr) return ptx_text(*best);
  return Error{fmt::format(
      "the program has no PTX for sm_{} or older ({}): build it with nvcc -gencode arch=compute_{},code=compute_{}",
      capability, fmt::join(present, ", "), capability, capability)};
}

}  // namespace wm::runtime

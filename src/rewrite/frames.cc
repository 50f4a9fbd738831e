#include "rewrite/frames.h"

#include "rewrite/wire.h"

namespace wm::rewrite {

std::optional<std::string> read_frame(std::FILE* from) {
  unsigned char length[4];
  if (std::fread(length, 1, 4, from) != 4) return std::nullopt;
  const std::uint32_t size = length[0] | length[1] << 8 | length[2] << 16 | std::uint32_t{length[3]} << 24;
  if (size > kMaxFrame) return std::nullopt;
  std::string bytes(size, '\0');
  if (std::fread(bytes.data(), 1, size, from) != size) return std::nullopt;
  return bytes;
}

bool write_frame(std::FILE* to, const std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  unsigned char length[4];
  for (int i = 0; i < 4; ++i) length[i] = static_cast<unsigned char>(size >> (8 * i) & 0xff);
  return std::fwrite(length, 1, 4, to) == 4 && std::fwrite(bytes.data(), 1, size, to) == size && std::fflush(to) == 0;
}

}  // namespace wm::rewrite

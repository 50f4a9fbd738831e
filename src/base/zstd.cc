#include "base/zstd.h"

#ifdef WM_HAVE_ZSTD
#include <zstd.h>
#endif

namespace wm {

#ifdef WM_HAVE_ZSTD

Result<std::string> compress_zstd(std::string_view text) {
  constexpr int kLevel = 19;
  std::string data(ZSTD_compressBound(text.size()), '\0');
  const std::size_t written = ZSTD_compress(data.data(), data.size(), text.data(), text.size(), kLevel);
  if (ZSTD_isError(written) != 0) return Error{std::string("zstd: ") + ZSTD_getErrorName(written)};
  data.resize(written);
  return data;
}

Result<std::string> decompress_zstd(std::string_view data, std::size_t max_bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) return Error{"no zstd data"};
  if (size == ZSTD_CONTENTSIZE_UNKNOWN) return Error{"zstd data without their size; compress a file, not a stream"};
  if (size > max_bytes) return Error{"the uncompressed text is too large"};
  std::string text(size, '\0');
  const std::size_t written = ZSTD_decompress(text.data(), text.size(), data.data(), data.size());
  if (ZSTD_isError(written) != 0) return Error{std::string("damaged zstd data: ") + ZSTD_getErrorName(written)};
  text.resize(written);
  return text;
}

#else

Result<std::string> compress_zstd(std::string_view) { return Error{"this build has no libzstd"}; }

Result<std::string> decompress_zstd(std::string_view, std::size_t) {
  return Error{"the file is compressed with zstd, and this build has no libzstd"};
}

#endif

}  // namespace wm

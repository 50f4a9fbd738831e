// wm-rewrite: reads requests on stdin, writes replies on stdout, a frame each, until stdin ends.
//
// A program of its own, so that clang's code is in no application and beside no other LLVM. Kept running it answers in
// milliseconds. `wm-rewrite --version` says which clang it is.
#include <clang/Basic/Version.h>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "rewrite/wire.h"
#include "rewrite/worker/answer.h"

namespace {

std::optional<std::string> read_frame() {
  unsigned char length[4];
  if (std::fread(length, 1, 4, stdin) != 4) return std::nullopt;
  const std::uint32_t size = length[0] | length[1] << 8 | length[2] << 16 | std::uint32_t{length[3]} << 24;
  if (size > wm::rewrite::kMaxFrame) return std::nullopt;
  std::string bytes(size, '\0');
  if (std::fread(bytes.data(), 1, size, stdin) != size) return std::nullopt;
  return bytes;
}

bool write_frame(const std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  unsigned char length[4];
  for (int i = 0; i < 4; ++i) length[i] = static_cast<unsigned char>(size >> (8 * i) & 0xff);
  return std::fwrite(length, 1, 4, stdout) == 4 && std::fwrite(bytes.data(), 1, size, stdout) == size &&
         std::fflush(stdout) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("wm-rewrite %u, %s\n", wm::rewrite::kRewriterVersion, clang::getClangFullVersion().c_str());
    return 0;
  }
  if (argc > 1) {
    std::fprintf(stderr, "wm-rewrite: takes no arguments but --version; 'wm cl rewrite' is for people\n");
    return 2;
  }
  wm::rewrite::Frontend frontend;
  while (const auto bytes = read_frame()) {
    const auto request = wm::rewrite::decode_request(*bytes);
    wm::rewrite::Reply reply;
    if (request) {
      reply = wm::rewrite::answer(frontend, *request);
    } else {
      reply.refusal = request.error().what;
    }
    if (!write_frame(wm::rewrite::encode(reply))) return 1;
  }
  return 0;
}

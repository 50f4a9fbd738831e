// wm-rewrite: reads requests on stdin, writes replies on stdout, a frame each, until stdin ends.
//
// A program of its own, so that clang's code is in no application and beside no other LLVM. Kept running it answers in
// milliseconds. `wm-rewrite --version` says which clang it is.
#include <clang/Basic/Version.h>
#include <cstdio>
#include <cstring>
#include <string>

#include "rewrite/frames.h"
#include "rewrite/wire.h"
#include "rewrite/worker/answer.h"

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
  while (const auto bytes = wm::rewrite::read_frame(stdin)) {
    const auto request = wm::rewrite::decode_request(*bytes);
    wm::rewrite::Reply reply;
    if (request) {
      reply = wm::rewrite::answer(frontend, *request);
    } else {
      reply.refusal = request.error().what;
    }
    if (!wm::rewrite::write_frame(stdout, wm::rewrite::encode(reply))) return 1;
  }
  return 0;
}

// The library around the worker: options, bytes, cache, and a worker that dies.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/file.h"
#include "rewrite/ask.h"
#include "rewrite/build_options.h"
#include "rewrite/wire.h"

namespace wm::rewrite {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(BuildOptions, AreTakenApart) {
  const BuildOptions o = parse_build_options("-D A=1 -DB  -I \"my dir\" -cl-std=CL2.0 -cl-mad-enable -U C -w \"-x y\"");
  EXPECT_THAT(o.preprocessor, ElementsAre("-DA=1", "-DB", "-Imy dir", "-UC"));
  EXPECT_THAT(o.language, ElementsAre("-cl-mad-enable"));
  EXPECT_EQ(o.standard, "CL2.0");
  EXPECT_EQ(o.rest, "-cl-std=CL2.0 -cl-mad-enable -w \"-x y\"");
}

TEST(BuildOptions, QuotesAndBackslashesKeepWordsTogether) {
  EXPECT_THAT(parse_build_options("-DT=\\\"a\\ b\\\" -DE=\"\"").preprocessor, ElementsAre("-DT=\"a b\"", "-DE="));
  EXPECT_THAT(parse_build_options(" \t ").preprocessor, IsEmpty());
}

Request example() {
  Request r{.source = "kernel void k(global int* x) { x[0] = N; }", .options = "-DN=5"};
  r.headers = {{"a.h", "int a;"}, {"b.h", ""}};
  r.directory = "/";
  r.device.macros = {"X=1"};
  r.device.undefined = {"Y"};
  return r;
}

TEST(Bytes, ComeBackAsTheyWere) {
  const auto request = decode_request(encode(example()));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(*request, example());
  Reply reply = ask("kernel void k(global const float* x) { }\nkernel void l(int n) { }");
  reply.dependencies = {{"/a", 77}};
  const auto again = decode_reply(encode(reply));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, reply);
}

TEST(Bytes, TornOrForeignOnesAreErrors) {
  const std::string encoded = encode(ask("kernel void k(global const float* x) { }"));
  for (std::size_t size = 0; size < encoded.size(); ++size)
    EXPECT_FALSE(decode_reply(encoded.substr(0, size)).ok()) << size;
  EXPECT_FALSE(decode_reply(encoded + "x").ok());
  std::string other = encoded;
  other[4] ^= 1;
  EXPECT_THAT(decode_reply(other).error().what, HasSubstr("another version"));
  for (std::size_t at = 8; at < encoded.size(); ++at) {  // any answer but a crash
    std::string bent = encoded;
    bent[at] = static_cast<char>(0xff);
    (void)decode_reply(bent).ok();
  }
}

// A folder of a test's own.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / ("wm-rewrite-cache-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

TEST(CachedReplies, ServeAHostWithoutTheWorker) {
  const Folder folder;
  Rewriter here({.worker = WM_REWRITE_PROGRAM, .cache_folder = folder.file("c")});
  const auto made = here.rewrite(example());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(here.asked(), 1U);
  Rewriter elsewhere({.worker = "", .cache_folder = folder.file("c")});
  const auto found = elsewhere.rewrite(example());
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(*found, *made);
  EXPECT_EQ(elsewhere.cached(), 1U);
  Request other = example();
  other.options = "-DN=6";
  EXPECT_EQ(elsewhere.rewrite(other).error().what, "no wm-rewrite here, and the program is in no cache");
}

TEST(CachedReplies, AreGoneWhenAnIncludedFileChanges) {
  const Folder folder;
  std::ofstream(folder.file("size.h")) << "#define N 5\n";
  Rewriter rewriter({.worker = WM_REWRITE_PROGRAM, .cache_folder = folder.file("c")});
  const Request request{.source = "#include \"size.h\"\nkernel void k(global int* x) { x[0] = N; }",
                        .options = "-I .",
                        .headers = {},
                        .directory = folder.file("")};
  const auto first = rewriter.rewrite(request);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(first->source, HasSubstr("x[0] = 5;")) << first->refusal;
  ASSERT_EQ(first->dependencies.size(), 1U);
  EXPECT_EQ(*rewriter.rewrite(request), *first);
  EXPECT_EQ(rewriter.cached(), 1U);
  std::ofstream(folder.file("size.h")) << "#define N 6\n";
  EXPECT_THAT(rewriter.rewrite(request)->source, HasSubstr("x[0] = 6;"));
  EXPECT_EQ(rewriter.asked(), 2U);
}

TEST(CachedReplies, ThatAreBrokenAreMadeAgain) {
  const Folder folder;
  Rewriter rewriter({.worker = WM_REWRITE_PROGRAM, .cache_folder = folder.file("c")});
  const auto first = rewriter.rewrite(example());
  const std::string path = Cache(folder.file("c")).path_of(example());
  auto bytes = read_file(path);
  ASSERT_TRUE(bytes.ok());
  bytes->resize(bytes->size() - 3);
  ASSERT_TRUE(write_file(path, *bytes).ok());
  EXPECT_EQ(*rewriter.rewrite(example()), *first);
  EXPECT_EQ(rewriter.asked(), 2U);
}

TEST(Worker, ThatDiedIsReplaced) {
  auto worker = WorkerProcess::start(WM_REWRITE_PROGRAM);
  ASSERT_TRUE(worker.ok());
  ASSERT_TRUE(worker->ask(example(), std::chrono::seconds(20)).ok());
  kill(worker->process(), SIGKILL);
  EXPECT_EQ(worker->ask(example(), std::chrono::seconds(20)).error().what, "the rewriter has died");
}

TEST(Worker, ThatIsNoneIsAnError) {
  Rewriter missing({.worker = "/nowhere/wm-rewrite", .cache_folder = ""});
  EXPECT_THAT(missing.rewrite(example()).error().what, HasSubstr("cannot start /nowhere/wm-rewrite"));
  Rewriter silent({.worker = "/bin/true", .cache_folder = ""});
  EXPECT_EQ(silent.rewrite(example()).error().what, "the rewriter has died");
}

TEST(Worker, ThatTakesTooLongIsGivenUp) {
  Rewriter slow({.worker = WM_REWRITE_PROGRAM, .cache_folder = "", .limit = std::chrono::milliseconds(0)});
  EXPECT_EQ(slow.rewrite(example()).error().what, "the rewriter takes too long");
}

TEST(Worker, AnswersMalformedRequestsAndGoesOn) {
  Request odd = example();
  odd.source = std::string("\0\xff\xfe kernel", 9);
  EXPECT_FALSE(ask(odd).refusal.empty());
  EXPECT_TRUE(ask(example()).refusal.empty());
}

}  // namespace
}  // namespace wm::rewrite

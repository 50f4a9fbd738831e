// Worker programs of replies that the rewriter has kept, built by a compiler that computes nothing: a kernel has
// workers, or the reason why it has none.
#include "runtime/program/worker_program.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "rewrite/cache.h"
#include "runtime/device/null_opencl.h"
#include "runtime/device/opencl_gpu.h"
#include "runtime/device/recorded_opencl.h"

namespace wm::runtime::test {
namespace {

struct WorkerProgramTest : testing::Test {
  WorkerProgramTest() {
    std::string pattern = testing::TempDir() + "wm-workers-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    rewriter.emplace(rewrite::RewriterOptions{.worker = "", .cache_folder = folder});
  }
  ~WorkerProgramTest() override { std::filesystem::remove_all(folder); }

  // The rewriter's reply for a source.
  void keep(const std::string& source, const rewrite::Reply& reply) const {
    ASSERT_TRUE(rewrite::Cache(folder).store({.source = source}, reply).ok());
  }
  static rewrite::Reply reply_with(const std::string& options = "") {
    rewrite::KernelReply kernel;
    kernel.name = "k";
    kernel.rewritten = true;
    kernel.chunk = 3;
    kernel.extra_local_bytes = 48;
    rewrite::Reply reply;
    reply.source = kAsWorkers;
    reply.options = options;
    reply.kernels = {kernel};
    return reply;
  }
  [[nodiscard]] static std::shared_future<Status> built(Status status) {
    std::promise<Status> promise;
    promise.set_value(status);
    return promise.get_future().share();
  }
  [[nodiscard]] WorkerPrograms programs(bool rewrites = true) {
    return {*backend, counts, compilers, rewrites ? &*rewriter : nullptr, sandbox};
  }
  [[nodiscard]] std::shared_ptr<const ProgramForm> form(const std::string& source, Status status = status::kSuccess,
                                                        bool gone = false) {
    return programs().make({source, "", std::nullopt}, built(status), {this, [gone] { return gone; }});
  }
  // The form of kernel `name` of a program with that form.
  [[nodiscard]] std::shared_ptr<const KernelForm> kernel_form(const std::shared_ptr<const ProgramForm>& of,
                                                              const std::string& name, bool prints = false) {
    Kernel kernel;
    kernel.name = name;
    kernel.program = std::make_shared<Program>();
    kernel.program->uses_printf = prints;
    kernel.program->not_rewritten_reason = "never built";
    if (of) {
      std::promise<std::shared_ptr<const ProgramForm>> promise;
      promise.set_value(of);
      kernel.program->form = promise.get_future().share();
    }
    return programs().of(kernel);
  }

  std::string folder;
  std::optional<rewrite::Rewriter> rewriter;
  std::unique_ptr<Backend> backend = null_backend(false);
  ObjectCounts counts;
  Compilers compilers;
  sandbox::Sandbox sandbox{{}};
};

TEST_F(WorkerProgramTest, ARewrittenKernelHasItsWorkers) {
  keep("source", reply_with());
  const auto program = form("source");
  ASSERT_NE(program->workers, nullptr);
  EXPECT_EQ(program->not_rewritten_reason, "");
  EXPECT_EQ(counts.programs, 1);
  const auto kernel = kernel_form(program, "k");
  ASSERT_NE(kernel->workers, nullptr);
  EXPECT_EQ(kernel->not_rewritten_reason, "");
  EXPECT_EQ(kernel->chunk, 3U);
  EXPECT_EQ(kernel->max_chunk, 3U);
  EXPECT_EQ(kernel->extra_local_bytes, 48U);
  EXPECT_EQ(kernel->registers, 0U);
  EXPECT_EQ(kernel->max_items, 256U);
  EXPECT_EQ(counts.kernels, 1);
  auto registers = std::make_shared<ProgramForm>(*program);
  registers->registers = {{"k", 40}};
  EXPECT_EQ(kernel_form(registers, "k")->registers, 40U);
}

TEST_F(WorkerProgramTest, AProgramWithoutWorkersSaysWhy) {
  keep("source", reply_with());
  EXPECT_EQ(programs(false).make({"source", "", {}}, built(0), {this, [] { return false; }})->not_rewritten_reason,
            "rewriting is off");
  EXPECT_EQ(form("source", status::kSuccess, true)->not_rewritten_reason, "its client has gone");
  EXPECT_EQ(form("source", status::kBuildProgramFailure)->not_rewritten_reason, "the original does not build");
  EXPECT_NE(form("unknown source")->not_rewritten_reason, "") << "the rewriter has no program to start";
  keep("does not build", reply_with("!"));
  const auto failed = form("does not build");
  EXPECT_EQ(failed->not_rewritten_reason, "the device does not build the rewritten program");
  EXPECT_EQ(failed->workers, nullptr);
  rewrite::Reply refused;
  refused.refusal = "it has no kernels";
  keep("refused", refused);
  EXPECT_EQ(form("refused")->not_rewritten_reason, "it has no kernels");
  rewrite::Reply assumed = reply_with();
  assumed.assumptions = {{"__FAST__", true, true, "5"}};
  keep("assumes", assumed);
  EXPECT_EQ(form("assumes")->workers, nullptr) << "the rewriter would have to be asked again";
}

TEST_F(WorkerProgramTest, TheFilesOfABinarysSourceMustNotHaveChanged) {
  keep("source", reply_with());
  const auto made = [&](const std::vector<rewrite::Dependency>& files) {
    return programs().make({"source", "", files}, built(0), {this, [] { return false; }});
  };
  EXPECT_NE(made({})->workers, nullptr);
  EXPECT_EQ(made({rewrite::Dependency{}})->not_rewritten_reason,
            "files that its source includes have changed since its binary was made");
}

TEST_F(WorkerProgramTest, AKernelWithoutWorkersSaysWhy) {
  keep("source", reply_with());
  const auto program = form("source");
  EXPECT_EQ(kernel_form(nullptr, "k")->not_rewritten_reason, "never built");
  EXPECT_EQ(kernel_form(program, "k", true)->not_rewritten_reason, "its program prints");
  EXPECT_EQ(kernel_form(program, "k", true)->workers, nullptr);
  EXPECT_EQ(kernel_form(program, "other")->not_rewritten_reason, "the rewriter has no workers for it");
  auto changed = std::make_shared<ProgramForm>(*program);
  changed->kernels[0].reason = "it has barriers in a loop";
  changed->kernels[0].rewritten = false;
  EXPECT_EQ(kernel_form(changed, "k")->not_rewritten_reason, "it has barriers in a loop");
  EXPECT_EQ(kernel_form(changed, "k")->workers, nullptr);
  changed = std::make_shared<ProgramForm>(*program);
  changed->kernels[0].name = "nosuch";
  EXPECT_EQ(kernel_form(changed, "nosuch")->not_rewritten_reason, "the device does not take its workers");
  changed->workers = nullptr;
  EXPECT_EQ(kernel_form(changed, "nosuch")->not_rewritten_reason, "the rewriter has no workers for it");
}

TEST_F(WorkerProgramTest, NvidiasCompilerIsAskedForRegisters) {
  OpenClRecord record{0};
  record.texts[CL_PLATFORM_NAME] = "NVIDIA CUDA";
  record.texts[CL_PROGRAM_BUILD_LOG] =
      "ptxas info : Compiling entry function 'k' for 'sm_90'\nptxas info : Used 40 registers";
  backend = std::make_unique<OpenClGpu>(record.driver(false));
  keep("source", reply_with("-g"));
  const auto program = form("source");
  EXPECT_EQ(program->registers, (std::map<std::string, std::uint32_t>{{"k", 40}}));
  EXPECT_EQ(kernel_form(program, "k")->registers, 40U);
  const auto& lines = record.lines();
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("BuildProgram") && line.find("-g -cl-nv-verbose") != std::string::npos;
  }));
  backend = null_backend(false);
}

TEST_F(WorkerProgramTest, AFormIsMadeOnceAndCanBeReplaced) {
  keep("source", reply_with());
  Kernel kernel;
  kernel.name = "k";
  kernel.program = std::make_shared<Program>();
  const WorkerPrograms all = programs();
  const auto first = all.of(kernel);
  EXPECT_EQ(all.of(kernel), first);
  const auto without = WorkerPrograms::without_workers(kernel, "too slow");
  EXPECT_EQ(all.of(kernel), without);
  EXPECT_EQ(without->not_rewritten_reason, "too slow");
}

TEST_F(WorkerProgramTest, TheSandboxBuildsTheRewrittenSource) {
  keep("source", reply_with("-g"));
  Program program;
  program.source = "source";
  const auto request = programs().build_request(program);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(sandbox::encode(*request), sandbox::encode(sandbox::build_of(kAsWorkers, "-g")));
  EXPECT_FALSE(programs(false).build_request(program).has_value());
  program.source = "unknown";
  EXPECT_FALSE(programs().build_request(program).has_value());
  program.attached = std::make_shared<const AttachedSource>(AttachedSource{"source", "", {}});
  EXPECT_TRUE(programs().build_request(program).has_value()) << "the source that came with its binary";
}

}  // namespace
}  // namespace wm::runtime::test

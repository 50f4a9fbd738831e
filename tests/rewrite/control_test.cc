// Workers leave when the control word tells them to, and later workers execute the rest of the queue.
#include <cstring>
#include <gtest/gtest.h>

#include "rewrite/ask.h"
#include "rewrite/machines.h"
#include "rewrite/workers.h"

namespace wm::rewrite {
namespace {

// Every group counts itself. The group with number `last` writes the control word, as a scheduler would: from then on
// only workers below `keep` take more. Long enough that a worker takes one group at a time.
constexpr const char* kSource =
    "kernel void k(global uint* runs, global uint* control, uint last, uint keep) {\n"
    "  local uint t[8];\n"
    "  const uint g = get_group_id(0) + get_num_groups(0) * get_group_id(1);\n"
    "  t[get_local_id(0)] = g * 8 + get_local_id(0);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  uint sum = 0;\n"
    "  for (uint i = 0; i < 8; ++i) sum += t[(get_local_id(0) + i) % 8] * (i + 1) ^ sum >> 3;\n"
    "  for (uint i = 0; i < 8; ++i) sum += t[(get_local_id(0) * 3 + i) % 8] * (i + 5) ^ sum >> 1;\n"
    "  runs[g * 8 + get_local_id(0)] += sum % 1000 + 1;\n"
    "  if (g == last && get_local_id(0) == 0) control[0] = keep;\n"
    "}\n";

struct Session {
  gpu::Application application;
  gpu::BufferId runs, control, queue;
};

// Launches `workers` over 6 x 5 groups, with the control word's value at the start of each launch.
Session make(std::uint32_t workers, std::uint32_t last, std::uint32_t keep,
             const std::vector<std::uint32_t>& control_at_start) {
  Session s;
  gpu::Application& app = s.application;
  s.runs = app.add("runs", std::vector<std::uint32_t>(6 * 5 * 8));
  s.control = app.add_uninitialized("control", 4);
  s.queue = app.add_uninitialized("queue", 4);
  app.upload(s.runs);
  app.fill(s.queue, std::byte{0});
  gpu::Launch original{"k", {6, 5, 1}, {8, 1, 1}, {}, 0};
  for (const std::uint32_t start : control_at_start) {
    app.fill(s.control, std::byte(start == 0 ? 0 : 0xff));
    gpu::Launch launch = original;
    launch.grid = {workers, 1, 1};
    launch.arguments = {gpu::buffer(s.runs),
                        gpu::buffer(s.control),
                        gpu::scalar(last),
                        gpu::scalar(keep),
                        gpu::buffer(s.queue),
                        gpu::buffer(s.control),
                        gpu::scalar(range_of(original, 1))};
    app.launch(launch);
  }
  return s;
}

std::vector<std::uint32_t> words(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::size_t groups_done(const std::vector<std::byte>& runs) {
  std::size_t done = 0;
  const auto all = words(runs);
  for (std::size_t g = 0; g < all.size(); g += 8) done += all[g] != 0 ? 1 : 0;
  return done;
}

class Machines : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (on_opencl() && !zoo::have_opencl_device()) GTEST_SKIP() << "no OpenCL device";
    const Reply reply = ask(kSource);
    ASSERT_TRUE(kernel_of(reply).rewritten) << kernel_of(reply).reason;
    if (on_opencl()) {
      auto built = zoo::OpenClProgram::build(reply.source, reply.options);
      ASSERT_TRUE(built.ok()) << built.error().to_string();
      program_.emplace(*std::move(built));
    } else {
      auto made = compile_to_ptx(reply.source);
      ASSERT_TRUE(made.ok()) << made.error().to_string();
      ptx_ = *made;
    }
  }
  [[nodiscard]] bool on_opencl() const { return std::string(GetParam()) == "opencl"; }

  zoo::Buffers run(const gpu::Application& app) {
    auto got = on_opencl() ? program_->run(app) : run_ptx(ptx_, app);
    if (got) return *got;
    ADD_FAILURE() << got.error().to_string();
    return zoo::Buffers(app.buffers.size(), std::vector<std::byte>(1024));
  }

 private:
  std::optional<zoo::OpenClProgram> program_;
  std::string ptx_;
};

constexpr std::uint32_t kNever = 1000;

TEST_P(Machines, AnExcludedWorkerTakesNothing) {
  const Session s = make(3, kNever, 0, {0});
  const auto got = run(s.application);
  EXPECT_EQ(groups_done(got[s.runs.index]), 0U);
  EXPECT_EQ(words(got[s.queue.index])[0], 0U);
}

TEST_P(Machines, WorkersLeaveAtTheNextGroupAndOthersFinish) {
  const Session uninterrupted = make(2, kNever, 0, {1});
  const auto expected = run(uninterrupted.application);
  EXPECT_EQ(groups_done(expected[uninterrupted.runs.index]), 30U);

  const Session left = make(2, 7, 0, {1});
  const auto part = run(left.application);
  const std::size_t done = groups_done(part[left.runs.index]);
  EXPECT_GE(done, 8U);
  EXPECT_LT(done, 30U);
  // Every group taken from the queue was finished, and no other: the queue's counter gives their number.
  EXPECT_EQ(words(part[left.queue.index])[0], done);

  const Session again = make(2, 7, 0, {1, 1});
  const auto got = run(again.application);
  EXPECT_EQ(got[again.runs.index], expected[uninterrupted.runs.index]);
  EXPECT_GE(words(got[again.queue.index])[0], 30U);
}

TEST_P(Machines, TheWorkersThatStayGoOn) {
  const Session uninterrupted = make(1, kNever, 0, {1});
  const Session fewer = make(4, 3, 1, {1});  // from group 3 on only the first worker takes more
  const auto got = run(fewer.application);
  EXPECT_EQ(got[fewer.runs.index], run(uninterrupted.application)[uninterrupted.runs.index]);
}

INSTANTIATE_TEST_SUITE_P(Control, Machines, testing::Values("opencl", "ptx"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace wm::rewrite

// Every case of the corpus leaves the same memory as PTX is written and as the GPUs with `assembled: true` execute it:
// unrolled, predicated and reordered.
#include <gtest/gtest.h>

#include "base/file.h"
#include "exec/run.h"
#include "gpu/case_table.h"
#include "ptx/contraction.h"
#include "ptx/parse.h"
#include "ptx/predication.h"
#include "ptx/schedule.h"
#include "ptx/unroll.h"
#include "tree.h"

namespace wm::lab {
namespace {

TEST(LongCorpus, AssembledCodeLeavesTheSameMemory) {
  const auto table = read_file(source_path("validation/corpus/kernels.txt"));
  ASSERT_TRUE(table.ok());
  const auto cases = gpu::parse_cases(*table, "kernels.txt");
  ASSERT_TRUE(cases.ok());
  for (const gpu::LaunchCase& c : *cases) {
    const auto text = read_file(source_path("validation/corpus/ptx/" + c.file + ".ptx"));
    ASSERT_TRUE(text.ok());
    auto parsed = ptx::parse(*text);
    ASSERT_TRUE(parsed.ok());
    const ptx::Module module = ptx::contracted(*std::move(parsed));
    ptx::Module assembled = module;
    for (ptx::Function& f : assembled.functions) f = ptx::in_latency_order(ptx::predicated(ptx::unrolled(f)));
    const auto application = gpu::make_application(c, 1);
    ASSERT_TRUE(application.ok());
    const auto expected = exec::run_application(module, *application, {}, c.file);
    const auto got = exec::run_application(assembled, *application, {}, c.file);
    ASSERT_TRUE(expected.ok() && got.ok()) << c.name;
    EXPECT_TRUE(got->buffers == expected->buffers) << c.name;
  }
}

}  // namespace
}  // namespace wm::lab

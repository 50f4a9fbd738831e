// Old terms and comments without a subject are found on small trees, and this tree has none.
#include "structure/terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "structure/temporary_tree.h"
#include "tree.h"

namespace wm::structure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SourceTree, NoOldTermIsUsed) {
  const auto terms = read_old_terms(source_path("tests/structure/old_terms.txt"));
  EXPECT_THAT(terms.terms, ::testing::Not(IsEmpty()));
  EXPECT_THAT(old_term_uses(source_path(), terms), IsEmpty());
}
TEST(SourceTree, CommentsHaveASubject) { EXPECT_THAT(comments_without_subject(source_path()), IsEmpty()); }

TEST(OldTerms, WordsAreFoundInTextAndInIdentifiers) {
  const TemporaryTree tree;
  tree.file("terms.txt", "# comment\nword zork  # why\nwords goes dark\n");
  tree.file("src/lab/a.h",
            "int zork_count;\nint kZork;\nint zorks;\n// Goes dark.\nbool goes_dark();\nclass GoesDark;\n");
  tree.file("docs/a.md", "A zork.\n");
  EXPECT_THAT(old_term_uses(tree.root(), read_old_terms(tree.root() / "terms.txt")),
              ElementsAre("src/lab/a.h:1: old term 'zork'", "src/lab/a.h:2: old term 'zork'",
                          "src/lab/a.h:4: old term 'goes dark'", "src/lab/a.h:5: old term 'goes dark'",
                          "src/lab/a.h:6: old term 'goes dark'", "docs/a.md:1: old term 'zork'"));
}

TEST(OldTerms, NamesAreFoundInCodeOnly) {
  const TemporaryTree tree;
  tree.file("terms.txt", "name grue\nfirst lamp\nallow lamp_key\n");
  tree.file("src/lab/a.h",
            "int grue_;\nint grue_count;  // grue\nauto s = \"grue\";\nint lamp_count, max_lamp;\nint lamp_key;\n");
  tree.file("docs/a.md", "grue and lamp\n");
  EXPECT_THAT(old_term_uses(tree.root(), read_old_terms(tree.root() / "terms.txt")),
              ElementsAre("src/lab/a.h:1: old term 'grue'", "src/lab/a.h:4: old term 'lamp'"));
}

TEST(OldTerms, FoldersAndTheGlossarysTableLimitTheSearch) {
  const TemporaryTree tree;
  tree.file("terms.txt", "word zork @src/runtime,docs\n");
  tree.file("src/lab/a.h", "int zork;\n");
  tree.file("src/runtime/a.h", "int zork;\n");
  tree.file("docs/glossary.md", "zork\n## Formerly\nzork\n## Next\nzork\n");
  EXPECT_THAT(old_term_uses(tree.root(), read_old_terms(tree.root() / "terms.txt")),
              ElementsAre("src/runtime/a.h:1: old term 'zork'", "docs/glossary.md:1: old term 'zork'",
                          "docs/glossary.md:5: old term 'zork'"));
}

TEST(OldTerms, TablesScriptsExamplesAndTheFirstPagesAreSearched) {
  const TemporaryTree tree;
  tree.file("terms.txt", "word zork\n");
  for (const char* file : {"src/runtime/a.def", "src/python/a.py", "examples/a/b.cc", "include/a.h", "README.md"}) {
    tree.file(file, "zork\n");
  }
  EXPECT_THAT(old_term_uses(tree.root(), read_old_terms(tree.root() / "terms.txt")),
              ElementsAre("src/python/a.py:1: old term 'zork'", "src/runtime/a.def:1: old term 'zork'",
                          "examples/a/b.cc:1: old term 'zork'", "include/a.h:1: old term 'zork'",
                          "README.md:1: old term 'zork'"));
}

TEST(Comments, CommentsBetweenSlashAndStarNeedASubjectToo) {
  const TemporaryTree tree;
  tree.file("include/a.h",
            "/* Who asks. */\n"
            "/* A queue.\n"
            " * Of each command.\n"
            " * what goes on. */\n"
            "void f(int /*who*/);\n"
            "int x; /* what */\n");
  EXPECT_THAT(comments_without_subject(tree.root()),
              ElementsAre("include/a.h:1: comment without a subject", "include/a.h:3: comment without a subject",
                          "include/a.h:4: comment without a subject", "include/a.h:6: comment without a subject"));
}

TEST(Comments, ASentenceNeedsASubject) {
  const TemporaryTree tree;
  tree.file("src/lab/a.h",
            "// Who asks.\n"
            "int a;  // What is left.\n"
            "// The queue. Of each command\n"
            "// What follows goes on here.\n"
            "int b;  // Nobody\n"
            "auto s = \"// Who\";\n"
            "// Whoever and Often are fine. So is What in\n"
            "// Ended.\n"
            "// Whose turn.\n"
            "int c;  // of one block\n");
  EXPECT_THAT(comments_without_subject(tree.root()),
              ElementsAre("src/lab/a.h:1: comment without a subject", "src/lab/a.h:2: comment without a subject",
                          "src/lab/a.h:3: comment without a subject", "src/lab/a.h:5: comment without a subject",
                          "src/lab/a.h:9: comment without a subject", "src/lab/a.h:10: comment without a subject"));
}

}  // namespace
}  // namespace wm::structure

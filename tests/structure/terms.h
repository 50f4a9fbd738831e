// Terms that docs/glossary.md has replaced, and comments that begin without a subject.
//
// old_terms.txt has one term per line and the way it is looked for:
//
//     word zork               the word in any text, also as a part of an identifier: zork_size, kZork
//     words goes dark         words in a row: goes_dark, GoesDark, "goes dark"
//     name grue               a C++ identifier of that spelling, with or without a trailing underscore
//     first lamp              a C++ identifier whose first part is that word: lamp, lamp_count
//     allow lamp_key          text that is left out of the search: keys of results that users rely on
//
// A last field @PATH,PATH restricts the search to these folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "structure/source_tree.h"

namespace wm::structure {

struct OldTerm {
  enum class Kind { words, name, first_part };
  Kind kind = Kind::words;
  std::vector<std::string> words;  // lower case
  std::vector<std::string> folders;
};

struct OldTerms {
  std::vector<OldTerm> terms;
  std::vector<std::string> allowed;
};

OldTerms read_old_terms(const std::filesystem::path& file);

// Uses of the terms in src/, tests/, docs/ and the other folders of code. The section "Formerly" of docs/glossary.md is
// left out, and so is old_terms.txt itself.
Violations old_term_uses(const std::filesystem::path& root, const OldTerms& terms);

// Comments in sources with a sentence that begins with who, whom, whose, what, of or nobody.
Violations comments_without_subject(const std::filesystem::path& root);

}  // namespace wm::structure

// A light-weight scanner of C++ sources that finds class definitions with their fields, and member functions that are
// defined outside of their class.
//
// It knows declarations, not expressions: comments, literals and preprocessor lines are removed, function bodies and
// initialisers are skipped. Static members, types, functions and friends are not fields; `int a, b;` is two. Code
// inside of macros is not seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wm::structure {

struct ClassDefinition {
  std::string name;  // "Outer::Inner" for a nested class; namespaces are left out
  int fields = 0;
};

struct ScannedSource {
  std::vector<ClassDefinition> classes;
  std::vector<std::string> members_of;  // "Outer::Inner" for each `Outer::Inner::f(…) {…}`, once each, sorted
};

ScannedSource scan_source(std::string_view text);

}  // namespace wm::structure

// Writes the PTX module of all forms to standard output, to look at or to assemble.
#include <cstdio>

#include "module.h"

int main() {
  const auto forms = wm::semantics::all_forms();
  const std::string text = wm::semantics::module_of(forms);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fprintf(stderr, "%zu forms\n", forms.size());
  return 0;
}

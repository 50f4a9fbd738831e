// The inputs of every form: edge values crossed with each other, then random ones. They follow from the form's name, so
// that a GPU and the executor are given the same without a file between them.
#pragma once

#include <cstdint>
#include <vector>

#include "forms.h"

namespace wm::semantics {

// The values of a pool that are most likely to be wrong.
std::vector<std::uint64_t> edges(const std::string& pool);

// One element is one value a source; the count is a multiple of 32.
using Element = std::vector<std::uint64_t>;
std::vector<Element> inputs(const Form& form);

}  // namespace wm::semantics
